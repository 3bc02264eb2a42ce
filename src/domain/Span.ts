/** Adds spans on the path of every command, at no cost where no tracer is present. */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"

/** The default tracer, whose spans go nowhere. */
const native = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** The attributes of a span, which are made only where somebody traces. */
export interface Attributes<A> {
  /** The attributes that are known when the span begins. */
  readonly begun: () => Readonly<Record<string, unknown>>
  /** The attributes that the effect's value tells. */
  readonly ended: (value: A) => Readonly<Record<string, unknown>>
}

/**
 * Runs an effect in a span of that name where the fiber has another tracer than the default one, and without a span
 * otherwise.
 */
export const within =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>, attributes?: Attributes<A>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => (fiber.currentTracer === native ? self : traced(name, self, attributes)))

/** Returns an effect that this fiber is about to run, within a span as `within` does. */
export const inFiber = <A, E, R, FA, FE>(
  fiber: Fiber.RuntimeFiber<FA, FE>,
  name: string,
  self: Effect.Effect<A, E, R>,
  attributes?: Attributes<A>
): Effect.Effect<A, E, R> => (fiber.currentTracer === native ? self : traced(name, self, attributes))

const traced = <A, E, R>(name: string, self: Effect.Effect<A, E, R>, attributes: Attributes<A> | undefined) => {
  const told =
    attributes === undefined
      ? self
      : Effect.tap(self, (value) => Effect.annotateCurrentSpan({ ...attributes.ended(value) }))
  const options = { captureStackTrace: false, attributes: { ...attributes?.begun() } }
  return Effect.withSpan(told, name, options) as Effect.Effect<A, E, R>
}
