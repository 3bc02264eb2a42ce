import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Granting from "../../src/sandbox/internal/Granting.js"
import * as Temporary from "../support/Temporary.js"

const made = (file: string) => Effect.runSync(Effect.either(Granting.makeNewFile(file)))

describe("a new file", () => {
  it("is made empty, and one that is there stays as it is", () =>
    Temporary.using(async (directory) => {
      const file = path.join(directory, "new")
      assert.isTrue(Either.isRight(made(file)))
      assert.strictEqual(fs.readFileSync(file, "utf8"), "")
      fs.writeFileSync(file, "kept")
      assert.isTrue(Either.isRight(made(file)))
      assert.strictEqual(fs.readFileSync(file, "utf8"), "kept")
    }))

  it("is not made where a link leads by now, in any part of its path, nor through a link in its place", () =>
    Temporary.using(async (directory) => {
      const at = (...parts: ReadonlyArray<string>) => path.join(directory, ...parts)
      fs.mkdirSync(at("victim", "deep"), { recursive: true })
      fs.mkdirSync(at("real"))
      fs.symlinkSync(at("victim"), at("link"))
      fs.symlinkSync(at("victim", "new"), at("real", "dangling"))
      fs.symlinkSync(at("victim"), at("real", "directory"))
      for (const file of [
        at("link", "new"),
        at("link", "deep", "new"),
        at("real", "dangling"),
        at("real", "directory"),
        at("missing", "new")
      ]) {
        assert.isTrue(Either.isLeft(made(file)), file)
      }
      assert.deepStrictEqual(fs.readdirSync(at("victim")), ["deep"])
      assert.deepStrictEqual(fs.readdirSync(at("victim", "deep")), [])
    }))
})
