import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import type { Todo } from "../../src/domain/Todo.js"
import * as TodoStore from "../../src/extension/TodoStore.js"

const todo = (content: string): Todo => ({ content, activeForm: `${content}…`, status: "pending" })
const list = (...contents: ReadonlyArray<string>): ReadonlyArray<Todo> => contents.map(todo)
const contentsOf = (state: TodoStore.TodoState): string => state.todos.map(({ content }) => content).join()

/** As a listener does it, which is no Effect. */
const now = <A, E>(effect: Effect.Effect<A, E>): A => Effect.runSync(effect)

describe("TodoStore", () => {
  it.scoped("S13: a listener is called once, at once, with the state that get returns", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const store = yield* TodoStore.make
      const heard: Array<TodoStore.TodoState> = []
      now(store.onChange((state) => heard.push(state)))
      assert.deepStrictEqual(heard, [{ todos: [], updatedAt: 1000 }])
      assert.strictEqual(heard[0], yield* store.get)

      yield* TestClock.setTime(2000)
      yield* store.update(list("a"))
      const later: Array<TodoStore.TodoState> = []
      yield* store.onChange((state) => later.push(state))
      assert.deepStrictEqual(later, [{ todos: list("a"), updatedAt: 2000 }])
      assert.strictEqual(later[0], yield* store.get)
    })
  )

  it.scoped("S14: the very same list again is told again, with a new time", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore.make
      const heard: Array<TodoStore.TodoState> = []
      yield* store.onChange((state) => heard.push(state))
      const todos = list("a", "b")
      yield* TestClock.setTime(1)
      yield* store.update(todos)
      yield* TestClock.setTime(2)
      yield* store.update(todos)
      yield* store.update((yield* store.get).todos)
      assert.deepStrictEqual(heard, [
        { todos: [], updatedAt: 0 },
        { todos, updatedAt: 1 },
        { todos, updatedAt: 2 },
        { todos, updatedAt: 2 }
      ])
    })
  )

  it.scoped("S15: who unsubscribed hears nothing more, the others do", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore.make
      const heard: Array<string> = []
      const subscribe = (name: string) => store.subscribe((state) => heard.push(`${name}:${contentsOf(state)}`))
      const listener = (state: TodoStore.TodoState) => heard.push(`twice:${contentsOf(state)}`)
      const unsubscribe = yield* subscribe("first")
      yield* subscribe("second")
      const once = yield* store.subscribe(listener)
      yield* store.subscribe(listener)
      heard.length = 0
      unsubscribe()
      unsubscribe()
      once()
      yield* store.set(list("a"))
      assert.deepStrictEqual(heard, ["second:a", "twice:a"])
    })
  )

  it.scoped("a listener that throws is logged, and the others hear all the same", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => logged.push(message))
      )
      const store = yield* TodoStore.make
      const heard: Array<string> = []
      yield* Effect.gen(function* () {
        yield* store.subscribe(() => {
          throw new Error("oh")
        })
        yield* store.subscribe((state) => heard.push(contentsOf(state)))
        yield* store.set(list("a"))
        yield* store.set(list("b"))
      }).pipe(Effect.provide(logger))
      assert.deepStrictEqual(heard, ["", "a", "b"])
      assert.deepStrictEqual(logged, Array(3).fill(["A listener to the list of tasks failed", new Error("oh")]))
    })
  )

  it.scoped("what a listener sets is there at once, and those after it hear that alone", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore.make
      const heard: Array<string> = []
      yield* store.subscribe((state) => {
        heard.push(`first:${contentsOf(state)}`)
        if (contentsOf(state) !== "a") return
        now(store.set(list("b")))
        heard.push(`now ${contentsOf(now(store.get))}`)
        now(store.set(list("c")))
      })
      yield* store.subscribe((state) => heard.push(`second:${contentsOf(state)}`))
      heard.length = 0
      yield* store.set(list("a"))
      assert.deepStrictEqual(heard, ["first:a", "first:b", "second:b", "now b", "first:c", "second:c"])

      heard.length = 0
      yield* store.subscribe((state) => {
        if (contentsOf(state) === "c") now(store.set(list("d")))
        heard.push(`third:${contentsOf(state)}`)
      })
      assert.deepStrictEqual(heard, ["first:d", "second:d", "third:d", "third:c"])
    })
  )

  it.scoped("whom a listener subscribes hears each state once, and whom it unsubscribes nothing more", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore.make
      const heard: Array<string> = []
      let unsubscribe = () => {}
      yield* store.subscribe((state) => {
        heard.push(`first:${contentsOf(state)}`)
        if (contentsOf(state) !== "a") return
        unsubscribe()
        now(store.set(list("b")))
        now(store.subscribe((inner) => heard.push(`new:${contentsOf(inner)}`)))
      })
      unsubscribe = yield* store.subscribe((state) => heard.push(`second:${contentsOf(state)}`))
      heard.length = 0
      yield* store.set(list("a"))
      yield* store.set(list("c"))
      assert.deepStrictEqual(heard, ["first:a", "first:b", "new:b", "first:c", "new:c"])
    })
  )

  it.scoped("shares nothing with its callers", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore.make
      const item = { content: "a", activeForm: "b", status: "pending" as Todo["status"], extra: 1 }
      const given = [item]
      yield* store.set(given)
      item.content = "changed"
      given.push(item)
      const { todos, updatedAt } = yield* store.get
      assert.deepStrictEqual(
        { todos, updatedAt },
        { todos: [{ content: "a", activeForm: "b", status: "pending" }], updatedAt: 0 }
      )
      assert.isFrozen(yield* store.get)
      assert.isFrozen(todos)
      assert.isFrozen(todos[0])
    })
  )

  it.scoped("changes begin with the state as it is; a slow consumer gets the latest, and nobody waits for it", () =>
    Effect.gen(function* () {
      const store = yield* TodoStore.make
      yield* store.set(list("a"))
      const seen: Array<string> = []
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = yield* store.changes.pipe(
        Stream.mapEffect((state) =>
          Effect.gen(function* () {
            seen.push(contentsOf(state))
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(go)
          })
        ),
        Stream.take(2),
        Stream.runDrain,
        Effect.fork
      )
      const quick = yield* store.changes.pipe(
        Stream.map(contentsOf),
        Stream.takeUntil((text) => text === "999"),
        Stream.runLast,
        Effect.fork
      )
      yield* Deferred.await(begun)
      for (let n = 0; n < 1000; n++) yield* store.set(list(`${n}`))
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(slow)
      assert.deepStrictEqual(seen, ["a", "999"])
      assert.deepStrictEqual((yield* Fiber.join(quick)).toJSON(), { _id: "Option", _tag: "Some", value: "999" })
    })
  )

  it.scoped("a fresh layer is a store of its own", () =>
    Effect.gen(function* () {
      const memo = yield* Layer.makeMemoMap
      const scope = yield* Effect.scope
      const one = yield* Layer.buildWithMemoMap(TodoStore.layer, memo, scope)
      const same = yield* Layer.buildWithMemoMap(TodoStore.layer, memo, scope)
      const own = yield* Layer.buildWithMemoMap(Layer.fresh(TodoStore.layer), memo, scope)
      assert.strictEqual(Context.get(one, TodoStore.TodoStore), Context.get(same, TodoStore.TodoStore))
      assert.notStrictEqual(Context.get(one, TodoStore.TodoStore), Context.get(own, TodoStore.TodoStore))
    })
  )
})
