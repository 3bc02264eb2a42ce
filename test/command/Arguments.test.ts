import * as Command from "@effect/cli/Command"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { exec } from "../../src/cli/Exec.js"
import * as Arguments from "../../src/command/Arguments.js"

const kinds = Arguments.optionsOf([Command.getUsage(exec)])

const normalised = (...args: ReadonlyArray<string>) => Either.merge(Arguments.normalise(args, kinds))

const split = (...args: ReadonlyArray<string>) =>
  Either.merge(
    Either.map(Arguments.split(args, kinds), ({ operands, options }) => [
      options.map(({ kind, value }) => `${kind.name}=${value}`),
      operands
    ])
  )

describe("Arguments", () => {
  it("knows the options by their definitions", () => {
    assert.deepStrictEqual(Object.fromEntries(kinds), {
      "--cwd": { name: "--cwd", isFlag: false, isRepeated: false },
      "--timeout": { name: "--timeout", isFlag: false, isRepeated: false },
      "--no-sandbox": { name: "--no-sandbox", isFlag: true, isRepeated: false },
      "--allow": { name: "--allow", isFlag: false, isRepeated: true },
      "--deny": { name: "--deny", isFlag: false, isRepeated: true },
      "--json": { name: "--json", isFlag: true, isRepeated: false }
    })
  })

  describe("normalise", () => {
    it("sets flags, and leaves all other words as they are", () => {
      assert.deepStrictEqual(normalised("exec", "--json", "true"), ["exec", "--json=true", "true"])
      assert.strictEqual(normalised("--allow", " "), "--allow is empty.")
      assert.strictEqual(normalised("--allow="), "--allow is empty.")
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

  describe("split", () => {
    it("finds the options wherever they stand, with their values in either form", () => {
      assert.deepStrictEqual(split("a", "--json", "true", "--cwd", "/x y", "b", "--allow=", "--allow", "--json"), [
        ["--json=true", "--cwd=/x y", "--allow=", "--allow=--json"],
        ["a", "true", "b"]
      ])
      assert.deepStrictEqual(split("--json=false", "--cwd=a=b\nc"), [["--json=false", "--cwd=a=b\nc"], []])
    })

    it("takes what is no option for an operand, and all that stands after --", () => {
      const operands = ["-", "-5", "--5", "- item", "---", "-foo bar", "--json\n", "", "-h", "–json", "-é"]
      assert.deepStrictEqual(split(...operands), [[], operands])
      assert.deepStrictEqual(split("a", "--", "--json", "--", "--wrong"), [[], ["a", "--json", "--", "--wrong"]])
    })

    it("says what is wrong", () => {
      assert.strictEqual(split("--cwd", "/", "a", "--cwd=/usr"), "--cwd is given twice.")
      assert.strictEqual(split("a", "--cwd"), "--cwd needs a value after it.")
      assert.strictEqual(
        split("--json=\u001b"),
        '--json stands alone, or is --json=true or --json=false; it was "--json=\\u001b".'
      )
      assert.strictEqual(
        split("--jsno=x"),
        "Unknown option --jsno: there are --cwd, --timeout, --no-sandbox, --allow, --deny, --json. A word that begins with a dash and is no option goes after --."
      )
      assert.strictEqual(
        split("--json=\udcff\udc80"),
        '--json stands alone, or is --json=true or --json=false; it was "--json=\\xff\\x80".'
      )
      assert.strictEqual(Arguments.shown(`${"x".repeat(59)}🙂`), `"${"x".repeat(59)}" …`)
      assert.deepStrictEqual(
        Arguments.split(["-x"], new Map()),
        Either.left("Unknown option -x: there are none. A word that begins with a dash and is no option goes after --.")
      )
    })
  })
})
