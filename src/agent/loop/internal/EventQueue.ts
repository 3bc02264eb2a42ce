/** Hands the events of a run to whoever consumes them. */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "../AgentEvent.js"

/** Takes the events of a run. Both functions wait while the consumer is far behind. */
export interface EventQueue {
  readonly emit: (event: AgentEvent) => Effect.Effect<void>
  /** Returns when the consumer asks for what follows the event. */
  readonly handOver: (event: AgentEvent) => Effect.Effect<void>
}

type Item =
  | { readonly event: AgentEvent; readonly taken?: Deferred.Deferred<void> }
  | { readonly exit: Exit.Exit<void> }

/** The most events that wait for the consumer. */
const capacity = 64

/**
 * Makes the stream of the events that a run emits. The run starts with the stream; where the stream is interrupted, or
 * nobody wants more of it, the run is interrupted, and has ended when the stream has.
 */
export const stream = (run: (events: EventQueue) => Effect.Effect<void>): Stream.Stream<AgentEvent> =>
  Stream.fromPull(
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<Item>(capacity)
      let handed: ReadonlyArray<Item> = []
      let exit: Exit.Exit<void> | undefined
      const events: EventQueue = {
        emit: (event) => Queue.offer(queue, { event }),
        handOver: (event) =>
          Effect.flatMap(Deferred.make<void>(), (taken) =>
            Effect.zipRight(Queue.offer(queue, { event, taken }), Deferred.await(taken))
          )
      }
      yield* Effect.forkScoped(
        Effect.onExit(
          Effect.suspend(() => run(events)),
          (exit) => Effect.interruptible(Queue.offer(queue, { exit }))
        )
      )
      const acknowledge = Effect.suspend(() => {
        const taken = handed.flatMap((item) => ("taken" in item && item.taken !== undefined ? [item.taken] : []))
        handed = []
        return Effect.forEach(taken, (each) => Deferred.succeed(each, undefined), { discard: true })
      })
      const ended = (exit: Exit.Exit<void>) =>
        Effect.zipRight(Effect.mapError(exit, Option.some), Effect.fail(Option.none()))
      const pull = Effect.zipRight(
        acknowledge,
        Effect.suspend(() =>
          exit !== undefined
            ? ended(exit)
            : Effect.flatMap(Queue.takeBetween(queue, 1, capacity), (items) => {
                handed = Chunk.toReadonlyArray(items)
                const events: Array<AgentEvent> = []
                for (const item of items) {
                  if ("event" in item) events.push(item.event)
                  else exit = item.exit
                }
                return exit !== undefined && events.length === 0
                  ? ended(exit)
                  : Effect.succeed(Chunk.unsafeFromArray(events))
              })
        )
      )
      return { pull }
    }).pipe(Effect.map(({ pull }) => pull))
  )
