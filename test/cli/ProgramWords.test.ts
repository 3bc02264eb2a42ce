import * as Command from "@effect/cli/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { exec } from "../../src/cli/Cli.js"
import * as ProgramWords from "../../src/cli/ProgramWords.js"

const options = ProgramWords.optionsOf([Command.getUsage(exec)])

const normalised = (...args: ReadonlyArray<string>) => Either.merge(ProgramWords.normalise(args, options))

describe("ProgramWords", () => {
  it("knows the options by their definitions", () => {
    assert.deepStrictEqual(Object.fromEntries(options), {
      "--cwd": { name: "--cwd", isFlag: false, isRepeated: false },
      "--timeout": { name: "--timeout", isFlag: false, isRepeated: false },
      "--no-sandbox": { name: "--no-sandbox", isFlag: true, isRepeated: false },
      "--allow": { name: "--allow", isFlag: false, isRepeated: true },
      "--deny": { name: "--deny", isFlag: false, isRepeated: true },
      "--env": { name: "--env", isFlag: false, isRepeated: true },
      "--allow-unix-sockets": { name: "--allow-unix-sockets", isFlag: true, isRepeated: false },
      "--ask": { name: "--ask", isFlag: false, isRepeated: false, choices: ["never", "terminal"] },
      "--json": { name: "--json", isFlag: true, isRepeated: false }
    })
  })

  describe("normalise", () => {
    it("sets flags, parts an option from its value, and leaves all other words as they are", () => {
      assert.deepStrictEqual(normalised("exec", "--json", "true"), ["exec", "--json=true", "true"])
      assert.strictEqual(normalised("--allow", " "), "--allow is empty.")
      assert.strictEqual(normalised("--allow="), "--allow is empty.")
      assert.deepStrictEqual(normalised("--json=no", "--x", "-h"), ["--json=no", "--x", "-h"])
      assert.deepStrictEqual(normalised("--cwd", "--json", "--", "a"), ["--cwd", "--json", "--", "a"])
      for (const words of [
        ["--allow", "--", "a"],
        ["--deny=--", "a"],
        ["--cwd", "--"]
      ]) {
        assert.include(normalised(...words), "needs a value after it.")
      }
      assert.deepStrictEqual(normalised("--", "--json", "--cwd", "--cwd"), ["--", "--json", "--cwd", "--cwd"])
      assert.deepStrictEqual(normalised("--cwd"), ["--cwd"])
    })

    it("names the option that has another value than it takes", () => {
      assert.deepStrictEqual(normalised("--ask=never", "--timeout", "x"), ["--ask", "never", "--timeout", "x"])
      for (const words of [["--ask", "maybe"], ["--ask="], ["--ask", "--json"]])
        assert.strictEqual(normalised(...words), "--ask must be one of never, terminal.")
    })

    it("refuses what is given twice and counts once", () => {
      assert.deepStrictEqual(normalised("--allow", "a", "--allow=b"), ["--allow", "a", "--allow", "b"])
      assert.strictEqual(normalised("--cwd", "/", "--cwd=/usr"), "--cwd is given twice.")
      assert.strictEqual(normalised("--json", "--json"), "--json is given twice.")
    })
  })
})
