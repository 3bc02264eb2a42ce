import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { scan } from "../../src/agent/LiveSubAgentManager.js"
import * as Temporary from "../support/Temporary.js"

const look = (directory: string) => {
  const steps = scan([{ source: "home", directory }])
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
      const unusable = () =>
        look(directory).flatMap(({ isUsable, name, problem }) => (isUsable ? [] : [[name, problem]]))
      assert.deepStrictEqual(unusable(), [])
      add(500)
      add(501)
      assert.deepStrictEqual(unusable(), [["t500", "it can't be used: only the first 500 files are read"]])
      assert.isTrue(look(directory).some(({ isUsable, name }) => isUsable && name === "t499"))
    }))
})
