import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as ExtensionName from "../../src/toolset/internal/ExtensionName.js"

const known = [
  "mcp:gh:list_issues",
  "mcp:gh:read-file",
  "mcp:fs:read_text_file",
  "mcp:a:echo",
  "mcp:b:echo",
  "skill:pdf:extract",
  "skill:list"
]

const meant = (text: string) => {
  const line = CommandLine.parse(text)
  return ExtensionName.meant(line.name, line, known)
}

describe("the extension command that was meant", () => {
  it("is found by its parts, whatever stands between them", () => {
    for (const [text, name] of [
      ["mcp gh list_issues 3", "mcp:gh:list_issues"],
      ["mcp gh new", "mcp:gh:new"],
      ["mcp list", "mcp:"],
      ["mcp", "mcp:"],
      ["gh.list_issues x", "mcp:gh:list_issues"],
      ["gh:list-issues x", "mcp:gh:list_issues"],
      ["mcp.gh.read_file", "mcp:gh:read-file"],
      ["MCP:GH:read_file", "mcp:gh:read-file"],
      ["mcp__fs__read_text_file", "mcp:fs:read_text_file"],
      ["mcp__new__tool", "mcp:new:tool"],
      ["read_text_file a", "mcp:fs:read_text_file"],
      ["pdf:extract", "skill:pdf:extract"],
      ["skills", "skill:list"],
      ["Skill pdf", "skill:load pdf"],
      ["Skill load pdf", "skill:load pdf"],
      ["skills:list", "skill:list"],
      ["sill:list", "skill:list"],
      ["skils:lst", "skill:list"],
      ["mpc:gh:list_issues 3", "mcp:gh:list_issues"],
      ["comand:search x", "command:search"]
    ] as const)
      assert.strictEqual(meant(text), name, text)
  })

  it("is none where several fit, or none does", () => {
    for (const text of ["echo2 x", "a", "x.echo", "file", "gti status", "skin:list", "tasks:list", "a:b"])
      assert.strictEqual(meant(text), undefined, text)
    assert.strictEqual(meant("echo"), undefined)
  })

  it("is told for the program skill only where a skill is surely meant", () => {
    const of = (text: string) => Option.getOrUndefined(ExtensionName.ofSkillProgram(text, ["pdf"]))
    assert.deepStrictEqual(["skill pdf", "skill load pdf", "skill list", "skill info x", "skill load"].map(of), [
      "skill:load pdf",
      "skill:load pdf",
      "skill:list",
      "skill:info x",
      "skill:list"
    ])
    assert.deepStrictEqual(
      ["skill firefox", "skill -9 pdf", "skill -KILL -u ada", "skill pdf | cat", "skill"].map(of),
      [undefined, undefined, undefined, undefined, undefined]
    )
  })

  it("is told of the form of a function", () => {
    const of = ExtensionName.ofFunctionCall
    assert.strictEqual(of(`mcp:gh:list({"a": "it's"})`), `mcp:gh:list --json '{"a": "it'\\''s"}'`)
    assert.strictEqual(of("mcp:gh:list(a=3)"), "mcp:gh:list --json '{…}'")
    assert.strictEqual(of('Skill("pdf")'), "skill:load pdf")
    assert.strictEqual(of("f() { echo; }"), undefined)
  })
})
