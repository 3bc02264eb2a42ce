import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { DirectoryIndex } from "../../../../../src/sandbox/platform/linux/plan/internal/DirectoryIndex.js"
import { later, tree, walk } from "../../../../support/sandbox/Walked.js"

const files = ["a/.env", "a/b/one", "a/b/two", "c/key.pem", "c/d/e/", "f/"]

/** A tree that was walked, and what a walk finds after a change: by the index, and without one. */
const after = (change: (root: string) => void, clock = later) =>
  Effect.gen(function* () {
    const root = yield* tree(files)
    const index = new DirectoryIndex({ name: root }, 1, clock)
    yield* Effect.promise(() => walk(root, index))
    change(root)
    const known = yield* Effect.promise(() => walk(root, index))
    const { named } = yield* Effect.promise(() => walk(root))
    assert.deepStrictEqual(known.named, named)
    return known
  })

/** What a test reads besides: a directory with something named is asked for it again. */
/** Does what may not be possible: something is not there, or there already. */
const attempt = (step: (() => void) | undefined): void => {
  try {
    step?.()
  } catch {
    // Another step will do.
  }
}

const named = ["a", "c"]

describe.skipIf(process.platform !== "linux")("a directory index", () => {
  it.scoped("has nothing read again that is as it was", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* after(() => {}), { named: ["a/.env file", "c/key.pem file"], read: named })
    })
  )

  const changes: ReadonlyArray<readonly [string, (root: string) => void, ReadonlyArray<string>]> = [
    ["a file appears in a known directory", (root) => Fs.writeFileSync(`${root}/a/b/.env`, ""), ["a/b/.env file"]],
    [
      "a file appears in a new directory",
      (root) => {
        Fs.mkdirSync(`${root}/f/new/deep`, { recursive: true })
        Fs.writeFileSync(`${root}/f/new/deep/.env`, "")
      },
      ["f/new/deep/.env file"]
    ],
    ["a file gets another name", (root) => Fs.renameSync(`${root}/a/b/one`, `${root}/a/b/.env`), ["a/b/.env file"]],
    ["a link appears", (root) => Fs.linkSync(`${root}/a/b/one`, `${root}/c/d/e/x.pem`), ["c/d/e/x.pem file"]],
    ["a directory with a file is moved in", (root) => Fs.renameSync(`${root}/a`, `${root}/f/a`), ["f/a/.env file"]],
    [
      "a directory takes the place of another",
      (root) => {
        Fs.mkdirSync(`${root}/new`)
        Fs.writeFileSync(`${root}/new/.env`, "")
        Fs.rmdirSync(`${root}/c/d/e`)
        Fs.renameSync(`${root}/new`, `${root}/c/d/e`)
      },
      ["c/d/e/.env file"]
    ],
    [
      "two directories change places, with all that lies in them",
      (root) => {
        Fs.renameSync(`${root}/a`, `${root}/x`)
        Fs.renameSync(`${root}/c`, `${root}/a`)
        Fs.renameSync(`${root}/x`, `${root}/c`)
      },
      ["a/key.pem file", "c/.env file"]
    ],
    [
      "a file takes the place of a directory",
      (root) => {
        Fs.rmdirSync(`${root}/f`)
        Fs.symlinkSync("a", `${root}/f`)
      },
      []
    ],
    [
      "times are set back to what they were",
      (root) => {
        const { atime, mtime } = Fs.statSync(`${root}/a/b`)
        Fs.writeFileSync(`${root}/a/b/.env`, "")
        Fs.utimesSync(`${root}/a/b`, atime, mtime)
      },
      ["a/b/.env file"]
    ]
  ]
  for (const [what, change, found] of changes) {
    it.scoped(`sees that ${what}`, () =>
      Effect.gen(function* () {
        const seen = yield* after(change)
        assert.includeMembers([...seen.named], [...found])
      })
    )
  }

  it.scoped("reads only what has changed, and knows what lies below", () =>
    Effect.gen(function* () {
      const { read } = yield* after((root) => Fs.writeFileSync(`${root}/c/d/file`, ""))
      assert.deepStrictEqual(read, [...named, "c/d"])
    })
  )

  it.scoped("does not rely on what has changed just now: the kernel's clock may not have ticked since", () =>
    Effect.gen(function* () {
      const { read } = yield* after(() => {}, Date.now)
      assert.deepStrictEqual(read, ["", "a", "a/b", "c", "c/d"])
    })
  )

  it.scoped("does not rely on a clock that was set back", () =>
    Effect.gen(function* () {
      const { read } = yield* after(
        () => {},
        () => Date.now() - 60_000
      )
      assert.deepStrictEqual(read, ["", "a", "a/b", "c", "c/d"])
    })
  )

  it.scoped("does not rely on file systems that it does not know", () =>
    Effect.promise(async () => {
      const index = new DirectoryIndex({ name: "/proc/sys/kernel" }, 1, later)
      const first = await walk("/proc/sys/kernel", index)
      assert.isNotEmpty(first.read)
      assert.deepStrictEqual(await walk("/proc/sys/kernel", index), first)
    })
  )

  it.scoped("finds what a walk without it finds, whatever is done to the tree", () =>
    Effect.gen(function* () {
      const root = yield* tree(files)
      const index = new DirectoryIndex({ name: root }, 1, later)
      let seed = 7
      const pick = (most: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        return seed % most
      }
      const names = ["a", "b", "c", ".env", "x.pem"]
      const path = () => [root, ...Array.from({ length: 1 + pick(3) }, () => names[pick(names.length)])].join("/")
      const steps: ReadonlyArray<() => void> = [
        () => Fs.mkdirSync(path()),
        () => Fs.writeFileSync(path(), ""),
        () => Fs.renameSync(path(), path()),
        () => Fs.rmSync(path(), { recursive: true }),
        () => Fs.symlinkSync("c", path()),
        () => Fs.utimesSync(path(), 1, 1),
        () => Fs.chmodSync(path(), pick(2) === 0 ? 0 : 0o755)
      ]
      for (let round = 0; round < 300; round++) {
        for (let step = 0; step <= pick(4); step++) {
          attempt(steps[pick(steps.length)])
        }
        const [known, fresh] = yield* Effect.promise(() => Promise.all([walk(root, index), walk(root)]))
        assert.deepStrictEqual(known.named, fresh.named)
      }
    })
  )
})
