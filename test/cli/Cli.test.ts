import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Subcommands from "../../src/cli/Subcommands.js"
import * as ToolFormat from "../../src/toolset/ToolFormat.js"
import { run } from "../support/cli/Program.js"

describe("synapse", () => {
  it.effect("shows its help on stdout where it is asked for", () =>
    Effect.gen(function* () {
      const { exitCode, settings, stderr, stdout } = yield* run(["--help"])
      assert.deepStrictEqual({ exitCode, settings, stderr }, { exitCode: 0, settings: undefined, stderr: "" })
      for (const name of ["exec", "call", "tools"]) assert.match(stdout, new RegExp(`^  ${name} {2,}[A-Z]`, "m"))
      assert.isAtMost(Math.max(...stdout.split("\n").map((line) => line.length)), 80)
      assert.notInclude(stdout, "\x1b")
    })
  )

  it.effect("shows its help on stderr where no subcommand is given", () =>
    Effect.gen(function* () {
      const asked = yield* run(["--help"])
      assert.deepStrictEqual(yield* run([]), { exitCode: 2, stdout: "", stderr: asked.stdout, settings: undefined })
    })
  )

  it.effect("shows the help of a subcommand, its version and its completions", () =>
    Effect.gen(function* () {
      const help = yield* run(["exec", "--help"])
      assert.deepStrictEqual({ ...help, stdout: "" }, { exitCode: 0, stdout: "", stderr: "", settings: undefined })
      assert.include(help.stdout, "<command>\n")
      assert.notInclude(help.stdout, "argument may be repeated")
      assert.match((yield* run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/)
      assert.include((yield* run(["--completions", "bash"])).stdout, "complete -F")
      const fixed = (yield* run(["--completions", "sh"])).stdout
      for (const word of ["complete -F", "sandbox", "--allow-read"]) assert.include(fixed, word)
    })
  )

  it.effect("refuses what it does not know with the reason and the usage", () =>
    Effect.gen(function* () {
      for (const [args, reason] of [
        [["nosuch"], 'There is no command "nosuch".'],
        [["exce", "ls"], 'There is no command "exce": did you mean synapse exec?'],
        [["\x1b[2J"], 'There is no command "\\u001b[2J".'],
        [["--bogus"], 'There is no option "--bogus" before the command.']
      ] as const) {
        assert.deepStrictEqual(yield* run(args), {
          exitCode: 2,
          stdout: "",
          stderr: `synapse: ${reason}\nHelp: synapse --help\n`,
          settings: undefined
        })
      }
      assert.strictEqual(
        (yield* run(["tools", "extra"])).stderr,
        'synapse: "extra" is one operand too many.\nUsage:\n  synapse tools [options]\nHelp: synapse tools --help\n'
      )
      assert.strictEqual((yield* run(["call", "--bogus"])).exitCode, 2)
    })
  )
})

describe("synapse tools", () => {
  it.effect("S41: prints the definitions for a model's tool list, and the commands, as JSON", () =>
    Effect.gen(function* () {
      const { exitCode, stdout } = yield* run(["tools"])
      const { commands, tools } = JSON.parse(stdout)
      assert.strictEqual(exitCode, 0)
      assert.deepStrictEqual(
        commands.map(({ name }: { name: string }) => name),
        [
          "TodoWrite",
          "bash",
          "command:search",
          "edit",
          "job:list",
          "job:output",
          "job:screen",
          "job:send",
          "job:start",
          "job:stop",
          "job:wait",
          "mcp:*",
          "read",
          "skill:*",
          "write"
        ]
      )
      assert.deepStrictEqual(commands[1], {
        name: "bash",
        usage: "bash <command>",
        summary: "Runs a command in this session; the same as the command without the word bash."
      })
      assert.deepStrictEqual(
        tools.map(({ name, parameters }: { name: string; parameters: object }) => [name, Object.keys(parameters)]),
        [["Bash", ["type", "required", "properties", "additionalProperties"]]]
      )
    })
  )

  it.effect("S41: prints what each API takes as its list of tools", () =>
    Effect.gen(function* () {
      for (const format of ToolFormat.formats) {
        const { exitCode, stderr, stdout } = yield* run(["tools", "--format", format])
        assert.deepStrictEqual([exitCode, stderr], [0, ""])
        // The description is the same in all of them, and long.
        const tools = JSON.parse(stdout, (key, value) =>
          key === "description" && typeof value === "string" ? value.slice(0, 40) : value
        )
        expect(tools).toMatchSnapshot(format)
      }
    })
  )

  it.effect("names the formats that there are", () =>
    Effect.gen(function* () {
      const { exitCode, stderr, stdout } = yield* run(["tools", "--format", "gemini"])
      assert.deepStrictEqual([exitCode, stdout], [2, ""])
      for (const format of ToolFormat.formats) assert.include(stderr, format)
    })
  )
})

describe("the table of subcommands", () => {
  it("gives each option and operand of every subcommand a sentence of help", () => {
    for (const { config, name } of Subcommands.all) {
      for (const { form } of Object.values(config)) assert.isString(form.description, `${name} ${form.name}`)
    }
  })

  it.effect("shows the help of every subcommand, with its usage", () =>
    Effect.gen(function* () {
      for (const { name } of Subcommands.all) {
        const { exitCode, stderr, stdout } = yield* run([...name.split(" "), "--help"])
        assert.deepStrictEqual([exitCode, stderr], [0, ""], name)
        assert.match(stdout, /\nUSAGE\n|^USAGE\n/, name)
        assert.include(stdout, `  ${/^(edit|read|write)$/.test(name) ? name : `synapse ${name}`}`, name)
      }
    })
  )
})
