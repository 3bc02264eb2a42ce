import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { scan } from "../../src/agent/LiveSubAgentManager.js"
import * as Temporary from "../support/Temporary.js"

const look = (directory: string, within?: string) => {
  const steps = scan([{ source: "project", directory, ...(within === undefined ? {} : { within }) }])
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

describe("a project's directory of types", () => {
  it("is not read through a link that leads out of the project", () =>
    Temporary.using(async (directory) => {
      for (const name of ["out", "project"]) fs.mkdirSync(path.join(directory, name))
      fs.writeFileSync(path.join(directory, "out/t.md"), "---\nname: t\ndescription: d\n---\nDo it.\n")
      const link = path.join(directory, "project/agents")
      fs.symlinkSync("../out", link)
      const problems = (within: string) => look(link, within).flatMap(({ problem }) => problem ?? [])
      assert.deepStrictEqual(problems(path.join(directory, "project")), [
        "it can't be used: its directory is a link that leads out of the project"
      ])
      assert.deepStrictEqual(problems(directory), [])
    }))
})
