import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { CommandFile } from "../../src/session/SessionDirectory.js"
import * as Temporary from "../support/Temporary.js"

const withFile = (use: (file: CommandFile) => void) =>
  Temporary.using(async (directory) => {
    const file = new CommandFile(`${directory}/command`)
    try {
      use(file)
    } finally {
      file.close()
    }
  })

describe("the file of the command", () => {
  it("holds the last text alone, with one newline at its end", () =>
    withFile((file) => {
      for (const text of ["a", "echo a longer one\n", "é", ""]) {
        file.write(text)
        assert.strictEqual(Fs.readFileSync(file.path, "utf8"), text.endsWith("\n") ? text : `${text}\n`)
      }
    }))

  it("knows when it was deleted", () =>
    withFile((file) => {
      assert.isFalse(file.isDeleted)
      Fs.rmSync(file.path)
      assert.isTrue(file.isDeleted)
    }))
})
