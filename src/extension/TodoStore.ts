/**
 * The list of tasks of one toolset, and who wants to hear of it.
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
 * The list of tasks at one time. It is frozen, down to the last item.
 *
 * @since 0.1.0
 * @category models
 */
export interface TodoState {
  readonly todos: ReadonlyArray<Todo>
  /** When the list was set, or the store made: milliseconds since 1970. */
  readonly updatedAt: number
}

/**
 * What is called with each state of the list.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (state: TodoState) => void

/**
 * Keeps a list of tasks, and tells listeners of every change.
 *
 * @since 0.1.0
 * @category tags
 */
export class TodoStore extends Context.Tag("synapse/TodoStore")<
  TodoStore,
  {
    /** The state as it is now. */
    readonly get: Effect.Effect<TodoState>
    /** Replaces the list by a copy of this one, and tells everybody, also where it is the same as before. */
    readonly set: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
    /** The same as `set`, under the specification's name (S14). */
    readonly update: (todos: ReadonlyArray<Todo>) => Effect.Effect<void>
    /**
     * Calls the listener at once with the state as it is, then with each one that is set. Answers how to end that.
     *
     * All listeners hear all states in the order in which they were set. What a listener sets is there at once for `get`,
     * and is told when everybody has heard of the state before it. Whom a listener subscribes hears of what is set from
     * then on; whom it unsubscribes hears nothing more. What a listener throws is logged, and nobody else's concern.
     */
    readonly subscribe: (listener: Listener) => Effect.Effect<() => void>
    /** The same as `subscribe`, under the specification's name (S13). */
    readonly onChange: (listener: Listener) => Effect.Effect<() => void>
    /**
     * The state as it is, then each one that is set, until the store's scope closes. Nobody waits for a slow consumer: it
     * gets the latest state, and not those that came before that while it was busy.
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

  /** Does something that listeners may hear of, and then tells them what there is to tell: the outermost call does, for all. */
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
 * One store for whatever is built with it. A sub-agent's toolset gets one of its own by `Layer.fresh(TodoStore.layer)`: a
 * layer that is used twice in one `Effect.provide` is built once.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<TodoStore> = Layer.scoped(TodoStore, make)
