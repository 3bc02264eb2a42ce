import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { help, usageText } from "../../../src/commands/todo/TodoWrite.js"
import {
  before,
  bytes,
  empty,
  type Input,
  made,
  quoting,
  refused,
  todo,
  write,
  writeJson,
  written
} from "../../support/commands/Todos.js"

describe("TodoWrite", () => {
  it.effect("takes the list under its name alone", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* write({ args: [`todos=${JSON.stringify([todo()])}`] }),
        yield* writeJson({ todos: [todo()] })
      )
    })
  )

  it.effect("S1: without JSON, it says so and how it is used", () =>
    Effect.gen(function* () {
      const missing = refused("Missing JSON parameter", "", usageText.trimEnd())
      assert.include(missing.result.stderr, "USAGE")
      const inputs: ReadonlyArray<Input> = [
        {},
        { args: [""] },
        { args: [" \n"] },
        { stdin: Stream.empty },
        { stdin: Stream.make(bytes("\n")) }
      ]
      for (const input of inputs) assert.deepStrictEqual(yield* write(input), missing)
    })
  )

  it.effect("S2: says in the parser's words why it is no JSON, and how to quote", () =>
    Effect.gen(function* () {
      const why = "it is no JSON: Expected property name or '}' in JSON at position 1 (line 1, column 2)"
      const said = ["Invalid JSON format", `- input: ${why}`]
      assert.deepStrictEqual(yield* write({ args: ["{invalid}"] }), refused(...said, ...quoting))
      assert.deepStrictEqual(yield* write({ stdin: Stream.make(bytes("{invalid}")) }), refused(...said))
    })
  )

  it.effect("S3: a key that is missing is required", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* writeJson({ todos: [todo(), todo({ content: undefined })] }),
        refused("Validation failed", "- todos.1.content: Required")
      )
      assert.deepStrictEqual(yield* writeJson({}), refused("Validation failed", "- todos: Required"))
    })
  )

  it.effect("S4: white space alone is nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* writeJson({ todos: [todo({ activeForm: "   " })] }),
        refused("Validation failed", "- todos.0.activeForm: Must not be blank")
      )
    })
  )

  it.effect("S5: an unknown status is answered with those that there are", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* writeJson({ todos: [todo({ status: "done" })] }),
        refused("Validation failed", '- todos.0.status: Expected one of pending, in_progress, completed, got "done"')
      )
    })
  )

  it.effect("S6: an extra field of an item is refused by its name", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* writeJson({ todos: [todo({ extra: 1 })] }),
        refused("Validation failed", '- todos.0: Unrecognized key "extra"')
      )
    })
  )

  it.effect("S7: an extra field of the root is refused by its name, at the root", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* writeJson({ todos: [], foo: 1 }),
        refused("Validation failed", '- input: Unrecognized key "foo"')
      )
    })
  )

  it.effect("S8: an empty list clears the store", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* write({ args: ['{"todos":[]}'] }), written([], empty))
    })
  )

  it.effect("S9: the environment limits the number of items", () =>
    Effect.gen(function* () {
      const three = { todos: [todo(), todo(), todo()] }
      assert.deepStrictEqual(
        yield* writeJson(three, { SYNAPSE_TODO_MAX_ITEMS: "2" }),
        refused("Validation failed", "- todos: Too many items: at most 2, got 3")
      )
      assert.strictEqual((yield* writeJson(three, { SYNAPSE_TODO_MAX_ITEMS: " 3 " })).result.exitCode, 0)
    })
  )

  it.effect("S10: a limit that is no positive whole number is as if it was not set", () =>
    Effect.gen(function* () {
      const most = { todos: Array(50).fill(todo({ content: "x".repeat(200) })) }
      const tooMany = { todos: Array(51).fill(todo({ content: "x".repeat(201) })) }
      for (const value of [undefined, "0", "-1", "2.5", "1e1", "0x9", "ten", "", "9".repeat(30)]) {
        const environment: Record<string, string> =
          value === undefined ? {} : { SYNAPSE_TODO_MAX_ITEMS: value, SYNAPSE_TODO_MAX_CONTENT_LENGTH: value }
        assert.strictEqual((yield* writeJson(most, environment)).result.exitCode, 0)
        const { stderr } = (yield* writeJson(tooMany, environment)).result
        assert.match(stderr, /^Validation failed\n- todos: Too many items: at most 50, got 51\n/)
        assert.include(stderr, "- todos.0.content: Too long: at most 200 characters, got 201\n")
      }
    })
  )

  it.effect("S11: the environment limits the length of both texts", () =>
    Effect.gen(function* () {
      const limit = { SYNAPSE_TODO_MAX_CONTENT_LENGTH: "5" }
      assert.deepStrictEqual(
        yield* writeJson({ todos: [todo({ content: "123456", activeForm: "🎉🎉🎉🎉🎉" })] }, limit),
        refused("Validation failed", "- todos.0.content: Too long: at most 5 characters, got 6")
      )
      assert.deepStrictEqual(
        yield* writeJson({ todos: [todo({ content: "12345", activeForm: "1234567" })] }, limit),
        refused("Validation failed", "- todos.0.activeForm: Too long: at most 5 characters, got 7")
      )
    })
  )

  it.effect("S12: sums the list up, and shows it", () =>
    Effect.gen(function* () {
      const todos = [
        todo({ content: "Read", status: "completed" }),
        todo({ content: "Think", status: "completed" }),
        todo({ content: "Write", status: "in_progress" }),
        todo({ content: "Test" }),
        todo({ content: "Ship" }),
        todo({ content: "Rest" })
      ]
      const stdout = [
        "Todo list updated: 2 completed, 1 in progress, 3 pending",
        "[x] Read",
        "[x] Think",
        "[>] Write",
        "[ ] Test",
        "[ ] Ship",
        "[ ] Rest",
        ""
      ].join("\n")
      assert.deepStrictEqual(yield* writeJson({ todos }), written(todos, stdout))
    })
  )

  it.effect("shows each task on one line, whatever it holds, and keeps it as it is", () =>
    Effect.gen(function* () {
      const todos = [todo({ content: "a\nb\r\t\x1b[2J\x7f\u2028\u202e\ud800 \\n 👩‍👩‍👧 é" })]
      const line = "[ ] a\\nb\\r\\t\\u001b[2J\\u007f\\u2028\\u202e\\ud800 \\n 👩‍👩‍👧 é\n"
      assert.deepStrictEqual(
        yield* writeJson({ todos }),
        written(todos, `Todo list updated: 0 completed, 0 in progress, 1 pending\n${line}`)
      )
    })
  )

  it.effect("has a help that snapshots what the model sees", () =>
    Effect.gen(function* () {
      const { handler, run } = yield* made
      assert.deepStrictEqual(yield* run({ args: ["--help"] }), { stdout: help, stderr: "", exitCode: 0 })
      assert.deepStrictEqual(yield* run({ args: ["-h"] }), {
        stdout: `Usage: ${handler.usage}\n`,
        stderr: "",
        exitCode: 0
      })
      assert.match(help, /^TodoWrite - replace the list of tasks\n\nUSAGE\n {2}TodoWrite '\{"todos":\[/)
      for (const section of ["ARGUMENTS", "OPTIONS", "INPUT", "LIMITS", "EXAMPLES", "OUTPUT", "EXIT CODE"])
        assert.include(help, `\n\n${section}\n`)
      assert.isAtMost(Math.max(...help.split("\n").map((line) => line.length)), 120)
      const { hasHelp: _, run: __, takesBare: ___, ...described } = handler
      assert.deepStrictEqual(described, {
        name: "TodoWrite",
        summary: "Replaces the list of tasks: what is done, what is being done, what is still to do.",
        usage: `TodoWrite '{"todos":[{"content":"...","activeForm":"...","status":"pending|in_progress|completed"}]}'`
      })
    }).pipe(Effect.scoped)
  )

  it.effect("has a usage whose examples are right", () =>
    Effect.gen(function* () {
      const examples = usageText.match(/\{"todos".*\}/g) ?? []
      assert.strictEqual(examples.length, 2)
      for (const example of examples) assert.strictEqual((yield* write({ args: [example] })).result.exitCode, 0)
    })
  )

  it.effect("shows the list with --show, and leaves it as it is", () =>
    Effect.gen(function* () {
      const stdout = "0 completed, 1 in progress, 0 pending\n[>] Old\n"
      const { result, todos } = yield* write({ args: ["--show"], stdin: Stream.dieMessage("read") })
      assert.deepStrictEqual([result, todos], [{ stdout, stderr: "", exitCode: 0 }, before])
      const { message } = yield* Effect.flip(write({ args: ["--show", "{}"] }))
      assert.match(message, /^TodoWrite: --show stands alone\.\nUsage: /)
    })
  )
})
