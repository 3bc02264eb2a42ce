/**
 * Adds spans on the path of every command, at no cost where no tracer is present.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** The default tracer, whose spans go nowhere. */
const native = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/**
 * Runs an effect in a span of that name where the fiber has another tracer than the default one, and without a span
 * otherwise.
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
