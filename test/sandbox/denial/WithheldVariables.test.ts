import { assert, describe, it } from "@effect/vitest"
import { WithheldVariables } from "../../../src/sandbox/denial/WithheldVariables.js"

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
      "awk 'BEGIN { print ENVIRON[\"AWS_PROFILE\"] }'",
      'python3 -c "import os; os.environ[\\"AWS_PROFILE\\"]"',
      "php -r 'echo $_ENV[\"AWS_PROFILE\"];'",
      "go run <(echo 'os.LookupEnv(\"AWS_PROFILE\")')",
      "elixir -e 'System.fetch_env!(\"AWS_PROFILE\")'",
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
    const missed = (messages: string, command = "./run") =>
      new WithheldVariables().missed(command, names, { isFailed: true, messages })
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

  it("are told of where a part fails though the command succeeds, and not where only a file's text names one", () => {
    const missed = (command: string, messages: string, rest = "", isFailed = false) =>
      new WithheldVariables().missed(command, names, { isFailed, messages, rest }).length > 0
    for (const line of [
      "KeyError: 'AWS_PROFILE'",
      "run.sh: line 2: AWS_PROFILE: unbound variable",
      "warning: AWS_PROFILE is not set",
      "Error: AWS_PROFILE is required"
    ]) {
      assert.isTrue(missed("./run || true", `Traceback\n${line}\n`), line)
      assert.isFalse(missed("./run", "", line), `${line}, in the output of what succeeds`)
      assert.isTrue(missed("./run", "", line, true), `${line}, in the output of what fails`)
    }
    const text = 'token = os.environ["AWS_PROFILE"]'
    assert.isTrue(missed("./run", text, "", true))
    assert.isFalse(missed("./run", text))
    assert.isFalse(missed("cat run; false", "", text, true))
    assert.isFalse(missed("grep AWS_PROFILE run; false", "AWS_PROFILE", "", true))
    assert.isFalse(missed("grep -n AWS_PROFILE run 2>&1", "1: Error: AWS_PROFILE is not set"))
  })

  it("are looked for in a long command in no time that grows with its square", () => {
    assert.isFalse(said(`for ${"read A ".repeat(100_000)}`))
  })
})
