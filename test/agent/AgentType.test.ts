import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as AgentType from "../../src/agent/AgentType.js"
import * as FrontMatter from "../../src/extension/skill/FrontMatter.js"

const of = (text: string, file = "mine") => AgentType.ofFile(file, "project", FrontMatter.read(text))

const withFields = (...fields: ReadonlyArray<string>) => of(`---\ndescription: d\n${fields.join("\n")}\n---\nText.\n`)

describe("a type of a file", () => {
  it("is what its front matter says, with the text below it", () => {
    assert.deepStrictEqual(
      of(
        "---\nname: reviewer\ndescription: Reviews.\nmodel: p/m\nmax-turns: 7\nskills: [pdf, docx]\ncolor: red\n---\n\nBe strict.\n"
      ),
      {
        name: "reviewer",
        description: "Reviews.",
        isReadOnly: false,
        source: "project",
        instructions: "Be strict.",
        model: "p/m",
        maxTurns: 7,
        skills: ["pdf", "docx"],
        isUsable: true
      }
    )
  })

  it("only reads where its file says so in any way, and never gets more by it", () => {
    const cases: ReadonlyArray<readonly [field: string, isReadOnly: boolean]> = [
      ["readonly: true\nread-only: false", true],
      ["tools: Read, Grep, Glob", true],
      ["tools: [Read, LS]", true],
      ["tools: ''", true],
      ["tools: Read, Bash", false],
      ["tools: Bash(git diff, git log), Read", false],
      ["tools: Read, Edit", false],
      ["tools: mcp__gh__list, Read", true],
      ["disallowedTools: Bash, Edit, Write", true],
      ["disallowedTools: Edit, Write", false],
      ["permissionMode: plan", true],
      ["readOnly: true", true],
      ["read-only: maybe", true],
      ["readOnly: false", false],
      ["readOnly: false\ntools: Read", true],
      ["model: inherit", false]
    ]
    for (const [field, isReadOnly] of cases) assert.strictEqual(withFields(field).isReadOnly, isReadOnly, field)
  })

  it("says what of its file it can't use", () => {
    const cases: ReadonlyArray<readonly [field: string, problem: RegExp | undefined]> = [
      ["model: inherit", undefined],
      ["model: sonnet", /^model sonnet: the default model is used/],
      ["maxTurns: 0", /^maxTurns is no whole number from 1/],
      ["hooks: x\nfoo: y", /^ignored: hooks, foo$/],
      ["name: general", /^it can't be used: general is a name of Synapse's own/],
      ["name: list", /^it can't be used/],
      ["name: 'a b'", /^it can't be used: its name/],
      ["name: '../x'", /^it can't be used: its name/]
    ]
    for (const [field, problem] of cases) {
      const type = withFields(field)
      if (problem === undefined) assert.isUndefined(type.problem, field)
      else assert.match(type.problem ?? "", problem, field)
      assert.strictEqual(type.isUsable, problem === undefined || !/can't be used/.test(problem.source), field)
    }
  })

  it("is made of any text", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), FastCheck.string(), (head, text) => {
        const type = of(`---\n${head}\n---\n${text}`)
        assert.isTrue(!type.isUsable || /^[A-Za-z0-9][\w.+-]*$/.test(type.name))
        assert.isAtMost((type.problem ?? "").split("; ").length, 20)
      })
    )
  })
})
