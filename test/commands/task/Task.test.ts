import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { CommandCall } from "../../../src/command/CommandHandler.js"
import * as Task from "../../../src/commands/task/Task.js"
import { help } from "../../../src/commands/task/Task.js"
import type { CommandError } from "../../../src/domain/CommandError.js"
import { CommandNotFound, ExecutionFailed } from "../../../src/domain/CommandError.js"
import { SubAgentManager, type SubAgentTask, type SubAgentType } from "../../../src/extension/SubAgentManager.js"
import * as TestSynapse from "../../../src/TestSynapse.js"
import { Toolset } from "../../../src/toolset/Toolset.js"

const inApp = (
  answer: (type: string, task: SubAgentTask) => string | Effect.Effect<string, CommandError>,
  use: (
    run: (command: string) => Effect.Effect<{ readonly output: string; readonly exitCode: number | undefined }>,
    asked: ReadonlyArray<readonly [string, SubAgentTask]>,
    toolset: Toolset["Type"]
  ) => Effect.Effect<unknown>
) => {
  const asked: Array<readonly [string, SubAgentTask]> = []
  const script: TestSynapse.TaskScript = (type, task) => {
    asked.push([type, task])
    return answer(type, task)
  }
  return Effect.flatMap(Toolset, (toolset) =>
    use(
      (command) =>
        Effect.map(
          toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) }),
          ({ extras: { exitCode }, output }) => ({ output, exitCode })
        ),
      asked,
      toolset
    )
  ).pipe(Effect.provide(TestSynapse.layer(undefined, { cwd: "/work", subAgents: script })))
}

describe("task:<type>", () => {
  it.effect("without a description fails before anything runs (S22)", () =>
    inApp(
      () => "never",
      (run, asked) =>
        Effect.gen(function* () {
          const { exitCode, output } = yield* run('task:general --prompt "hi"')
          assert.strictEqual(exitCode, 1)
          assert.strictEqual(
            output,
            "task:general: Invalid parameters: --description is missing.\n" +
              "Usage: task:general -d <words> -p <prompt> [--skill NAME] [--model NAME] [--max-turns N]"
          )
          for (const [line, says] of [
            ["task:general -d x", "--prompt is missing, and standard input is empty."],
            ["task:general -d x -p ''", "--prompt is empty."],
            ["task:general -d ' ' -p y", "--description is empty."],
            ["task:general -d x do this", '"this" is one word too many: quote the prompt.'],
            ["task:general -d x -p y --max-turns 0", "--max-turns must be a whole number from 1"],
            ["task:general -d x -p y --frob", "Unknown option --frob"],
            ["task:skill -d x -p y", "--skill is missing"]
          ] as const) {
            const { exitCode, output } = yield* run(line)
            assert.strictEqual(exitCode, 1, line)
            assert.include(output, "Invalid parameters: ")
            assert.include(output, says)
          }
          assert.deepStrictEqual(asked, [])
        })
    )
  )

  it.effect("has the manager execute it once, and prints its text (S23)", () =>
    inApp(
      () => "the answer",
      (run, asked) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* run('task:general --prompt "hi" --description "Test"'), {
            output: "the answer\n",
            exitCode: 0
          })
          const task = {
            prompt: "hi",
            description: "Test",
            model: undefined,
            maxTurns: undefined,
            skills: [],
            cwd: "/work"
          }
          assert.deepStrictEqual(asked, [["general", task]])
          yield* run("task:mine -d 'a\u001bb' --model p/m --max-turns 3 --skill s --skill t 'do it' <<< data")
          assert.deepStrictEqual(asked[1], [
            "mine",
            {
              ...task,
              prompt: "do it\n\n<stdin>\ndata\n</stdin>",
              description: "a\\u001bb",
              model: "p/m",
              maxTurns: 3,
              skills: ["s", "t"]
            }
          ])
          yield* run("task:mine -d x <<< data")
          assert.strictEqual(asked[2]?.[1].prompt, "data\n")
        })
    )
  )

  it.effect("that is cancelled interrupts the manager, and ends with 130 (S24)", () => {
    let interrupted = 0
    const never = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
    return inApp(
      () => never,
      (run, asked, toolset) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(run("task:general -d x -p y"))
          while (asked.length === 0) yield* Effect.yieldNow()
          assert.isTrue(yield* toolset.cancel("1"))
          const { exitCode, output } = yield* fiber
          assert.deepStrictEqual([exitCode, interrupted], [130, 1])
          assert.match(output, /interrupted/)
        })
    )
  })

  it.effect("that fails prints what it has said until then", () =>
    inApp(
      () => new ExecutionFailed({ kind: "io", reason: "The limit.", stdout: "half" }),
      (run) =>
        Effect.gen(function* () {
          const { exitCode, output } = yield* run("task:general -d x -p y")
          assert.strictEqual(exitCode, 1)
          assert.match(output, /^half\nThe limit\.\n/)
        })
    )
  )

  it.effect("has a help of lines that fit, and a list of its types", () =>
    inApp(
      () => "",
      (run) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* run("task:general --help"), { output: help, exitCode: 0 })
          for (const line of ["task:help", "task:list --help", "task:list -h"])
            assert.deepStrictEqual(yield* run(line), { output: help, exitCode: 0 })
          for (const line of help.split("\n")) assert.isAtMost(line.length, 120, line)
          assert.match(
            (yield* run("task:list")).output,
            /^task:explore \(read-only\): .*\ntask:general: .*\ntask:skill: .*\n$/
          )
        })
    )
  )
})

describe("task:* without a provider", () => {
  const types: ReadonlyArray<SubAgentType> = [
    { name: "general", description: "Works.", isReadOnly: false, source: "built in", isUsable: true }
  ]
  const manager = SubAgentManager.of({
    isOffered: false,
    types: () => types,
    look: Effect.succeed(types),
    check: (type) =>
      type === "general" ? Effect.void : new CommandNotFound({ command: `task:${type}`, reason: `no ${type}` }),
    execute: () => Effect.die("it runs nothing")
  })
  const run = (name: string, ...args: ReadonlyArray<string>) =>
    Effect.flatMap(Task.make, (handler) =>
      handler.run({ name, args, cwd: "/", stdin: undefined } as unknown as CommandCall, {})
    ).pipe(Effect.provideService(SubAgentManager, manager))

  it.effect("says of the types that they need one", () =>
    Effect.gen(function* () {
      const { stderr, stdout } = yield* run("task:list")
      assert.deepStrictEqual(
        [stdout, stderr],
        ["task:general: Works.\n", "They need a model's provider, and none was set up when this session began.\n"]
      )
    })
  )

  it.effect("names an unknown type before its parameters", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(run("task:nope", "-p", "x"))
      assert.strictEqual(message, "no nope")
      assert.strictEqual((yield* Effect.flip(run("task:nope", "-d", "x"))).message, "no nope")
      assert.match((yield* Effect.flip(run("task:general", "-p", "x"))).message, /--description is missing/)
    })
  )
})
