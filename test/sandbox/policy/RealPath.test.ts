import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as RealPath from "../../../src/sandbox/policy/RealPath.js"
import * as Directory from "../../support/sandbox/Directory.js"

describe("a path", () => {
  it.scoped("is followed through its links, each of which is named", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.mkdirSync(`${root}/a/b`, { recursive: true })
      Fs.writeFileSync(`${root}/a/b/file`, "")
      Fs.symlinkSync("a/b", `${root}/relative`)
      Fs.symlinkSync(`${root}/relative`, `${root}/a/absolute`)
      Fs.symlinkSync("missing/x", `${root}/dangling`)
      Fs.symlinkSync("loop", `${root}/loop`)
      const follow = (path: string) => {
        const { links, real } = RealPath.follow(`${root}/${path}`)
        return [real, ...links].map((found) => Path.relative(root, found))
      }
      assert.deepStrictEqual(follow("a/b/file"), ["a/b/file"])
      assert.deepStrictEqual(follow("relative/file"), ["a/b/file", "relative"])
      assert.deepStrictEqual(follow("a/absolute/file"), ["a/b/file", "a/absolute", "relative"])
      // The directory that the link leads to, not the one that the link is in.
      assert.deepStrictEqual(follow("relative/../x"), ["a/x", "relative"])
      assert.deepStrictEqual(follow("a/./b//../b/"), ["a/b"])
      assert.deepStrictEqual(follow("relative/new/deep"), ["a/b/new/deep", "relative"])
      assert.deepStrictEqual(follow("new/../relative"), ["a/b", "relative"])
      assert.deepStrictEqual(follow("dangling"), ["missing/x", "dangling"])
      assert.strictEqual(follow("loop/x")[0], "loop/x")
      assert.deepStrictEqual(follow("a/b/file/x"), ["a/b/file/x"])
    })
  )

  it.scoped("leads where the kernel says it leads", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      for (const path of ["a/b/c", "b/a", "c"]) Fs.mkdirSync(`${root}/${path}`, { recursive: true })
      Fs.symlinkSync("../a/b", `${root}/b/l`)
      Fs.symlinkSync("./b/l/../b", `${root}/m`)
      Fs.symlinkSync(`${root}/m/c/..`, `${root}/c/l`)
      const name = FastCheck.constantFrom("a", "b", "c", "l", "m", "..", ".", "")
      FastCheck.assert(
        FastCheck.property(FastCheck.array(name, { maxLength: 8 }), (names) => {
          const path = `${root}/${names.join("/")}`
          if (Fs.existsSync(path)) assert.strictEqual(RealPath.follow(path).real, Fs.realpathSync.native(path))
        }),
        { numRuns: 500 }
      )
    })
  )
})

describe("a path that is resolved once", () => {
  it.scoped("stays what it was, whatever comes to its place", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.mkdirSync(`${root}/place`)
      const follow = RealPath.once()
      const before = follow(`${root}/place`)
      Fs.rmdirSync(`${root}/place`)
      Fs.symlinkSync("/etc", `${root}/place`)
      assert.deepStrictEqual(before, { real: `${root}/place`, links: [] })
      assert.strictEqual(follow(`${root}/place`), before)
      assert.strictEqual(RealPath.once()(`${root}/place`).real, "/etc")
    })
  )
})

describe("a pattern", () => {
  it.scoped("is followed as far as it has no wildcards", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.mkdirSync(`${root}/[real]`)
      Fs.symlinkSync("[real]", `${root}/link`)
      assert.strictEqual(RealPath.followPattern(`${root}/link/*/x`), `${root}/\\[real\\]/*/x`)
      assert.strictEqual(RealPath.followPattern(`${root}/\\[real\\]/*.pem`), `${root}/\\[real\\]/*.pem`)
      assert.strictEqual(RealPath.followPattern("/**/x"), "/**/x")
      assert.strictEqual(RealPath.followPattern("/*"), "/*")
    })
  )
})
