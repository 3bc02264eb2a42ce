import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Todo from "../../src/domain/Todo.js"

const todo = (fields: object = {}) => ({ content: "Run it", activeForm: "Running it", status: "pending", ...fields })

const problems = (input: unknown, limits: Partial<Todo.Limits> = {}): ReadonlyArray<string> =>
  Either.match(Todo.decode(input, { ...Todo.defaultLimits, ...limits }), {
    onLeft: (found) => found.map(({ message, path }) => `${path}: ${message}`),
    onRight: () => []
  })

describe("Todo", () => {
  it("reads a list as it is", () => {
    const todos = [todo(), todo({ status: "in_progress" }), todo({ status: "completed", content: " spaces stay " })]
    assert.deepStrictEqual(Todo.decode({ todos }), Either.right(todos as ReadonlyArray<Todo.Todo>))
    assert.deepStrictEqual(Todo.decode({ todos: [] }), Either.right([]))
  })

  it("names all problems at once, those of the list before those of its items", () => {
    assert.deepStrictEqual(
      problems(
        {
          todos: [
            { content: " \t\n", status: "done" },
            todo({ status: "in_progress", extra: 1 }),
            todo({ status: "in_progress", activeForm: "12345678901" }),
            todo()
          ],
          foo: 1
        },
        { maxItems: 3, maxContentLength: 10 }
      ),
      [
        "todos: Too many items: at most 3, got 4",
        "todos: Only one item may be in_progress, got 2",
        'input: Unrecognized key "foo"',
        "todos.0.content: Must not be blank",
        "todos.0.activeForm: Required",
        'todos.0.status: Expected one of pending, in_progress, completed, got "done"',
        'todos.1: Unrecognized key "extra"',
        "todos.2.activeForm: Too long: at most 10 characters, got 11"
      ]
    )
  })

  it("has a clear line for each wrong type", () => {
    const whole = 'input: Expected an object with the key "todos", got'
    for (const [input, got] of [
      [null, "null"],
      [undefined, "undefined"],
      [[todo()], "a list"],
      ["text", "a string"],
      [1, "a number"],
      [true, "a boolean"]
    ]) {
      assert.deepStrictEqual(problems(input), [`${whole} ${got}`])
    }
    assert.deepStrictEqual(problems({}), ["todos: Required"])
    assert.deepStrictEqual(problems({ todos: null }), ["todos: Expected a list, got null"])
    assert.deepStrictEqual(problems({ todos: "[]" }), ["todos: Expected a list, got a string"])
    assert.deepStrictEqual(problems({ todos: { length: 1 } }), ["todos: Expected a list, got an object"])
    assert.deepStrictEqual(
      problems({ todos: [null, "Run it", [], todo({ content: 1, activeForm: {}, status: null })] }),
      [
        "todos.0: Expected an object with content, activeForm and status, got null",
        "todos.1: Expected an object with content, activeForm and status, got a string",
        "todos.2: Expected an object with content, activeForm and status, got a list",
        "todos.3.content: Expected a string, got a number",
        "todos.3.activeForm: Expected a string, got an object",
        "todos.3.status: Expected one of pending, in_progress, completed, got null"
      ]
    )
  })

  it("names what stands in the list's place", () => {
    assert.deepStrictEqual(problems([todo()]), ['input: Expected an object with the key "todos", got a list'])
    assert.deepStrictEqual(problems({ tasks: [todo()] }), ['input: Unrecognized key "tasks"', "todos: Required"])
  })

  it("counts code points", () => {
    assert.deepStrictEqual(
      problems({ todos: [todo({ content: "🎉é漢", activeForm: "abc" })] }, { maxContentLength: 3 }),
      []
    )
    assert.deepStrictEqual(problems({ todos: [todo({ content: "🎉🎉", activeForm: "a" })] }, { maxContentLength: 1 }), [
      "todos.0.content: Too long: at most 1 characters, got 2"
    ])
  })

  it("takes a key of any name for what it is", () => {
    const input: unknown = JSON.parse(
      '{"todos":[{"content":"a","activeForm":"b","status":"pending","__proto__":{"x":1},"constructor":1,"":2}],"__proto__":{"todos":[]}}'
    )
    assert.deepStrictEqual(problems(input), [
      'input: Unrecognized key "__proto__"',
      'todos.0: Unrecognized key "__proto__"',
      'todos.0: Unrecognized key "constructor"',
      'todos.0: Unrecognized key ""'
    ])
    assert.deepStrictEqual(problems(JSON.parse('{"__proto__":{"todos":[]}}')), [
      'input: Unrecognized key "__proto__"',
      "todos: Required"
    ])
    assert.notProperty({}, "x")
  })

  it("repeats nothing that is too long to read, and looks at no more items than there may be", () => {
    const long = "x".repeat(1_000_000)
    const said = problems({ [long]: 1, todos: [todo({ status: long, content: long }), long, long] }, { maxItems: 2 })
    const cut = `"${"x".repeat(100)}…"`
    assert.deepStrictEqual(said, [
      "todos: Too many items: at most 2, got 3",
      `input: Unrecognized key ${cut}`,
      "todos.0.content: Too long: at most 200 characters, got 1000000",
      `todos.0.status: Expected one of pending, in_progress, completed, got ${cut}`,
      "todos.1: Expected an object with content, activeForm and status, got a string"
    ])
    assert.deepStrictEqual(problems({ todos: new Array(1_000_000).fill(null) }, { maxItems: 1 }), [
      "todos: Too many items: at most 1, got 1000000",
      "todos.0: Expected an object with content, activeForm and status, got null"
    ])
  })

  it("counts by status", () => {
    assert.deepStrictEqual(Todo.count([]), { pending: 0, in_progress: 0, completed: 0 })
    assert.deepStrictEqual(
      Todo.count([
        { content: "a", activeForm: "a", status: "completed" },
        { content: "b", activeForm: "b", status: "completed" },
        { content: "c", activeForm: "c", status: "pending" }
      ]),
      { pending: 1, in_progress: 0, completed: 2 }
    )
  })
})
