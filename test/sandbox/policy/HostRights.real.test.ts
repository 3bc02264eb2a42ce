import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as HostPath from "../../../src/sandbox/policy/HostPath.js"
import * as Temporary from "../../support/Temporary.js"

describe("the rights of files", () => {
  it("are those of an owner, though the system grants root anything", () =>
    Temporary.using(async (made) => {
      const directory = Fs.realpathSync(made)
      const file = (name: string, mode: number) => {
        Fs.writeFileSync(`${directory}/${name}`, "x")
        Fs.chmodSync(`${directory}/${name}`, mode)
        return `${directory}/${name}`
      }
      const rights = (path: string) => [HostPath.hasRights(path, "read"), HostPath.hasRights(path, "write")]
      assert.deepStrictEqual(rights(file("open", 0o600)), [true, true])
      assert.deepStrictEqual(rights(file("read", 0o477)), [true, false])
      assert.deepStrictEqual(rights(file("none", 0o077)), [false, false])
      assert.deepStrictEqual(rights(`${directory}/new/file`), [true, true])
      Fs.mkdirSync(`${directory}/closed`)
      Fs.writeFileSync(`${directory}/closed/x`, "x")
      Fs.chmodSync(`${directory}/closed`, 0o600)
      assert.deepStrictEqual(rights(`${directory}/closed/x`), [false, false])
      Fs.chmodSync(`${directory}/closed`, 0o500)
      assert.deepStrictEqual(rights(`${directory}/closed/new`), [true, false])
      Fs.chmodSync(`${directory}/closed`, 0o700)
      if (process.getuid?.() !== 0) return
      const other = file("other", 0o640)
      Fs.chownSync(other, 4321, 4321)
      assert.deepStrictEqual(rights(other), [false, false])
      Fs.chmodSync(other, 0o644)
      assert.deepStrictEqual(rights(other), [true, false])
    }))
})
