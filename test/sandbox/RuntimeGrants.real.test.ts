import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RuntimeGrants } from "../../src/sandbox/internal/CurrentSandbox.js"
import * as Temporary from "../support/Temporary.js"

const allowToRead = (grants: RuntimeGrants, resource: string) => grants.add({ access: "read", resource }, undefined)

describe("grants to read", () => {
  it("hold for the file that was allowed, and for no other in its place", () =>
    Temporary.using(async (directory) => {
      const at = (...parts: ReadonlyArray<string>) => path.join(directory, ...parts)
      for (const name of ["a", "b"]) {
        fs.mkdirSync(at(name))
        fs.writeFileSync(at(name, ".env"), name)
      }
      const grants = new RuntimeGrants()
      allowToRead(grants, at("a", ".env"))
      assert.deepStrictEqual(grants.granted, [at("a", ".env")])
      fs.appendFileSync(at("a", ".env"), "more")
      assert.deepStrictEqual(grants.granted, [at("a", ".env")])
      fs.renameSync(at("a"), at("away"))
      assert.deepStrictEqual(grants.granted, [])
      fs.mkdirSync(at("a"))
      fs.symlinkSync(at("b", ".env"), at("a", ".env"))
      assert.deepStrictEqual(grants.granted, [])
      fs.rmSync(at("a"), { recursive: true })
      fs.renameSync(at("b"), at("a"))
      assert.deepStrictEqual(grants.granted, [])
      fs.renameSync(at("a"), at("b"))
      fs.renameSync(at("away"), at("a"))
      assert.deepStrictEqual(grants.granted, [at("a", ".env")])
    }))

  it("of what is not there end when it appears, and none is given through a link", () =>
    Temporary.using(async (directory) => {
      const at = (name: string) => path.join(directory, name)
      fs.writeFileSync(at("file"), "")
      fs.symlinkSync(at("file"), at("link"))
      const grants = new RuntimeGrants()
      for (const name of ["missing", "link"]) allowToRead(grants, at(name))
      assert.deepStrictEqual(grants.granted, [at("missing")])
      fs.writeFileSync(at("missing"), "")
      assert.deepStrictEqual(grants.granted, [])
    }))
})

describe("grants to write", () => {
  const allowToWrite = (grants: RuntimeGrants, resource: string, running?: object) =>
    grants.add({ access: "write", resource }, running)

  it("are entries for the exact path, each once, and can be taken back", () => {
    const grants = new RuntimeGrants()
    allowToWrite(grants, "/a*")
    const takeBack = allowToWrite(grants, "/b")
    const takeNothingBack = allowToWrite(grants, "/b")
    assert.deepStrictEqual(grants.whitelist, ["/a\\*", "/b"])
    takeNothingBack()
    assert.deepStrictEqual(grants.whitelist, ["/a\\*", "/b"])
    takeBack()
    assert.deepStrictEqual(grants.whitelist, ["/a\\*"])
  })

  it("are newer than the sandbox that ran when they were given, and than no other", () => {
    const grants = new RuntimeGrants()
    const [before, after] = [{}, {}]
    allowToWrite(grants, "/a", before)
    allowToWrite(grants, "/b")
    assert.deepStrictEqual([grants.areNewer(before), grants.areNewer(after)], [true, false])
  })
})
