import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Arguments from "../../src/command/Arguments.js"
import * as Parameter from "../../src/command/Parameter.js"

const known: Arguments.Options = new Map(
  [
    Parameter.option("cwd"),
    Parameter.option("timeout"),
    Parameter.flag("no-sandbox"),
    Parameter.option("allow").pipe(Parameter.repeated),
    Parameter.option("deny").pipe(Parameter.repeated),
    Parameter.flag("json")
  ].map(({ form }) => [form.name, form])
)

const split = (...args: ReadonlyArray<string>) =>
  Either.merge(
    Either.map(Arguments.split(args, known), ({ operands, options }) => [
      [...options].flatMap(([name, values]) => values.map((value) => `${name}=${value}`)),
      operands
    ])
  )

describe("Arguments", () => {
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

    it("takes time that grows with the words, as many as there are", () => {
      const operands = Array.from({ length: 60_000 }, (_, index) => `- item ${index} n`)
      assert.deepStrictEqual(split(...operands.slice(0, 10_000), "--allow", "a"), [
        ["--allow=a"],
        operands.slice(0, 10_000)
      ])
      assert.deepStrictEqual(Arguments.split(operands, known), Either.right({ options: new Map(), operands }))
    })

    it("says what is wrong", () => {
      assert.strictEqual(split("--cwd", "/", "a", "--cwd=/usr"), "--cwd is given twice.")
      assert.strictEqual(split("a", "--cwd"), "--cwd needs a value after it.")
      assert.strictEqual(
        split("--json=\u001b"),
        '--json stands alone, or is --json=true or --json=false; it was "--json=\\u001b".'
      )
      assert.strictEqual(split("--jsno=x"), "Unknown option --jsno: did you mean --json?")
      assert.strictEqual(
        split("a", "--jn"),
        "Unknown option --jn: there are --cwd, --timeout, --no-sandbox, --allow, --deny, --json. A word that begins with a dash and is no option goes after --."
      )
      assert.strictEqual(
        split("--json=\udcff\udc80"),
        '--json stands alone, or is --json=true or --json=false; it was "--json=\\xff\\x80".'
      )
      assert.strictEqual(Arguments.quoted(`${"x".repeat(59)}🙂`), `"${"x".repeat(59)}" …`)
      assert.deepStrictEqual(Arguments.split(["-x"], new Map()), Either.left("Unknown option -x: there are none."))
    })
  })
})
