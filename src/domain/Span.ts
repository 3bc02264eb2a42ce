/** Adds tracing spans on the path of every command, at no cost without a tracer. */
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Tracer from "effect/Tracer"

/** The default tracer, which records nothing. */
const native = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** The attributes of a span, computed only if a tracer is present. */
export interface Attributes<A> {
  /** Returns the attributes known when the span begins. */
  readonly begun: () => Readonly<Record<string, unknown>>
  /** Returns the attributes that the effect's value adds. */
  readonly ended: (value: A) => Readonly<Record<string, unknown>>
}

/** Runs an effect in a span if the fiber has a tracer of its own. */
export const within =
  (name: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>, attributes?: Attributes<A>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => (fiber.currentTracer === native ? self : traced(name, self, attributes)))

/** Does the same as `within` for an effect that this fiber is about to run. */
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
