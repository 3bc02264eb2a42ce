import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ReadGrants } from "../../src/sandbox/ReadGrants.js"
import * as Temporary from "../support/Temporary.js"

describe("grants to read", () => {
  it("hold for the file that was allowed, and for no other in its place", () =>
    Temporary.using(async (directory) => {
      const at = (...parts: ReadonlyArray<string>) => path.join(directory, ...parts)
      for (const name of ["a", "b"]) {
        fs.mkdirSync(at(name))
        fs.writeFileSync(at(name, ".env"), name)
      }
      const grants = new ReadGrants()
      grants.add(at("a", ".env"))
      assert.deepStrictEqual(grants.paths, [at("a", ".env")])
      fs.appendFileSync(at("a", ".env"), "more")
      assert.deepStrictEqual(grants.paths, [at("a", ".env")])
      fs.renameSync(at("a"), at("away"))
      assert.deepStrictEqual(grants.paths, [])
      fs.mkdirSync(at("a"))
      fs.symlinkSync(at("b", ".env"), at("a", ".env"))
      assert.deepStrictEqual(grants.paths, [])
      fs.rmSync(at("a"), { recursive: true })
      fs.renameSync(at("b"), at("a"))
      assert.deepStrictEqual(grants.paths, [])
      fs.renameSync(at("a"), at("b"))
      fs.renameSync(at("away"), at("a"))
      assert.deepStrictEqual(grants.paths, [at("a", ".env")])
    }))

  it("of what is not there end when it appears, and none is given through a link", () =>
    Temporary.using(async (directory) => {
      const at = (name: string) => path.join(directory, name)
      fs.writeFileSync(at("file"), "")
      fs.symlinkSync(at("file"), at("link"))
      const grants = new ReadGrants()
      for (const name of ["missing", "link"]) grants.add(at(name))
      assert.deepStrictEqual(grants.paths, [at("missing")])
      fs.writeFileSync(at("missing"), "")
      assert.deepStrictEqual(grants.paths, [])
    }))
})
