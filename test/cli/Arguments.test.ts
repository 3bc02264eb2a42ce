import * as Command from "@effect/cli/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Arguments from "../../src/cli/Arguments.js"
import { exec } from "../../src/cli/Exec.js"

const options = Arguments.optionsOf([Command.getUsage(exec)])

const normalised = (...args: ReadonlyArray<string>) =>
  Either.getOrElse(Arguments.normalise(args, options), ({ message }) => message)

describe("Arguments", () => {
  it("knows the options by their definitions", () => {
    assert.deepStrictEqual(Object.fromEntries(options), {
      "--cwd": { isFlag: false, isRepeated: false },
      "--timeout": { isFlag: false, isRepeated: false },
      "--no-sandbox": { isFlag: true, isRepeated: false },
      "--allow": { isFlag: false, isRepeated: true },
      "--deny": { isFlag: false, isRepeated: true },
      "--json": { isFlag: true, isRepeated: false }
    })
  })

  it("sets flags, and leaves all other words as they are", () => {
    assert.deepStrictEqual(normalised("exec", "--json", "true"), ["exec", "--json=true", "true"])
    assert.deepStrictEqual(normalised("--json=no", "--x", "-h"), ["--json=no", "--x", "-h"])
    assert.deepStrictEqual(normalised("--cwd", "--json", "--allow", "--", "a"), [
      "--cwd",
      "--json",
      "--allow",
      "--",
      "a"
    ])
    assert.deepStrictEqual(normalised("--", "--json", "--cwd", "--cwd"), ["--", "--json", "--cwd", "--cwd"])
    assert.deepStrictEqual(normalised("--cwd"), ["--cwd"])
  })

  it("refuses what is given twice and counts once", () => {
    assert.deepStrictEqual(normalised("--allow", "a", "--allow=b"), ["--allow", "a", "--allow=b"])
    assert.strictEqual(normalised("--cwd", "/", "--cwd=/usr"), "--cwd is given twice.")
    assert.strictEqual(normalised("--json", "--json"), "--json is given twice.")
  })
})
