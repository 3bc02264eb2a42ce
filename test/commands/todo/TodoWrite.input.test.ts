import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ExecutionFailed } from "../../../src/domain/CommandError.js"
import type { Todo } from "../../../src/domain/Todo.js"
import { bytes, empty, made, quoting, refused, todo, write, written } from "../../support/commands/Todos.js"

describe("the input of TodoWrite", () => {
  it.effect("reads standard input where there is no argument, across its chunks", () =>
    Effect.gen(function* () {
      const todos = [todo({ content: "漢字 🎉" })]
      const shared = new Uint8Array(1)
      const stdin = Stream.fromIterable(bytes(`\ufeff${JSON.stringify({ todos })}\n`)).pipe(
        Stream.rechunk(1),
        Stream.map((byte) => shared.fill(byte))
      )
      const stdout = "Todo list updated: 0 completed, 0 in progress, 1 pending\n[ ] 漢字 🎉\n"
      assert.deepStrictEqual(yield* write({ stdin }), written(todos, stdout))
      assert.deepStrictEqual(
        yield* write({ args: ['{"todos":[]}'], stdin: Stream.dieMessage("read") }),
        written([], empty)
      )
    })
  )

  it.effect("refuses a standard input that is too large, an input that is no UTF-8, and one that fails", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* write({ args: ['{"todos":[]}\udcff'] }),
        refused("Invalid JSON format", "- input: it is no UTF-8")
      )
      assert.deepStrictEqual(
        yield* write({ stdin: Stream.forever(Stream.make(new Uint8Array(1024 ** 2).fill(0x20))) }),
        refused("Input too large: standard input has more than 1 MiB.")
      )
      assert.deepStrictEqual(
        yield* write({ stdin: Stream.make(bytes('{"todos":[]}'), Uint8Array.of(0xff)) }),
        refused("Invalid JSON format", "- input: it is no UTF-8")
      )
      const error = new ExecutionFailed({ kind: "io", reason: "gone" })
      assert.strictEqual(yield* Effect.flip(write({ stdin: Stream.fail(error) })), error)
    })
  )

  it.effect("says that JSON in several words was probably not quoted", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* write({ args: ["{todos:", "[]}"] }),
        refused("Expected one argument, got 2: the JSON was probably not quoted.", ...quoting)
      )
    })
  )

  it.effect("says how to quote where an apostrophe has ended the quotes", () =>
    Effect.gen(function* () {
      const json = JSON.stringify({ todos: [todo({ content: "Don't stop" })] })
      const matching =
        "The quotes do not match: an apostrophe within '...' ends it. In a heredoc, nothing needs quotes:"
      assert.deepStrictEqual(yield* write({ args: [`'${json}'`] }), refused(matching, ...quoting.slice(-3)))
    })
  )

  it.effect("takes JSON without quotes where it is all there is", () =>
    Effect.gen(function* () {
      const { takesBare = () => false } = (yield* Effect.scoped(made)).handler
      for (const rest of ['{"todos":[]}', "{invalid}", '{\n  "todos": []\n}\n', "{}  "]) assert.isTrue(takesBare(rest))
      for (const rest of ["", "{", "}", `'{"todos":[]}'`, '{"todos":[]} | cat', "--help", "[]"]) {
        assert.isFalse(takesBare(rest))
      }
    })
  )

  it.effect("is told the form where what was given is no JSON", () =>
    Effect.gen(function* () {
      assert.include(
        (yield* write({ args: ["list"] })).result.stderr,
        "Invalid JSON format\n- input: it is text; the whole list is expected, as JSON\nCorrect: TodoWrite '{"
      )
    })
  )

  it.effect("takes a list that stands alone, and one in a string", () =>
    Effect.gen(function* () {
      const todos = [{ content: "a", activeForm: "b", status: "pending" }] as const
      for (const text of [JSON.stringify(todos), JSON.stringify({ todos: JSON.stringify(todos) })])
        assert.deepStrictEqual((yield* write({ args: [text] })).todos, todos)
      for (const text of ['{"todos":"[1"}', '{"todos":"x"}', '{"todos":"{}"}', '"[]"'])
        assert.strictEqual((yield* write({ args: [text] })).result.exitCode, 1)
    })
  )

  it.effect("has a clear error for JSON that others pass over or break at", () =>
    Effect.gen(function* () {
      const item = '"content":"a","activeForm":"b","status":"pending"'
      const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
        [`{"todos":[],"todos":[]}`, ["Invalid JSON format", "- todos: the name stands here twice"]],
        [
          `{"todos":[{${item},"content":"c"}]}`,
          ["Invalid JSON format", "- todos[0].content: the name stands here twice"]
        ],
        [`{"todos":[],"__proto__":{"todos":[]}}`, ["Validation failed", '- input: Unrecognized key "__proto__"']],
        [`{"todos":[{${item},"__proto__":{"x":1}}]}`, ["Validation failed", '- todos.0: Unrecognized key "__proto__"']],
        [
          `{"todos":[{"content":${JSON.stringify("x".repeat(100_000))},"activeForm":"b","status":"pending"}]}`,
          ["Validation failed", "- todos.0.content: Too long: at most 200 characters, got 100000"]
        ],
        [`{"a\\nb":1,"todos":[]}`, ["Validation failed", '- input: Unrecognized key "a\\nb"']]
      ]
      for (const [json, lines] of cases) assert.deepStrictEqual(yield* write({ args: [json] }), refused(...lines))
      const broken: ReadonlyArray<readonly [string, string]> = [
        ["[".repeat(100_000), "it is no JSON: Unexpected end of JSON input"],
        [`{"todos":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "it is nested deeper than 200 levels"],
        [
          `{"todos":[],}`,
          "it is no JSON: Expected double-quoted property name in JSON at position 12 (line 1, column 13)"
        ]
      ]
      for (const [json, why] of broken) {
        assert.deepStrictEqual(
          yield* write({ args: [json] }),
          refused(
            "Invalid JSON format",
            `- input: ${why}`,
            ...(json.includes('"') && json.endsWith("}") ? [] : quoting)
          )
        )
      }
      assert.deepStrictEqual(yield* write({ args: ['\ufeff{"todos":[]}'] }), written([], empty))
      const many = JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 1])))
      const { stderr } = (yield* write({ args: [many] })).result
      assert.strictEqual(stderr.split("\n").length, 53)
      assert.include(stderr, "\n... and 9951 more problems\n")
      assert.notProperty({}, "x")
    })
  )

  const text = FastCheck.fullUnicodeString({ minLength: 1, maxLength: 50 }).filter((value) => value.trim() !== "")
  const item = FastCheck.record({
    content: text,
    activeForm: text,
    status: FastCheck.constantFrom<Array<Todo["status"]>>("pending", "completed")
  })
  const lists = FastCheck.tuple(
    FastCheck.array(item, { minLength: 1, maxLength: 50 }),
    FastCheck.option(FastCheck.nat())
  ).map(([todos, at]) =>
    todos.map((one, n) => (at !== null && n === at % todos.length ? { ...one, status: "in_progress" as const } : one))
  )
  const check = <A>(property: FastCheck.IRawProperty<A>) => FastCheck.assert(property, { numRuns: 100 })
  const runSync = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) => Effect.runSync(Effect.scoped(effect))

  it("takes any valid list from its JSON into the store, with its counts", () => {
    check(
      FastCheck.property(lists, FastCheck.nat(3), (todos, indent) => {
        const { result, todos: after } = runSync(write({ args: [JSON.stringify({ todos }, undefined, indent)] }))
        assert.deepStrictEqual(after, todos)
        const [summary, ...shown] = result.stdout.trimEnd().split("\n")
        const of = (status: string) => todos.filter((one) => one.status === status).length
        const counts = `${of("completed")} completed, ${of("in_progress")} in progress, ${of("pending")} pending`
        assert.strictEqual(summary, `Todo list updated: ${counts}`)
        assert.deepStrictEqual({ ...result, stdout: shown.length }, { stdout: todos.length, stderr: "", exitCode: 0 })
      })
    )
  })

  it("takes the content of a task without activeForm for it", () => {
    const { todos } = runSync(write({ args: ['[{"content":"Run it","status":"pending"}]'] }))
    assert.deepStrictEqual(todos, [{ content: "Run it", activeForm: "Run it", status: "pending" }])
  })

  it("leaves the store alone whatever is wrong", () => {
    const key = FastCheck.constantFrom("content", "activeForm", "status")
    const wrong = FastCheck.constantFrom<Array<unknown>>(undefined, null, "", " \n", 0, true, [], {}, "x".repeat(201))
    const broken = FastCheck.oneof(
      FastCheck.tuple(lists, FastCheck.nat(), key, wrong)
        .filter(([, , name, value]) => name !== "activeForm" || value !== undefined)
        .map(([todos, at, name, value]) =>
          JSON.stringify({ todos: todos.map((one, n) => (n === at % todos.length ? { ...one, [name]: value } : one)) })
        ),
      FastCheck.tuple(lists, FastCheck.nat(), FastCheck.anything()).map(([todos, at, value]) =>
        JSON.stringify(
          { todos: todos.map((one, n) => (n === at % todos.length ? { ...one, more: [value ?? 0] } : one)) },
          (_, v: unknown) => (typeof v === "bigint" ? 0 : v)
        )
      ),
      lists.map((todos) => JSON.stringify({ todos: [...todos, ...Array(51).fill(todos[0])] })),
      lists.map((todos) =>
        JSON.stringify({ todos: [...todos, ...Array(2).fill({ ...todos[0], status: "in_progress" })] })
      ),
      lists.map((todos) => JSON.stringify({ todos, more: 1 })),
      FastCheck.tuple(lists, FastCheck.nat()).map(([todos, at]) => {
        const json = JSON.stringify({ todos })
        return json.slice(0, at % json.length)
      }),
      FastCheck.json().filter((json) => !['{"todos":[]}', '{"todos":"[]"}', "[]"].includes(json))
    )
    check(
      FastCheck.property(broken, (json) => {
        const { result, todos } = runSync(write({ args: [json] }))
        assert.strictEqual(todos.length, 1)
        assert.deepStrictEqual(
          { ...result, stderr: "" },
          { stdout: "", stderr: "", exitCode: 1, category: "invalid_usage" }
        )
        assert.match(result.stderr, /^(?:Validation failed|Invalid JSON format|Missing JSON parameter)\n/)
      })
    )
  })
})
