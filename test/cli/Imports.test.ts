import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"

const src = path.resolve(import.meta.dirname, "../../src")

describe("@effect/cli", () => {
  it("is loaded by the program only: the library needs none", () => {
    const users = fs
      .readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && fs.readFileSync(path.join(src, file), "utf8").includes('"@effect/cli'))
    assert.isAbove(users.length, 0)
    assert.deepStrictEqual(
      users.filter((file) => !file.startsWith("cli/")),
      []
    )
  })
})
