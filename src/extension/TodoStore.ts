/**
 * Stores the list of tasks of one toolset, and tells listeners about changes.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Todo } from "../domain/Todo.js"

/**
 * The list of tasks at one time, deeply frozen.
 *
 * @since 0.1.0
 * @category models
 */
export interface TodoState {
  readonly todos: ReadonlyArray<Todo>
  /** When the list was set or the store was made, in milliseconds since 1970. */
  readonly updatedAt: number
}

/**
 * A function that is called with each state of the list.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (state: TodoState) => void

/**
 * Stores a list of tasks, and tells listeners about every change.
 *
 * @since 0.1.0
 * @category tags
 */
export class TodoStore extends Context.Tag("synapse/TodoStore")<
  TodoStore,
  {
    /** Returns the current state. */
    readonly get: Effect.Effect<TodoState>
    /** Replaces the list by a copy of this one, and tells all listeners even if it is unchanged. */
    readonly set: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
    /** The same as `set`. */
    readonly update: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
    /**
     * Calls the listener at once with the current state, and then with each new one. Returns a function that ends the
     * subscription.
     *
     * All listeners hear states in the order in which they were set. If a listener sets a new state, the listeners
     * after it hear only the new one. An error that a listener throws is logged and does not affect the others.
     */
    readonly subscribe: (listener: Listener) => Effect.Effect<() => void>
    /** The same as `subscribe`. */
    readonly onChange: (listener: Listener) => Effect.Effect<() => void>
    /** Emits the current state, and then each new one. A slow consumer skips to the latest state and delays nobody. */
    readonly changes: Stream.Stream<TodoState>
  }
>() {}

const stateOf = (todos: ReadonlyArray<Todo>, updatedAt: number): TodoState =>
  Object.freeze({
    todos: Object.freeze(
      todos.map(({ activeForm, content, status }) => Object.freeze({ content, activeForm, status }))
    ),
    updatedAt
  })

/**
 * Makes an empty store.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Context.Tag.Service<TodoStore>> = Effect.map(Clock.currentTimeMillis, (began) => {
  let state = stateOf([], began)
  const subscriptions = new Set<{ readonly listener: Listener }>()

  const tell = Effect.fnUntraced(function* (to: Iterable<{ readonly listener: Listener }>) {
    const told = state
    for (const subscription of [...to]) {
      if (state !== told || !subscriptions.has(subscription)) continue
      yield* Effect.try(() => subscription.listener(told)).pipe(
        Effect.catchAll(({ error }) => Effect.logWarning("A listener to the list of tasks failed", error))
      )
    }
  }, Effect.uninterruptible)

  const subscribe = (listener: Listener) =>
    Effect.suspend(() => {
      const subscription = { listener }
      subscriptions.add(subscription)
      return Effect.as(tell([subscription]), () => void subscriptions.delete(subscription))
    })

  const set = (todos: ReadonlyArray<Todo>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      state = stateOf(todos, now)
      return tell(subscriptions)
    })

  return {
    get: Effect.sync(() => state),
    set,
    update: set,
    subscribe,
    onChange: subscribe,
    changes: Stream.asyncPush(
      (emit) =>
        Effect.acquireRelease(
          subscribe((heard) => void emit.single(heard)),
          (unsubscribe) => Effect.sync(unsubscribe)
        ),
      { bufferSize: 1, strategy: "sliding" }
    )
  }
})

/**
 * A layer of a store. It is shared within one `Effect.provide`. A sub-agent's toolset gets its own store by
 * `Layer.fresh(TodoStore.layer)`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<TodoStore> = Layer.effect(TodoStore, make)
