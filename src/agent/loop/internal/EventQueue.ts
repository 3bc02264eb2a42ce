/** Hands the events of a run to their consumer, one at a time. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "../AgentEvent.js"

/** Emits an event, and returns when the consumer asks for the next one. */
export type Emit = (event: AgentEvent) => Effect.Effect<void>

/**
 * Makes the stream of a run's events. The run starts with the stream. If the stream ends early or is interrupted, the
 * run is interrupted and has ended before the stream has.
 */
export const stream = (run: (emit: Emit) => Effect.Effect<void>): Stream.Stream<AgentEvent> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<Stream.Stream<AgentEvent>>()
      const emit: Emit = (event) =>
        Effect.flatMap(Deferred.make<void>(), (taken) => {
          const item = Stream.concat(Stream.make(event), Stream.execute(Deferred.succeed(taken, undefined)))
          return Effect.zipRight(mailbox.offer(item), Deferred.await(taken))
        })
      yield* Effect.forkScoped(
        Mailbox.into(
          Effect.suspend(() => run(emit)),
          mailbox
        )
      )
      return Stream.flatten(Mailbox.toStream(mailbox))
    })
  )
