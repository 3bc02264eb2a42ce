import { assert, describe, it } from "@effect/vitest"
import * as Settings from "../../src/promise/Settings.js"

describe("the settings of the Promise face", () => {
  it("are named, with what is near to a name that is not there", () => {
    const problems: ReadonlyArray<readonly [unknown, string | undefined]> = [
      [{}, undefined],
      [
        { cwd: "/", timeout: 1, environment: { A: "" }, sandbox: { allow: ["/tmp"], home: "~" }, commands: [] },
        undefined
      ],
      [{ timeout: undefined, sandbox: false }, undefined],
      [{ tiemout: 5 }, 'unknown setting "tiemout": did you mean "timeout"?'],
      [{ CWD: "/" }, 'unknown setting "CWD": did you mean "cwd"?'],
      [
        { constructor: 1 },
        'unknown setting "constructor": there are cwd, timeout, environment, shellCommand, outputLimit, outputFileLimit, keepOutputFiles, sandbox, onPermission, describeExtensions, commands'
      ],
      [{ sandbox: { alow: [] } }, 'unknown setting "sandbox.alow": did you mean "sandbox.allow"?'],
      [{ sandbox: { env: ["A", "A B"] } }, '"A B" is no name of a variable'],
      [{ sandbox: { env: "A" } }, 'the setting "sandbox.env" must be a list of texts, not "A"'],
      [{ sandbox: { deny: "x" } }, 'the setting "sandbox.deny" must be a list of texts, not "x"'],
      [{ sandbox: null }, 'the setting "sandbox" must be true, false, or an object, not null'],
      [
        { timeout: "5", outputLimit: 0 },
        'the setting "timeout" must be a whole number of milliseconds from 1 to 2147483647, not "5"\nthe setting "outputLimit" must be a whole number of at least 1, not 0'
      ],
      [
        { sandbox: { deny: ["x", "", 5] } },
        'entry 2 of the setting "sandbox.deny" must be a text that is not blank, not ""\nentry 3 of the setting "sandbox.deny" must be a text that is not blank, not 5'
      ],
      [
        { sandbox: { allow: ["a\0"] } },
        'entry 1 of the setting "sandbox.allow" must have no NUL character, as "a\\u0000" has'
      ],
      [{ cwd: "a\0" }, 'the setting "cwd" must have no NUL character, as "a\\u0000" has'],
      [{ environment: { A: 1, B: "" } }, 'the variable "A" of the setting "environment" must be a text, not 1'],
      [
        { environment: { A: "\0" } },
        'the variable "A" of the setting "environment" must have no NUL character, as "\\u0000" has'
      ],
      [
        { environment: { "A=B": "x" } },
        'the setting "environment" has a variable "A=B": a name is not empty, and has neither = nor NUL'
      ],
      [{ environment: ["A"] }, 'the setting "environment" must be an object of texts by name, not a list'],
      [{ onPermission: [] }, 'the setting "onPermission" must be a function, not a list'],
      [
        { commands: [{ name: "a" }] },
        'the command "a" has no summary\nthe command "a" has no usage\nthe command "a" has no run'
      ],
      [
        {
          commands: [
            { name: "a", summary: "s", usage: "u", run: () => {} },
            { summary: "s", usage: "u", run: 5 }
          ]
        },
        'the field "run" of command 2 of the setting "commands" must be a function, not 5\ncommand 2 of the setting "commands" has no name'
      ],
      [{ commands: [5] }, 'command 1 of the setting "commands" must be an object, not 5'],
      ["/tmp", 'the settings must be an object, not "/tmp"']
    ]
    assert.deepStrictEqual(
      problems.map(([given]) => Settings.problemOf(given)),
      problems.map(([, problem]) => problem)
    )
  })
})
