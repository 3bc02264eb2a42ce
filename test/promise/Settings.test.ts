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
        'unknown setting "constructor": there are cwd, timeout, environment, shellCommand, outputLimit, outputFileLimit, keepOutputFiles, sandbox, onPermission, commands'
      ],
      [{ sandbox: { alow: [] } }, 'unknown setting "sandbox.alow": did you mean "sandbox.allow"?'],
      [{ sandbox: { deny: "x" } }, 'the setting "sandbox.deny" must be a list of texts, not "x"'],
      [{ sandbox: null }, 'the setting "sandbox" must be true, false, or an object, not null'],
      [
        { timeout: "5", outputLimit: 0 },
        'the setting "timeout" must be a whole number of milliseconds from 1 to 2147483647, not "5"\nthe setting "outputLimit" must be a whole number of at least 1, not 0'
      ],
      [{ environment: { A: 1 } }, 'the setting "environment" must be an object of texts by name, not an object'],
      [{ onPermission: [] }, 'the setting "onPermission" must be a function, not a list'],
      [{ commands: [{ name: "a" }] }, "the command has no summary\nthe command has no usage\nthe command has no run"],
      ["/tmp", 'the settings must be an object, not "/tmp"']
    ]
    assert.deepStrictEqual(
      problems.map(([given]) => Settings.problemOf(given)),
      problems.map(([, problem]) => problem)
    )
  })
})
