/**
 * Stores the list of tasks of one toolset, and tells listeners of its changes.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Todo } from "../domain/Todo.js"

/**
 * The list of tasks at one time; it is deeply frozen.
 *
 * @since 0.1.0
 * @category models
 */
export interface TodoState {
  readonly todos: ReadonlyArray<Todo>
  /** The time at which the list was set, or the store made, in milliseconds since 1970. */
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
 * Stores a list of tasks, and tells listeners of every change.
 *
 * @since 0.1.0
 * @category tags
 */
export class TodoStore extends Context.Tag("synapse/TodoStore")<
  TodoStore,
  {
    /** Returns the current state. */
    readonly get: Effect.Effect<TodoState>
    /** Replaces the list by a copy of this one, and tells all listeners, even where it is the same as before. */
    readonly set: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
    /** The same as `set`. */
    readonly update: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
    /**
     * Calls the listener at once with the current state, then with each one that is set. Returns a function which ends
     * that.
     *
     * All listeners hear all states in the order in which they were set. A state that a listener sets is the current
     * one at once, and is told when all have heard the state before it. A listener that is subscribed by another hears
     * the states set from then on; one that is unsubscribed hears nothing more. An error that a listener throws is
     * logged, and does not affect the others.
     */
    readonly subscribe: (listener: Listener) => Effect.Effect<() => void>
    /** The same as `subscribe`. */
    readonly onChange: (listener: Listener) => Effect.Effect<() => void>
    /**
     * Emits the current state, then each one that is set, until the store's scope closes. A slow consumer skips states:
     * it gets the latest one, and holds up nobody.
     */
    readonly changes: Stream.Stream<TodoState>
  }
>() {}

interface Subscription {
  readonly listener: Listener
}

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
export const make: Effect.Effect<Context.Tag.Service<TodoStore>, never, Scope.Scope> = Effect.gen(function* () {
  let state = stateOf([], yield* Clock.currentTimeMillis)
  const subscriptions = new Set<Subscription>()
  const untold: Array<{ readonly state: TodoState; readonly to: ReadonlyArray<Subscription> }> = []
  let isTelling = false

  const call = ({ listener }: Subscription, heard: TodoState, thrown: Array<unknown>) => {
    try {
      listener(heard)
    } catch (error) {
      thrown.push(error)
    }
  }

  /**
   * Makes a change and then tells the listeners; where a listener makes a change itself, the outermost call tells that
   * one too.
   */
  const telling = (first: (thrown: Array<unknown>) => void): Effect.Effect<void> => {
    const thrown: Array<unknown> = []
    const isOutermost = !isTelling
    isTelling = true
    first(thrown)
    if (isOutermost) {
      for (let next = untold.shift(); next !== undefined; next = untold.shift()) {
        for (const subscription of next.to) {
          if (subscriptions.has(subscription)) call(subscription, next.state, thrown)
        }
      }
      isTelling = false
    }
    return Effect.forEach(thrown, (error) => Effect.logWarning("A listener to the list of tasks failed", error), {
      discard: true
    })
  }

  const subscribe = (listener: Listener) =>
    Effect.suspend(() => {
      const subscription = { listener }
      subscriptions.add(subscription)
      return Effect.as(
        telling((thrown) => call(subscription, state, thrown)),
        () => {
          subscriptions.delete(subscription)
        }
      )
    })

  let isOpen = true
  const consumers = new Set<Mailbox.Mailbox<TodoState>>()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOpen = false
      for (const mailbox of consumers) mailbox.unsafeDone(Exit.void)
    })
  )

  const consume = Effect.gen(function* () {
    const mailbox = yield* Mailbox.make<TodoState>({ capacity: 1, strategy: "sliding" })
    const unsubscribe = yield* subscribe((heard) => mailbox.unsafeOffer(heard))
    consumers.add(mailbox)
    if (!isOpen) mailbox.unsafeDone(Exit.void)
    return { mailbox, unsubscribe }
  })

  const set = (todos: ReadonlyArray<Todo>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const next = stateOf(todos, now)
      return telling(() => {
        state = next
        untold.push({ state, to: [...subscriptions] })
      })
    })

  return {
    get: Effect.sync(() => state),
    set,
    update: set,
    subscribe,
    onChange: subscribe,
    changes: Stream.unwrapScoped(
      Effect.map(
        Effect.acquireRelease(consume, ({ mailbox, unsubscribe }) =>
          Effect.sync(() => {
            unsubscribe()
            consumers.delete(mailbox)
          })
        ),
        ({ mailbox }) => Mailbox.toStream(mailbox)
      )
    )
  }
})

/**
 * A layer of a store. It is shared within one `Effect.provide`; a sub-agent's toolset gets a store of its own by
 * `Layer.fresh(TodoStore.layer)`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<TodoStore> = Layer.scoped(TodoStore, make)
