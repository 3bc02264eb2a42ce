import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as IndexFile from "../../../../../src/sandbox/platform/linux/plan/IndexFile.js"
import { rule } from "../../../../support/sandbox/Sandboxed.js"
import { later, rules, tree, walk } from "../../../../support/sandbox/Walked.js"

/** As many entries as are worth a file, in two directories; and a secret. */
const files = [...Array.from({ length: 1200 }, (_, at) => `${at % 2}/${at}`), "0/.env", "1/deep/"]

const place = Effect.map(Effect.all([tree(files), tree()]), ([root, ground]) => {
  const cache = `${ground}/home/cache`
  /** What a start finds; it leaves an index behind. */
  const start = Effect.gen(function* () {
    const indexes = IndexFile.make(cache, [root], later)
    const seen = yield* Effect.promise(() => walk(root, indexes?.of(root, rules)))
    if (indexes !== undefined) yield* indexes.save
    return seen
  })
  const file = () => `${cache}/${Fs.readdirSync(cache)[0]}`
  return { root, ground, cache, start, file }
})

const cold = { named: ["0/.env file"], read: ["", "0", "1"] }
/** The directory of what is named is asked for it again. */
const warm = { named: ["0/.env file"], read: ["0"] }

describe.skipIf(process.platform !== "linux")("the files of directory indexes", () => {
  it.scoped("let the next start read no directory that has not changed", () =>
    Effect.gen(function* () {
      const { cache, root, start } = yield* place
      assert.deepStrictEqual(yield* start, cold)
      assert.deepStrictEqual(yield* start, warm)
      assert.strictEqual(Fs.statSync(cache).mode & 0o777, 0o700)
      Fs.writeFileSync(`${root}/1/deep/.env`, "")
      const named = [...warm.named, "1/deep/.env file"]
      assert.deepStrictEqual(yield* start, { named, read: ["0", "1/deep"] })
    })
  )

  it.scoped("are there for each set of globs", () =>
    Effect.gen(function* () {
      const { cache, root, start } = yield* place
      yield* start
      const others = [...rules, rule("/**/7*")]
      const index = IndexFile.make(cache, [root], later)?.of(root, others)
      assert.deepStrictEqual((yield* Effect.promise(() => walk(root, index))).read, cold.read)
    })
  )

  it.scoped("are not made for a small tree", () =>
    Effect.gen(function* () {
      const { cache } = yield* place
      const small = yield* tree(["a/b"])
      const indexes = IndexFile.make(cache, [], later)
      yield* Effect.promise(() => walk(small, indexes?.of(small, rules)))
      if (indexes !== undefined) yield* indexes.save
      assert.isFalse(Fs.existsSync(cache))
    })
  )

  const edit = (change: (text: string) => string) => (file: string) => {
    Fs.writeFileSync(file, change(Fs.readFileSync(file, "utf8")))
  }
  const wrong: ReadonlyArray<readonly [string, (file: string) => void]> = [
    ["empty", edit(() => "")],
    ["cut off", edit((text) => text.slice(0, -1))],
    ["cut off in its head", edit((text) => text.slice(0, 20))],
    ["longer", edit((text) => `${text} `)],
    ["of another world", edit((text) => text.replace(/[0-9a-f]{64}/, "0".repeat(64)))],
    ["from before the clock was set", edit((text) => text.replace(/,(\d+)/, (_, start) => `,${Number(start) + 3000}`))],
    ["from after the clock was set", edit((text) => text.replace(/,(\d+)/, (_, start) => `,${Number(start) - 3000}`))],
    ["forged", edit((text) => text.replace('[".env","file"]', '[".ens","file"]'))],
    ["no index at all", edit(() => '[1,2]\n{"name":1}')],
    ["open to others", (file) => Fs.chmodSync(file, 0o644)],
    [
      "a link",
      (file) => {
        Fs.renameSync(file, `${file}-moved`)
        Fs.symlinkSync(`${file}-moved`, file)
      }
    ],
    ["known by another name", (file) => Fs.linkSync(file, `${file}-linked`)],
    [
      "a directory",
      (file) => {
        Fs.rmSync(file)
        Fs.mkdirSync(file)
      }
    ]
  ]
  for (const [what, damage] of wrong) {
    it.scoped(`are passed over where one is ${what}`, () =>
      Effect.gen(function* () {
        const { file, start } = yield* place
        yield* start
        damage(file())
        assert.deepStrictEqual(yield* start, cold)
      })
    )
  }

  it.scoped.skipIf(process.getuid?.() !== 0)("are passed over where one is another user's", () =>
    Effect.gen(function* () {
      const { file, start } = yield* place
      yield* start
      Fs.chownSync(file(), 65_534, 65_534)
      assert.deepStrictEqual(yield* start, cold)
    })
  )

  it.scoped("lie in no directory that others, or commands, may write", () =>
    Effect.gen(function* () {
      const { cache, ground, root, start } = yield* place
      yield* start
      assert.isUndefined(IndexFile.make(cache, [root, ground]))
      assert.isUndefined(IndexFile.make(`${root}/cache`, [root]))
      assert.isUndefined(IndexFile.make("relative/index", [root]))
      assert.isFalse(Fs.existsSync(`${root}/cache`))
      Fs.symlinkSync(`${root}/0`, `${ground}/led-astray`)
      assert.isUndefined(IndexFile.make(`${ground}/led-astray`, [root]))
      Fs.chmodSync(cache, 0o755)
      assert.isUndefined(IndexFile.make(cache, [root]))
    })
  )

  it.scoped("are written by several at once, and stay whole", () =>
    Effect.gen(function* () {
      const { cache, root, start } = yield* place
      yield* Effect.all(
        Array.from({ length: 8 }, () => start),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(yield* start, warm)
      assert.deepStrictEqual(Fs.readdirSync(cache).length, 1)
      const [one, other] = [IndexFile.make(cache, [root], later), IndexFile.make(cache, [root], later)]
      Fs.writeFileSync(`${root}/1/.env`, "")
      const seen = yield* Effect.promise(() =>
        Promise.all([walk(root, one?.of(root, rules)), walk(root, other?.of(root, rules))])
      )
      assert.deepStrictEqual(seen[0], { named: ["0/.env file", "1/.env file"], read: ["0", "1"] })
      assert.deepStrictEqual(seen[1], seen[0])
    })
  )

  it.scoped("do not become more and more", () =>
    Effect.gen(function* () {
      const { cache, file, start } = yield* place
      Fs.mkdirSync(cache, { recursive: true, mode: 0o700 })
      for (let at = 0; at < 100; at++) {
        Fs.writeFileSync(`${cache}/walk-${at}`, "")
        Fs.utimesSync(`${cache}/walk-${at}`, at, at)
      }
      Fs.writeFileSync(`${cache}/other`, "")
      yield* start
      const left = Fs.readdirSync(cache)
      assert.deepStrictEqual([left.length, left.includes("walk-36"), left.includes("walk-37")], [65, false, true])
      assert.isTrue(Fs.existsSync(file()))
      assert.deepStrictEqual(yield* start, warm)
    })
  )
})
