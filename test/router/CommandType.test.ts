import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import { type CommandType, identifyCommandType } from "../../src/router/CommandType.js"

const registered = new Set(["bash", "read"])
const type = (text: string) => identifyCommandType(text, (name) => registered.has(name))

const check = (expected: CommandType, texts: ReadonlyArray<string>) => {
  for (const text of texts) assert.strictEqual(type(text), expected, text)
}

describe("identifyCommandType", () => {
  it("S19: TodoWrite is an agent-shell command, todowrite a native one", () => {
    check("agent-shell", ["TodoWrite {}", "  TodoWrite '{\"todos\":[]}'", "A=1 TodoWrite"])
    check("native", ["todowrite {}", "TodoWrites", "TODOWRITE", "echo TodoWrite"])
    assert.strictEqual(identifyCommandType("TodoWrite {}"), "agent-shell")
    assert.strictEqual(identifyCommandType(CommandLine.parse("TodoWrite {}")), "agent-shell")
    assert.strictEqual(identifyCommandType("todowrite {}"), "native")
  })

  it("S20: skill commands of two parts are agent-shell commands", () => {
    check("agent-shell", ["skill:unknown", "skill:search", "skill:", "skill:a:"])
  })

  it("knows extension commands by their three parts", () => {
    check("extension", ["skill:pdf:extract a", "mcp:demo:echo x", "mcp:demo", "mcp:", "'mcp:my server:echo' x"])
    check("native", ["mcp", "skill", "xmcp:a:b"])
  })

  it("takes a task and every registered name for agent-shell commands", () => {
    check("agent-shell", ["task:general --prompt x", "task:", "bash echo hi", "bash", "read f", "read f | grep x"])
  })

  it("leaves everything else to the shell, quoted names among it", () => {
    check("native", ["", "# x", "ls", "write f", "\\read x", "'bash' x", "$X", "(bash x)", "A=1", "> f"])
  })
})
