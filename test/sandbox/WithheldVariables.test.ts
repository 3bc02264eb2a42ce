import { assert, describe, it } from "@effect/vitest"
import { WithheldVariables } from "../../src/sandbox/LocalSandboxProvider.js"

const names = ["AWS_PROFILE", "A"]
const said = (command: string) => new WithheldVariables().notice(command, names) !== undefined

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
    assert.match(
      variables.notice("echo $AWS_PROFILE $AWS_PROFILE", names) ?? "",
      /^The sandbox leaves AWS_PROFILE out of the environment; the user can let it through: --env AWS_PROFILE, or "env" in sandbox\.json\.$/
    )
    assert.strictEqual(variables.notice("echo $AWS_PROFILE", names), undefined)
    assert.strictEqual(variables.notice("A=1", names), undefined)
    assert.strictEqual(variables.notice("echo $A", names), undefined)
    assert.strictEqual(new WithheldVariables().notice("echo $A", []), undefined)
  })

  it("are looked for in a long command in no time that grows with its square", () => {
    assert.isFalse(said(`for ${"read A ".repeat(100_000)}`))
  })
})
