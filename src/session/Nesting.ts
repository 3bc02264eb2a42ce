/**
 * Refuses commands which would wait forever: a shell that calls a command of ours waits for it, so that command can't
 * run another in the same shell.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"
import { ExecutionFailed } from "../domain/CommandError.js"

/**
 * The call that this fiber is a part of: the bridge whose call it answers, or the place of a call that others wait for;
 * undefined where it is a part of none.
 */
export const current: FiberRef.FiberRef<unknown> = GlobalValue.globalValue("synapse/Nesting", () =>
  FiberRef.unsafeMake<unknown>(undefined)
)

/** Runs a call that the shell of this bridge has made, or that has this place. */
export const within =
  (commands: unknown) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locally(call, current, commands)

/** The error for a command that waits for the shell which waits for it. */
export const busy = (): ExecutionFailed =>
  new ExecutionFailed({
    kind: "shell",
    reason: "a command that the shell has called can't run another in that shell, which waits for it"
  })

/** Returns the test whether a fiber is part of a call that the shell of this bridge waits for. */
export const isWithin =
  (commands: unknown) =>
  <A, E>(fiber: Fiber.RuntimeFiber<A, E>): boolean =>
    fiber.getFiberRef(current) === commands

/**
 * Runs an effect that needs the shell of this bridge; fails with ExecutionFailed where that shell waits for this fiber.
 */
export const refuse = <A, E, R>(
  commands: unknown,
  execution: Effect.Effect<A, E, R>
): Effect.Effect<A, E | ExecutionFailed, R> =>
  Effect.withFiberRuntime(
    (fiber): Effect.Effect<A, E | ExecutionFailed, R> => (fiber.getFiberRef(current) === commands ? busy() : execution)
  )
