/**
 * Spans on the way that every command goes, at no cost where nobody traces.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** The tracer of a fiber that nobody has given another: its spans go nowhere. */
const native = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/**
 * Runs an effect in a span of that name where the fiber has a tracer of the user's, and as it is where not.
 *
 * @since 0.1.0
 * @category combinators
 */
export const within =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) =>
      fiber.currentTracer === native
        ? self
        : (Effect.withSpan(self, name, { captureStackTrace: false }) as Effect.Effect<A, E, R>)
    )
