import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TodoWrite from "../../../src/commands/todo/TodoWrite.js"
import * as Todo from "../../../src/domain/Todo.js"
import { write } from "../../support/commands/Todos.js"

const of = (input: unknown) => TodoWrite.of(input, Todo.defaultLimits)

describe("the call for a list of tasks that is not as it must be", () => {
  it("is made of the values given, whatever their names", () => {
    assert.strictEqual(
      of([{ content: "Run it", status: "done", id: 1 }, "Stop it"]),
      `TodoWrite '{"todos":[{"content":"Run it","activeForm":"Run it","status":"completed"},{"content":"Stop it","activeForm":"Stop it","status":"pending"}]}'`
    )
    assert.strictEqual(
      of({ plan: [{ step: "Don't stop", activeForm: "Going on", status: "in-progress" }] }),
      `TodoWrite <<'EOF'\n{"todos":[{"content":"Don't stop","activeForm":"Going on","status":"in_progress"}]}\nEOF`
    )
  })

  it("is made of a list under its name that lacks something, or has too much", () => {
    const call = `TodoWrite '{"todos":[{"content":"a","activeForm":"a","status":"completed"}]}'`
    for (const item of [
      { content: "a", status: "done" },
      { task: "a", status: "completed", id: "1", priority: "high" }
    ]) {
      assert.strictEqual(of({ todos: [item] }), call)
    }
  })

  it.effect("is told where what was given is no JSON", () =>
    Effect.gen(function* () {
      assert.include(
        (yield* write({ args: ["list"] })).result.stderr,
        "Invalid JSON format\n- input: it is text; the whole list is expected, as JSON\nCorrect: TodoWrite '{"
      )
    })
  )

  it("is not made up where the values would be refused", () => {
    for (const input of [
      [],
      [{}],
      [{ content: "a", status: "maybe" }],
      [{ content: " " }],
      [1],
      ["a", "b"].map((content) => ({ content, status: "doing" })),
      Array.from({ length: 51 }, () => "a"),
      ["a".repeat(201)],
      Array.from({ length: 50 }, () => "a".repeat(100)),
      { todos: [{ content: "a" }], merge: true },
      { todos: [{ content: "a", status: "maybe" }] },
      "a"
    ]) {
      assert.isUndefined(of(input), JSON.stringify(input).slice(0, 100))
    }
  })

  it.effect("is told with the problems", () =>
    Effect.gen(function* () {
      const { result } = yield* write({ args: ['["Run it"]'] })
      assert.match(
        result.stderr,
        /\nCorrect: TodoWrite '\{"todos":\[\{"content":"Run it","activeForm":"Run it","status":"pending"\}\]\}'\n$/
      )
    })
  )
})
