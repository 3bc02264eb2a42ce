import { assert, describe, it } from "@effect/vitest"
import * as TurnCalls from "../../../src/agent/loop/internal/TurnCalls.js"

const call = (command: unknown, others: object = {}, name = "Bash") => ({
  id: "1",
  name,
  arguments: JSON.stringify({ command, ...others })
})

describe("CallGroups.isTask", () => {
  it("takes a line that is one task command and nothing else", () => {
    for (const command of [
      "task:general --description d --prompt 'look here'",
      "  task:explore \\\n  --prompt x\n",
      "task:general --description d <<'EOF'\ndo $this\nEOF",
      "task:a # a comment"
    ]) {
      assert.isTrue(TurnCalls.isTask(call(command)), command)
    }
    assert.isTrue(TurnCalls.isTask(call("task:a", { timeout: 1000, description: "d" })))
  })

  it("takes nothing that needs a shell, or that another command may be part of", () => {
    for (const command of [
      "task:general | cat",
      "task:general; ls",
      "task:general && ls",
      "task:general &",
      "task:general > out",
      'task:general --prompt "$HOME"',
      "task:general --prompt $(cat f)",
      "task:general *.ts",
      "A=1 task:general",
      "cd x; task:general",
      "ls task:general",
      "task:",
      "mcp:a:b",
      "",
      7
    ]) {
      assert.isFalse(TurnCalls.isTask(call(command)), String(command))
    }
    assert.isFalse(TurnCalls.isTask(call("task:a", { restart: true })))
    assert.isFalse(TurnCalls.isTask(call("task:a", {}, "Shell")))
    assert.isFalse(TurnCalls.isTask({ id: "1", name: "Bash", arguments: '{"command":"task:a' }))
    assert.isFalse(TurnCalls.isTask(call(`task:a ${"x".repeat(2_000_000)}`)))
  })
})

describe("CallGroups.make", () => {
  it("keeps every call in its order, neighbouring tasks together", () => {
    const [a, b, ls, c] = [call("task:a"), call("task:b"), call("ls"), call("task:c")]
    assert.deepStrictEqual(TurnCalls.make([a, b, ls, ls, c]), [[a, b], [ls], [ls], [c]])
    assert.deepStrictEqual(TurnCalls.make([]), [])
  })
})
