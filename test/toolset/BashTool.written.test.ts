/** Calls of the tool that are written in another way than its definition says. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as TestSynapse from "../../src/TestSynapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import { notices } from "../support/Told.js"

/** A shell in which `nosuch` is not found, `slow` runs out of its time, and all else succeeds. */
const layer = TestSynapse.layer((command) => {
  if (command === "nosuch") return { exitCode: 127, notFound: "nosuch", stderr: "bash: nosuch: command not found\n" }
  return command === "slow"
    ? new ExecutionFailed({ kind: "timeout", reason: "Command execution timeout: 5 ms", stdout: "begun\n" })
    : { stdout: "done\n" }
})

const handle = (params: object) =>
  Effect.flatMap(Toolset, (toolset) => toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify(params) }))

const calls = Effect.flatMap(TestSynapse.TestShell, (shell) => shell.calls)

describe("BashTool", () => {
  it.effect("S46: refuses every other parameter that does not fit, with the right call made of what was given", () =>
    Effect.gen(function* () {
      const whole = "- timeout: must be a whole number of milliseconds from 1 to 2147483647"
      const unexpected = (name: string) =>
        `- ${name}: is unexpected, expected: "command" | "restart" | "timeout" | "yield" | "description"`
      const problems: ReadonlyArray<readonly [object, string, object]> = [
        [{ timeout: 0 }, whole, {}],
        [{ timeout: 2147483648 }, whole, {}],
        [{ timeout: 1.5 }, whole, {}],
        [{ timeout: "5s" }, '- timeout: Expected number, actual "5s"', {}],
        [{ restart: "yes" }, '- restart: Expected boolean, actual "yes"', {}],
        [{ cwd: "/a b", timeout: 5 }, unexpected("cwd"), { command: "(cd '/a b' && ls)", timeout: 5 }],
        [{ cmd: "pwd" }, unexpected("cmd"), {}],
        [{ timeout_ms: 1000, yield: 9 }, unexpected("timeout_ms"), { timeout: 1000, yield: 9 }],
        [{ a: 1, b: 2 }, unexpected("a, b"), {}],
        [{ command: ["ls", "a b"] }, '- command: Expected string, actual ["ls","a b"]', { command: "ls 'a b'" }]
      ]
      for (const [params, problem, right] of problems) {
        const { message } = yield* handle({ command: "ls", ...params })
        const use = JSON.stringify({ command: "ls", ...right })
        assert.strictEqual(message, `Invalid parameters for Bash:\n${problem}\nUse: ${use}`)
        yield* handle(JSON.parse(use))
      }
      assert.strictEqual((yield* calls).length, problems.length)
    }).pipe(Effect.provide(layer))
  )

  it.effect("S42: takes parameters that are written in another way, where only one meaning is possible", () =>
    Effect.gen(function* () {
      yield* handle({ cmd: "make", timeout: "5", restart: "False", description: null, cwd: null })
      yield* handle({ command: "make", cmd: "make", run_in_background: false })
      assert.deepStrictEqual(yield* calls, [
        { _tag: "Execute", command: "make", timeout: 5 },
        { _tag: "Execute", command: "make" }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("restarts the shell for restart alone, and says so", () =>
    Effect.gen(function* () {
      for (const params of [{ restart: true }, { restart: "true", command: null }, { restart: true, command: "" }]) {
        const { message, output } = yield* handle(params)
        assert.deepStrictEqual([message, output], ["Command executed successfully.", "done\nThe shell was restarted."])
      }
      const restarted = [{ _tag: "Restart" }, { _tag: "Execute", command: ":" }] as const
      assert.deepStrictEqual(yield* calls, [...restarted, ...restarted, ...restarted])
    }).pipe(Effect.provide(layer))
  )

  it.effect("runs a command without what surely is no part of it, and says so in one line", () =>
    Effect.gen(function* () {
      const { extras, output } = yield* handle({ command: "```bash\nmake\n```" })
      assert.strictEqual(output, "done\n(ran the command inside the Markdown fence)")
      assert.deepStrictEqual(notices(extras), ["(ran the command inside the Markdown fence)"])
      assert.strictEqual(
        (yield* handle({ command: "$ nosuch" })).output,
        'bash: nosuch: command not found\n[exit 127]\n(ran the command after the prompt "$ ")'
      )
      assert.strictEqual(
        (yield* handle({ command: '{"command":"slow"}' })).output,
        "begun\nCommand execution timeout: 5 ms. To run longer, give timeout=<ms>, or yield=0, which makes it a job.\n(ran the command inside the JSON)"
      )
      assert.deepStrictEqual(
        (yield* calls).map((call) => call._tag === "Execute" && call.command),
        ["make", "nosuch", "slow"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("S46: refuses what is no command, with the call that was meant, and runs nothing", () =>
    Effect.gen(function* () {
      const markdown = "it is Markdown, of which bash would run parts; give the command alone"
      const prompt = 'it begins with the prompt "$ ", and not all of its lines are commands'
      const name = "it is what bash runs, without the name of the tool around it"
      const forms: ReadonlyArray<readonly [string, string, string | undefined]> = [
        ["Bash(ls)", name, '{"command":"ls"}'],
        ["Bash ls -la", name, '{"command":"ls -la"}'],
        ["Bash", name, undefined],
        ["So:\n```\nls\n```", markdown, undefined],
        ["$ ls\na.txt", prompt, undefined],
        ['{"command":"ls","restart":true}', "it is JSON, not a command line", '{"command":"ls","restart":true}']
      ]
      for (const [command, reason, right] of forms) {
        const { extras, message } = yield* handle({ command })
        assert.deepStrictEqual(
          { message, category: extras.failureCategory, exitCode: extras.exitCode },
          {
            message: `Invalid parameters for Bash:\n- command: ${reason}${right === undefined ? "" : `\nUse: ${right}`}`,
            category: "invalid_usage",
            exitCode: 1
          }
        )
      }
      const { message } = yield* handle({ command: "Bash ls", timeout: 7, description: "List" })
      assert.include(message, 'Use: {"command":"ls","timeout":7,"description":"List"}')
      assert.deepStrictEqual(yield* calls, [])
      assert.strictEqual((yield* handle({ command: "Bashful x" })).output, "done\n")
    }).pipe(Effect.provide(layer))
  )

  it.effect("S32 S44: shows for arguments that are not JSON what they probably mean", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      const use = (text: string) =>
        Effect.map(
          toolset.handle({ id: "1", name: "Bash", arguments: text }),
          ({ message }) => message.split("Use: ")[1]
        )
      assert.strictEqual(yield* use("ls -la src"), '{"command":"ls -la src"}')
      assert.strictEqual(yield* use('"ls src"'), '{"command":"ls src"}')
      assert.strictEqual(yield* use('{"command":"a\n\tb"}'), '{"command":"a\\n\\tb"}')
      assert.strictEqual(yield* use('{"command":'), '{"command":"<command>"}')
      assert.strictEqual(yield* use(`echo ${"x".repeat(5000)}`), '{"command":"<command>"}')
      assert.deepStrictEqual(yield* calls, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S30 S31 S43: answers the tools of other agents with the command that does the same", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      const read = yield* toolset.handle({ id: "1", name: "Read", arguments: '{"file_path":"a b.ts","offset":3}' })
      const message = "Unknown tool: Read. There is: Bash.\nCORRECTION: Bash(command=\"read 'a b.ts' --offset 2\")"
      assert.deepStrictEqual(read, {
        toolCallId: "1",
        isError: true,
        output: message,
        message,
        extras: { exitCode: 127, failureCategory: "command_not_found", error: "CommandNotFound", toolName: "Read" }
      })
      const unknown = yield* toolset.handle({ id: "1", name: "UnknownTool", arguments: "{}" })
      assert.include(unknown.message, 'Bash(command="UnknownTool <args>")')
      assert.deepStrictEqual(yield* calls, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("S42: has its name in any case", () =>
    Effect.gen(function* () {
      const toolset = yield* Toolset
      for (const name of ["bash", "BASH", " Bash ", "functions.Bash"]) {
        assert.isFalse((yield* toolset.handle({ id: "1", name, arguments: '{"command":"make"}' })).isError)
      }
    }).pipe(Effect.provide(layer))
  )
})
