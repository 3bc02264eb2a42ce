import { assert, describe, it } from "@effect/vitest"
import * as Remark from "../../src/toolset/internal/Remark.js"

const warning = (word: string) =>
  `bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted \`${word}')\n`

describe("OpenHereDocument", () => {
  it("names the line that is missing", () => {
    for (const stderr of [warning("EOF"), warning("EOF").replace("line 2: ", ""), `a\n${warning("EOF")}b\n`]) {
      assert.strictEqual(
        Remark.remark(stderr),
        "[here-document not closed: EOF must stand alone on a line; all that follows was taken as text]"
      )
    }
    assert.include(Remark.remark(warning("END OF TEXT")) ?? "", "END OF TEXT must stand alone")
  })

  it("is not made of what a program prints", () => {
    for (const stderr of ["", "x\n", `sh: ${warning("EOF")}`, `see ${warning("EOF")}`]) {
      assert.isUndefined(Remark.remark(stderr))
    }
  })
})
