import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as TestSynapse from "../../src/TestSynapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"

/** A shell in which `nosuch` is not found, `fail` fails, `slow` runs out of its time, `unready` of another's, and all else succeeds. */
const layer = TestSynapse.layer((command) => {
  if (/\bnosuch\b/.test(command))
    return { exitCode: 127, notFound: "nosuch", stderr: "bash: nosuch: command not found\n" }
  if (/\benv mcp:/.test(command)) return { exitCode: 127 }
  if (/\bslow\b/.test(command)) {
    return new ExecutionFailed({ kind: "timeout", reason: "Command execution timeout: 5 ms", stdout: "begun\n" })
  }
  if (/\bunready\b/.test(command)) {
    return new ExecutionFailed({ kind: "timeout", reason: "It was ended.", advice: [["A setting helps."]] })
  }
  if (/\bls\b/.test(command)) return { exitCode: 2 }
  if (/\bnope\b|\b127\b/.test(command)) return { exitCode: 127 }
  return { stdout: "done\n" }
})

const handle = (params: object) =>
  Effect.flatMap(Toolset, (toolset) => toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify(params) }))

const calls = Effect.flatMap(TestSynapse.TestShell, (shell) => shell.calls)

describe("BashTool", () => {
  it.effect("S41: is defined for a model's tool list", () =>
    Effect.gen(function* () {
      const [bash, ...more] = (yield* Toolset).tools
      assert.deepStrictEqual(more, [])
      expect(bash?.parameters).toMatchInlineSnapshot(`
        {
          "additionalProperties": false,
          "properties": {
            "command": {
              "description": "What bash runs: any command line or script, as you would type it.",
              "minLength": 1,
              "type": "string",
            },
            "description": {
              "description": "What the command is for, in a few words, for those who watch.",
              "type": "string",
            },
            "restart": {
              "description": "Start a new shell first: its directory, variables and jobs are gone then.",
              "type": "boolean",
            },
            "timeout": {
              "description": "Milliseconds after which the command is ended.",
              "maximum": 2147483647,
              "minimum": 1,
              "type": "integer",
            },
            "yield": {
              "description": "Milliseconds after which you get the result so far; the last program or pipeline, outside of ( ), goes on as a job. 0 makes all of it a job.",
              "maximum": 2147483647,
              "minimum": 0,
              "type": "integer",
            },
          },
          "required": [
            "command",
          ],
          "type": "object",
        }
      `)
      expect(bash?.description).toMatchInlineSnapshot(`
        "Runs a command in a persistent bash and returns its stdout and stderr, in the order they came where that can be known.

        - The shell stays: the directory, variables, functions and aliases of one command are there for the next. restart=true starts a new shell first.
        - Commands run one at a time, in the order of the calls.
        - No command can ask anything: there is no terminal, and stdin is empty. Give all input with the command: options such as -y, a pipe, a here-document.
        - There is no sandbox: commands have all rights of the user who runs them.
        - A command is ended after 120000 ms, or its own timeout. What it leaves running, behind & or as a daemon, is a job, which its result names: job:output N prints what is new, job:wait N [--for REGEX | --port P] waits for it, job:stop N ends it, job:list shows all. job:start [--pty] <command> starts one that job:send N writes to and job:screen N shows.
        - Long output is cut in the middle; a line says how much is missing and which file holds all of it.
        - A failed command is answered with its output, its exit code, and what that means where it is known.

        Commands that only this shell has; they work anywhere in a line, in pipes, loops and scripts:
        - TodoWrite '{"todos":[{"content":"...","activeForm":"...","status":"pending|in_progress|completed"}]}': Replaces the list of tasks: what is done, what is being done, what is still to do.
        - bash <command>: Runs a command in this session; the same as the command without the word bash.
        - edit <file> <old> <new> [--all] | --patch < <patch>: Replaces a text in a file: its first occurrence, or every one; or applies a patch.
        - read <file>... [--offset N] [--limit N]: Shows text files, or a window of their lines (file:72-90), with line numbers; images too.
        - write <file> <content>: Writes a file whole, new or not; without <content>, what comes on standard input.
        - More commands, of MCP servers (mcp:<server>:<tool>), of skills (skill:list; skill:load <name> prints one's instructions): command:search <words> finds them; each has --help."
      `)
    }).pipe(Effect.provide(layer))
  )

  it.effect("names the commands that users have added", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      const registry = yield* CommandRegistry.CommandRegistry
      assert.notInclude(toolset.tools[0]?.description, "greet")
      yield* registry.add({
        name: "greet",
        summary: "Greets.",
        usage: "greet <name>",
        run: () => Effect.succeed(CommandResult.make())
      })
      assert.include(toolset.tools[0]?.description, "\n- greet <name>: Greets.")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("S42: runs the command, with the timeout and after the restart that it asks for", () =>
    Effect.gen(function* () {
      yield* handle({ command: "make", restart: true, timeout: 5, description: "Build it" })
      yield* handle({ command: "make", restart: false })
      yield* handle({ command: "make", timeout: 2147483647 })
      assert.deepStrictEqual(yield* calls, [
        { _tag: "Restart" },
        { _tag: "Execute", command: "make", timeout: 5 },
        { _tag: "Execute", command: "make" },
        { _tag: "Execute", command: "make", timeout: 2147483647 }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S46: refuses a blank command, with what is missing", () =>
    Effect.gen(function* () {
      for (const params of [{}, { command: "" }, { command: " \n" }, { command: "", restart: false }]) {
        const { extras, isError, message } = yield* handle(params)
        assert.deepStrictEqual(
          { isError, message, category: extras.failureCategory },
          {
            isError: true,
            message: "Invalid parameters for Bash:\n- command: is required",
            category: "invalid_usage"
          }
        )
      }
      assert.deepStrictEqual(yield* calls, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S16: suggests the help of the real command, also behind variables", () =>
    Effect.gen(function* () {
      const failed = yield* handle({ command: "LANG=C ls /no/such" })
      assert.strictEqual(failed.message, 'Command failed. Bash(command="ls --help") shows how to use ls.')
      assert.strictEqual(failed.output, "[exit 2]")
      const missing = yield* handle({ command: "FOO=1 nosuch" })
      assert.strictEqual(
        missing.message,
        'Command failed. Bash(command="command:search nosuch") finds commands like it; Bash(command="nosuch --help") shows how to use nosuch, where there is one.'
      )
      assert.strictEqual(missing.extras.failureCategory, "command_not_found")
    }).pipe(Effect.provide(layer))
  )

  it.effect("S16: says of what bash reports with the exit code only that it is missing", () =>
    Effect.gen(function* () {
      const said = (command: string) =>
        Effect.map(handle({ command }), ({ extras, message }) => [extras.failureCategory, message])
      const missing = (name: string) =>
        `Command failed. ${name.includes("/") ? "" : `Bash(command="command:search ${name}") finds commands like it; `}Bash(command="${name} --help") shows how to use ${name}, where there is one.`
      for (const name of ["./nope", "/x/nope"]) {
        assert.deepStrictEqual(yield* said(`A=1 ${name} -x`), ["command_not_found", missing(name)])
      }
      assert.deepStrictEqual(yield* said("exec nope"), ["command_not_found", missing("nope")])
      assert.deepStrictEqual(yield* said("env nope x"), ["execution_error", missing("nope")])
      assert.deepStrictEqual(yield* said("cd x && ./nope"), ["execution_error", missing("./nope")])
      const unknown = ["execution_error", "Command failed."]
      assert.deepStrictEqual(yield* said("make && ./nope"), unknown)
      assert.deepStrictEqual(yield* said("exit 127"), unknown)
    }).pipe(Effect.provide(layer))
  )

  it.effect("says how a Synapse command runs when a program was asked for it", () =>
    Effect.gen(function* () {
      const { output } = yield* handle({ command: "cd x && env mcp:a:b '{}'" })
      assert.include(output, "programs find mcp:a:b by the PATH of this shell: keep that")
    }).pipe(Effect.provide(layer))
  )

  it.effect("S17: suggests the help of an unknown MCP command by its whole name", () =>
    Effect.gen(function* () {
      const { extras, isError, message } = yield* handle({ command: "mcp:nonexistent:tool" })
      assert.deepStrictEqual(
        { isError, exitCode: extras.exitCode, category: extras.failureCategory },
        { isError: true, exitCode: 127, category: "command_not_found" }
      )
      assert.include(message, 'Bash(command="mcp:nonexistent:tool --help")')
    }).pipe(Effect.provide(layer))
  )

  it.effect("S18: gives no advice with a success", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* handle({ command: "true" }), {
        toolCallId: "1",
        isError: false,
        output: "done\n",
        message: "Command executed successfully.",
        extras: { exitCode: 0, stdout: "done\n", stderr: "" }
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("S35: a misuse of a command is invalid usage", () =>
    Effect.gen(function* () {
      const { extras, message, output } = yield* handle({ command: "bash" })
      assert.include(output, "Usage: bash <command>")
      assert.strictEqual(message, 'Command failed. Bash(command="bash --help") shows more.')
      assert.deepStrictEqual(
        { exitCode: extras.exitCode, category: extras.failureCategory },
        { exitCode: 1, category: "invalid_usage" }
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers a timeout with 124 and the output so far", () =>
    Effect.gen(function* () {
      const { extras, output } = yield* handle({ command: "slow" })
      assert.strictEqual(
        output,
        "begun\nCommand execution timeout: 5 ms. To run longer, give timeout=<ms>, or yield=0, which makes it a job."
      )
      const late = yield* handle({ command: "slow", yield: 1 })
      assert.include(late.output, "5 ms. yield takes only the last program or pipeline of a line, outside of ( ): ")
      assert.strictEqual(extras.exitCode, 124)
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )

  it.effect("says of a time that is not the tool's own only what its error says", () =>
    Effect.gen(function* () {
      const { message, output } = yield* handle({ command: "unready" })
      assert.deepStrictEqual([output, message], ["It was ended.\nA setting helps.", "Command timed out."])
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
})
