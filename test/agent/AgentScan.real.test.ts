import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { AgentScan } from "../../src/agent/LiveSubAgentManager.js"
import * as Temporary from "../support/Temporary.js"

const look = (scan: AgentScan) => {
  const steps = scan.look()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

describe("a directory with more types than are read", () => {
  it("says so, in the list, at the first that is not", () =>
    Temporary.using(async (directory) => {
      const add = (at: number) => {
        const name = `t${String(at).padStart(3, "0")}`
        fs.writeFileSync(path.join(directory, `${name}.md`), `---\nname: ${name}\ndescription: d\n---\nDo it.\n`)
      }
      for (let at = 0; at < 500; at++) add(at)
      const scan = new AgentScan([{ source: "home", directory }])
      const unusable = () => look(scan).flatMap(({ isUsable, name, problem }) => (isUsable ? [] : [[name, problem]]))
      assert.deepStrictEqual(unusable(), [])
      add(500)
      assert.deepStrictEqual(unusable(), [
        ["t500", "it can't be used: there are more than 500 files: this one is not read"]
      ])
      add(501)
      add(502)
      assert.deepStrictEqual(unusable(), [
        ["t500", "it can't be used: there are more than 500 files: this one and 2 others are not read"]
      ])
      assert.strictEqual(look(scan), look(scan))
      assert.isTrue(look(scan).some(({ isUsable, name }) => isUsable && name === "t499"))
    }))
})
