import * as Fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileWalk from "../../../../../src/sandbox/platform/linux/plan/FileWalk.js"
import * as PathRule from "../../../../../src/sandbox/policy/PathRule.js"
import type { Rule } from "../../../../../src/sandbox/policy/SandboxPolicy.js"

const glob = (path: string): Rule => ({ pattern: path, path, kind: "glob", source: "user" })

const tree = (files: ReadonlyArray<string>, links: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "walk-test-")))
      for (const file of files) {
        Fs.mkdirSync(Path.dirname(Path.join(root, file)), { recursive: true })
        Fs.writeFileSync(Path.join(root, file), "")
      }
      for (const [name, target] of Object.entries(links)) Fs.symlinkSync(target, Path.join(root, name))
      return root
    }),
    (root) => Effect.sync(() => Fs.rmSync(root, { recursive: true, force: true }))
  )

const find = (root: string, patterns: ReadonlyArray<string>, skip: ReadonlyArray<string> = []) =>
  Effect.map(
    Effect.promise(() =>
      FileWalk.find([root, `${root}/missing`], {
        findEntry: PathRule.make(patterns.map(glob)).findEntry,
        skip: new Set(skip.map((path) => `${root}/${path}`))
      })
    ),
    ({ matches }) => matches.map(({ kind, path, rule }) => [Path.relative(root, path), kind, rule.pattern]).sort()
  )

describe("a walk", () => {
  it.scoped("finds what all globs name, hidden and installed files too, and follows no link", () =>
    Effect.gen(function* () {
      const root = yield* tree(
        [
          ".env",
          "a/.env.local",
          "node_modules/x/.git/.env",
          "a/keys/deep/one.pem",
          "b/two.pem",
          "plain",
          "skipped/.env"
        ],
        { loop: ".", away: "/etc", "b/.env": "../plain", "b/dead.pem": "nowhere" }
      )
      assert.deepStrictEqual(
        yield* find(root, ["/**/.env", "/**/.env.local", "/**/keys", `${root}/b/*.pem`, "/**/passwd"], ["skipped"]),
        [
          [".env", "file", "/**/.env"],
          ["a/.env.local", "file", "/**/.env.local"],
          ["a/keys", "directory", "/**/keys"],
          ["b/.env", "link", "/**/.env"],
          ["b/dead.pem", "link", `${root}/b/*.pem`],
          ["b/two.pem", "file", `${root}/b/*.pem`],
          ["node_modules/x/.git/.env", "file", "/**/.env"]
        ]
      )
    })
  )

  it.scoped("passes over what can't be read", () =>
    Effect.gen(function* () {
      const root = yield* tree(["a/.env", "b/.env"])
      yield* Effect.acquireRelease(
        Effect.sync(() => Fs.chmodSync(`${root}/a`, 0)),
        () => Effect.sync(() => Fs.chmodSync(`${root}/a`, 0o700))
      )
      const found = yield* find(root, ["/**/.env"])
      assert.deepStrictEqual(found.at(-1), ["b/.env", "file", "/**/.env"])
    })
  )

  it.scoped("gives others their turn", () =>
    Effect.gen(function* () {
      const root = yield* tree(["a/b/one"])
      let turns = 0
      const counting = setInterval(() => turns++, 0)
      yield* Effect.promise(() =>
        FileWalk.visitAll([root], () => {
          const until = performance.now() + 20
          while (performance.now() < until);
          return true
        })
      )
      clearInterval(counting)
      assert.isAbove(turns, 0)
    })
  )

  it.scoped("tells of directories that are gone when it comes to them, and of the last change", () =>
    Effect.gen(function* () {
      const root = yield* tree(["trigger", "moved/in/.env", "z/file"])
      const before = Date.now() - 50
      let isMoved = false
      const found = yield* Effect.promise(() =>
        FileWalk.find([root], {
          // While the root's entries are looked at, and before what is in them is.
          findEntry: () => {
            if (!isMoved) Fs.renameSync(`${root}/moved`, `${root}/z/moved`)
            isMoved = true
            return undefined
          },
          skip: new Set([`${root}/z`])
        })
      )
      assert.deepStrictEqual([found.isMoving, found.matches], [true, []])
      assert.isAtLeast(found.changed, before)
    })
  )

  it.scoped("reads a directory again only if it has changed, another lies in its place, or it was not at rest", () =>
    Effect.gen(function* () {
      const root = yield* tree(["a/HEAD", "b/c/.env", "b/.git", "d/e", "twin/e"])
      const { findEntry } = PathRule.make([glob("/**/.env")])
      let earlier: FileWalk.Walked["directories"] | undefined
      const walk = Effect.gen(function* () {
        const read = new Set<string>()
        const noted = (directory: string, name: string, isDirectory: boolean) => {
          read.add(Path.relative(root, directory))
          return findEntry(directory, name, isDirectory)
        }
        const found = yield* Effect.promise(() => FileWalk.find([root], { findEntry: noted }, earlier))
        earlier = found.directories
        const names = (paths: ReadonlyArray<string>) => paths.map((path) => Path.relative(root, path)).sort()
        return { read: [...read].sort(), env: names(found.matches.map(({ path }) => path)), heads: names(found.heads) }
      })
      const all = { read: ["", "a", "b", "b/c", "d", "twin"], env: ["b/c/.env"], heads: ["a", "b"] }
      assert.deepStrictEqual([yield* walk, yield* walk], [all, all])

      const now = Date.now()
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now + 60_000)
      yield* Effect.addFinalizer(() => Effect.sync(() => clock.mockRestore()))
      assert.deepStrictEqual(yield* walk, all)
      assert.deepStrictEqual(yield* walk, { ...all, read: [] })
      Fs.writeFileSync(`${root}/a/.env`, "")
      assert.deepStrictEqual(yield* walk, { ...all, read: ["a"], env: ["a/.env", "b/c/.env"] })
      Fs.rmSync(`${root}/d`, { recursive: true })
      Fs.renameSync(`${root}/twin`, `${root}/d`)
      Fs.writeFileSync(`${root}/d/.env`, "")
      assert.deepStrictEqual(yield* walk, { ...all, read: ["", "d"], env: ["a/.env", "b/c/.env", "d/.env"] })
    })
  )

  it.scoped("remembers what it has read of the directory that it has read, whatever takes its place meanwhile", () =>
    Effect.gen(function* () {
      const root = yield* tree(["a/b/.env", "other/b/plain"])
      const search = PathRule.make([glob("/**/.env")])
      const now = Date.now()
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now + 60_000)
      const swap = () => {
        Fs.renameSync(`${root}/a`, `${root}/away`)
        Fs.renameSync(`${root}/other`, `${root}/a`)
        Fs.renameSync(`${root}/away`, `${root}/other`)
      }
      const module = process.getBuiltinModule("node:fs")
      const { readdirSync } = module
      const reading = vi.spyOn(module, "readdirSync").mockImplementation((...given) => {
        swap()
        const entries = readdirSync(...given)
        swap()
        return entries
      })
      syncBuiltinESMExports()
      const restore = Effect.sync(() => {
        clock.mockRestore()
        reading.mockRestore()
        syncBuiltinESMExports()
      })
      yield* Effect.addFinalizer(() => restore)
      const { directories } = yield* Effect.promise(() => FileWalk.find([root], search))
      yield* restore
      assert.isTrue(directories.has(`${root}/a/b`))
      const { matches } = yield* Effect.promise(() => FileWalk.find([root], search, directories))
      assert.deepStrictEqual(
        matches.map(({ path }) => path),
        [`${root}/a/b/.env`]
      )
    })
  )

  it.scoped("remembers nothing of a file system whose times do not tell of changes", () =>
    Effect.gen(function* () {
      const now = Date.now()
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now + 60_000)
      yield* Effect.addFinalizer(() => Effect.sync(() => clock.mockRestore()))
      const { directories } = yield* Effect.promise(() =>
        FileWalk.find(["/proc/sys/fs"], { findEntry: () => undefined })
      )
      assert.strictEqual(directories.size, 0)
    })
  )

  it.effect("is shared by all who ask for it before it begins", () =>
    Effect.promise(async () => {
      const begun: Array<() => void> = []
      const walk = () =>
        new Promise<FileWalk.Walked>((resolve) => {
          const changed = begun.length
          const found = { matches: [], heads: [], closed: [], directories: new Map() }
          begun.push(() => resolve({ ...found, changed, isMoving: false }))
        })
      const asked = [1, 2, 3].map(() => FileWalk.share("test", walk))
      assert.lengthOf(begun, 1)
      begun[0]?.()
      await asked[0]
      await new Promise(setImmediate)
      begun[1]?.()
      const answers = await Promise.all(asked)
      assert.deepStrictEqual(
        answers.map(({ changed }) => changed),
        [0, 1, 1]
      )
      assert.lengthOf(begun, 2)
    })
  )
})
