import { assert, describe, it } from "@effect/vitest"
import { WithheldVariables } from "../../src/sandbox/LocalSandboxProvider.js"

const names = ["AWS_PROFILE", "A"]
const said = (command: string) => new WithheldVariables().missed(command, names).length > 0

describe("the variables that the sandbox leaves out", () => {
  it("are told of where a command uses one", () => {
    for (const command of [
      "echo $AWS_PROFILE",
      'echo "${AWS_PROFILE:-none}"',
      "cd x && printenv AWS_PROFILE | wc -c",
      "node -e 'process.env.AWS_PROFILE'",
      "python3 -c 'import os; os.environ[\"AWS_PROFILE\"]'",
      "python3 -c 'import os; os.environ.get(\"AWS_PROFILE\")'",
      "python3 -c 'import os; os.getenv(\"AWS_PROFILE\")'",
      "ruby -e 'ENV[\"AWS_PROFILE\"]'",
      "[ $A = b ]"
    ]) {
      assert.isTrue(said(command), command)
    }
  })

  it("are not told of where a command only holds the word, or another name, or sets it itself", () => {
    for (const command of [
      "echo A AWS_PROFILE",
      "echo $AWS_PROFILE_2 $AA $B",
      "AWS_PROFILE=x; echo $AWS_PROFILE",
      "export AWS_PROFILE=x && echo $AWS_PROFILE",
      "for A in 1 2; do echo $A; done",
      "while read -r A; do echo $A; done",
      "printf -v A x; echo $A"
    ]) {
      assert.isFalse(said(command), command)
    }
  })

  it("are each told of once, and not after a command has set it", () => {
    const variables = new WithheldVariables()
    assert.deepStrictEqual(variables.missed("echo $AWS_PROFILE $AWS_PROFILE", names), ["AWS_PROFILE"])
    assert.deepStrictEqual(variables.missed("echo $AWS_PROFILE", names), [])
    assert.deepStrictEqual(variables.missed("A=1", names), [])
    assert.deepStrictEqual(variables.missed("echo $A", names), [])
    assert.deepStrictEqual(new WithheldVariables().missed("echo $A", []), [])
  })

  it("are told of where the output of a failed command misses one", () => {
    const missed = (output: string, command = "./run") => new WithheldVariables().missed(command, names, output)
    for (const output of [
      "KeyError: 'AWS_PROFILE'",
      "Error: AWS_PROFILE is not set",
      "bash: line 1: AWS_PROFILE: unbound variable",
      "thread 'main' panicked: AWS_PROFILE: NotPresent",
      'x\nkey not found: "AWS_PROFILE" (KeyError)\n'
    ])
      assert.deepStrictEqual(missed(output), ["AWS_PROFILE"], output)
    for (const output of ["KeyError: 'A'", "A must be set", "missing environment variable A", "env: A"])
      assert.deepStrictEqual(missed(output), ["A"], output)
    for (const output of [
      "A failure",
      "AWS_PROFILES is not set",
      "MY_AWS_PROFILE",
      "KeyError: 'B'\nA",
      "B_A is not set"
    ])
      assert.deepStrictEqual(missed(output), [], output)
    assert.deepStrictEqual(missed("AWS_PROFILE is not set", "AWS_PROFILE= ./run"), [])
  })

  it("are looked for in a long command in no time that grows with its square", () => {
    assert.isFalse(said(`for ${"read A ".repeat(100_000)}`))
  })
})
