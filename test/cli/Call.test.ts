import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { run } from "../support/cli/Program.js"
import { told } from "../support/Told.js"

const call = (id: unknown, command: string) =>
  JSON.stringify({ id, name: "Bash", arguments: JSON.stringify({ command }) })

/** The answers, each with what the tests look at. */
const answers = (stdout: string) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .map(({ extras, message, output, toolCallId }) => ({ toolCallId, output, message, exitCode: extras.exitCode }))

/** A task for a sub-agent, which keeps no later call waiting. */
const task = "task:general --description d --prompt p"

const echo = (command: string) => ({ stdout: command })

const ids = (stdout: string) => answers(stdout).map(({ toolCallId }) => toolCallId)

describe("synapse call", () => {
  it.effect("answers each call with a line, in the order of completion, and ends with its input", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { exitCode, stderr, stdout } = yield* run(
        ["call"],
        (command) => Effect.as(Deferred.succeed(gate, undefined), { stdout: command }),
        [`${call("1", task)}\n${call("2", "fast")}\n`],
        () => Effect.as(Deferred.await(gate), "slow")
      )
      assert.deepStrictEqual({ exitCode, stderr, ids: ids(stdout) }, { exitCode: 0, stderr: "", ids: ["2", "1"] })
      assert.deepStrictEqual(JSON.parse(stdout.split("\n")[0] ?? ""), {
        toolCallId: "2",
        isError: false,
        output: "fast",
        message: "Command executed successfully.",
        extras: { exitCode: 0, stdout: "fast", stderr: "" }
      })
    })
  )

  it.effect("takes many calls at once, reads no more than about 64 MiB ahead, and answers them all", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      let running = 0
      let most = 0
      // With what a call takes itself, a thousand of these are 64 MiB.
      const padded = (id: string) => call(id.padEnd(48 * 1024), task)
      const { stdout } = yield* run(
        ["call"],
        echo,
        Array.from({ length: 25 }, (_, chunk) =>
          Array.from({ length: 50 }, (_, at) => `${padded(`${chunk}-${at}`)}\n`).join("")
        ),
        () => {
          most = Math.max(most, ++running)
          const opened =
            running === 1000
              ? Effect.zipRight(Effect.repeatN(turn, 20), Deferred.succeed(gate, undefined))
              : Effect.void
          return Effect.zipRight(opened, Deferred.await(gate)).pipe(
            Effect.tap(() => Effect.sync(() => running--)),
            Effect.as("done")
          )
        }
      )
      assert.isBelow(most, 1100)
      assert.strictEqual(new Set(ids(stdout)).size, 1250)
    })
  )

  it.effect("takes lines however they are cut: CRLF, blank lines, split characters, no newline at the end", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from(`\ufeff${call("1", "é🙂")}\r\n\n  \r\n${call("2", "b")}\n${call("3", "c")}`)
      const { stdout } = yield* run(
        ["call"],
        echo,
        [...bytes].map((byte) => Uint8Array.of(byte))
      )
      assert.deepStrictEqual(
        answers(stdout).map(({ output, toolCallId }) => [toolCallId, output]),
        [
          ["1", "é🙂"],
          ["2", "b"],
          ["3", "c"]
        ]
      )
    })
  )

  it.effect("takes arguments that are an object, and a line of 10 MB", () =>
    Effect.gen(function* () {
      const long = "x".repeat(10_000_000)
      const line = `${JSON.stringify({ id: "1", name: "Bash", arguments: { command: long }, type: "function" })}\n`
      const chunks = Array.from({ length: Math.ceil(line.length / 65_536) }, (_, index) =>
        line.slice(index * 65_536, (index + 1) * 65_536)
      )
      const { stdout } = yield* run(["call"], (command) => ({ stdout: `${command.length}` }), chunks)
      assert.deepStrictEqual(
        answers(stdout).map(({ output }) => output),
        ["10000000"]
      )
    })
  )

  it.effect("answers a line that is no call with an error, and goes on", () =>
    Effect.gen(function* () {
      const form = 'A line is {"id":"1","name":"Bash","arguments":{"command":"ls"}} or {"cancel":"1"}.'
      const lines = ["{oops", "[1]", call(5, "ls"), '{"id":"7","name":"Bash"}', '{"cancel":7}', call("8", "fine")]
      const { exitCode, stdout } = yield* run(["call"], echo, [`${lines.join("\n")}\n`])
      assert.strictEqual(exitCode, 0)
      const [broken, ...others] = answers(stdout)
      assert.match(broken?.message, /^The line is not JSON: /)
      assert.include(broken?.message, form)
      assert.deepStrictEqual(others, [
        ...(
          [
            [null, "The line is no JSON object."],
            ["5", "Invalid parameters: id: Expected string, actual 5."],
            ["7", "Invalid parameters: arguments: is missing."],
            [null, "Invalid parameters: cancel: Expected string, actual 7."]
          ] as const
        ).map(([toolCallId, problem]) => {
          const message = `${problem} ${form}`
          return { toolCallId, output: message, message, exitCode: 1 }
        }),
        { toolCallId: "8", output: "fine", message: "Command executed successfully.", exitCode: 0 }
      ])
    })
  )

  it.effect("S47: cancels a call by its id, once", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      let interruptions = 0
      const hang = Effect.zipRight(
        Deferred.succeed(started, undefined),
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => interruptions++))
      )
      const { stdout } = yield* run(["call"], (command) => (command === "hang" ? hang : { stdout: command }), [
        `${call("1", "hang")}\n`,
        Effect.as(Deferred.await(started), '{"cancel":"1"}\n'),
        `${call("2", "fine")}\n`
      ])
      assert.strictEqual(interruptions, 1)
      assert.deepStrictEqual(
        answers(stdout).map(({ exitCode, toolCallId }) => [toolCallId, exitCode]),
        [
          ["1", 130],
          ["2", 0]
        ]
      )
    })
  )

  it.effect("S47: cancels a call that was on the line before", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["call"], () => Effect.never, [`${call("1", "hang")}\n{"cancel":"1"}\n`])
      assert.deepStrictEqual(
        answers(stdout).map(({ exitCode, toolCallId }) => [toolCallId, exitCode]),
        [["1", 130]]
      )
    })
  )

  it.effect("answers the cancellation of an unknown call with an error", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["call"], echo, ['{"cancel":"9"}\n', `${call("1", "a")}\n`])
      assert.deepStrictEqual(
        answers(stdout).map(({ message, toolCallId }) => [toolCallId, message]),
        [
          [null, "No call with the id 9 is running."],
          ["1", "Command executed successfully."]
        ]
      )
    })
  )

  it.effect("refuses a second call with the id of a running one, which goes on", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { stdout } = yield* run(
        ["call"],
        (command) => (command === "wait" ? Effect.as(Deferred.await(gate), { stdout: "done" }) : { stdout: command }),
        [`${call("1", "wait")}\n${call("1", "again")}\n`, Effect.as(Deferred.succeed(gate, undefined), "\n")]
      )
      assert.deepStrictEqual(
        answers(stdout).map(({ exitCode, toolCallId }) => [toolCallId, exitCode]),
        [
          ["1", 1],
          ["1", 0]
        ]
      )
    })
  )

  it.effect("leaves out with --brief what the output holds", () =>
    Effect.gen(function* () {
      const long = "x".repeat(1000)
      const { stdout } = yield* run(
        ["call", "--brief"],
        (command) =>
          command === "fail"
            ? { stdout: `${long}\n`, stderr: "no\n", exitCode: 3, stdoutFile: "/tmp/all", diagnostics: told("Said.") }
            : { stdout: command },
        [`${call("1", "hi")}\n${call("2", "fail")}\n{oops\n`]
      )
      const [first, second, third = "", ...others] = stdout
        .split("\n")
        .filter((line) => line !== "")
        .sort()
      const [broken, hi, failed] = [third, first, second].map((line) => JSON.parse(line ?? ""))
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(hi, {
        toolCallId: "1",
        isError: false,
        output: "hi",
        extras: { exitCode: 0 }
      })
      assert.deepStrictEqual(failed, {
        toolCallId: "2",
        isError: true,
        output: `${long}\nno\n[exit 3]\nSaid.`,
        message: 'Command failed. Bash(command="fail --help") shows how to use fail.',
        extras: { exitCode: 3, stdoutFile: "/tmp/all", failureCategory: "execution_error" }
      })
      // Its output is its message.
      assert.deepStrictEqual(Object.keys(broken), ["toolCallId", "isError", "output", "extras"])
    })
  )

  it.effect("has the options of exec", () =>
    Effect.gen(function* () {
      const { settings } = yield* run(["call", "--timeout", "5", "--cwd", "/tmp", "--json"])
      assert.deepStrictEqual(settings, { cwd: "/tmp", timeout: 5 })
    })
  )
})
