import { assert, describe, it } from "@effect/vitest"
import * as Settings from "../../src/promise/Settings.js"

describe("the settings of the Promise face", () => {
  it("are named where they are wrong", () => {
    const problems: ReadonlyArray<readonly [unknown, string | undefined]> = [
      [{}, undefined],
      [
        { cwd: "/", timeout: 1, environment: { A: "" }, sandbox: { allow: ["/tmp"], home: "~" }, commands: [] },
        undefined
      ],
      [{ timeout: undefined, sandbox: false }, undefined],
      [{ tiemout: 5 }, 'there is no setting "tiemout"'],
      [{ constructor: 1 }, 'there is no setting "constructor"'],
      [{ sandbox: { alow: [] } }, 'there is no setting "sandbox.alow"'],
      [
        { sandbox: { env: ["A", "A B"] } },
        'the setting "sandbox.env[1]" can\'t be used: "A B" is no name of a variable'
      ],
      [{ sandbox: { env: "A" } }, 'the setting "sandbox.env" must be a list of texts, not "A"'],
      [{ sandbox: { deny: "x", home: undefined } }, 'the setting "sandbox.deny" must be a list of texts, not "x"'],
      [{ sandbox: null }, 'the setting "sandbox" must be true, false, or an object, not null'],
      [{ sandbox: { temporary: 1 } }, 'the setting "sandbox.temporary" must be "private" or "host", not 1'],
      [
        { timeout: "5", outputLimit: 0 },
        'the setting "timeout" must be a whole number from 1 to 2147483647, not "5"\nthe setting "outputLimit" must be a whole number from 1 on, not 0'
      ],
      [
        { sandbox: { deny: ["x", "", 5] } },
        'the setting "sandbox.deny[1]" must be a text that is not blank and has no NUL character, not ""\nthe setting "sandbox.deny[2]" must be a text that is not blank and has no NUL character, not 5'
      ],
      [{ cwd: "a\0" }, 'the setting "cwd" must be a text that is not blank and has no NUL character, not "a\\u0000"'],
      [{ environment: { A: 1, B: "" } }, 'the setting "environment.A" must be a text without a NUL character, not 1'],
      [{ environment: { "A=B": "x" } }, 'the setting "environment" must have names that have neither = nor NUL'],
      [{ environment: ["A"] }, 'the setting "environment" must be an object of texts by name, not a list'],
      [{ onPermission: [] }, 'the setting "onPermission" must be a function, not a list'],
      [
        { commands: [{ name: "a" }] },
        'the setting "commands[0].summary" is missing\nthe setting "commands[0].usage" is missing\nthe setting "commands[0].run" is missing'
      ],
      [
        {
          commands: [
            { name: "a", summary: "s", usage: "u", run: () => {} },
            { summary: "s", usage: "u", run: 5 }
          ]
        },
        'the setting "commands[1].name" is missing\nthe setting "commands[1].run" must be a function, not 5'
      ],
      [{ commands: [5] }, 'the setting "commands[0]" must be an object, not 5'],
      ["/tmp", 'the settings must be an object, not "/tmp"']
    ]
    assert.deepStrictEqual(
      problems.map(([given]) => Settings.problemOf(given)),
      problems.map(([, problem]) => problem)
    )
  })
})
