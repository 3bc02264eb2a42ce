/**
 * The error of a sandbox that can't be built.
 */
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../../../domain/CommandError.js"

export const because = (reason: string): ExecutionFailed => new ExecutionFailed({ kind: "sandbox", reason })

const fromUnknown =
  (obstacle: string) =>
  (error: unknown): ExecutionFailed =>
    because(`no sandbox: ${obstacle}: ${error instanceof Error ? error.message : String(error)}`)

/** Runs a step that a sandbox needs. If it throws, fails with a message that names `obstacle`. */
export const attempt = <A>(obstacle: string, run: () => A): Effect.Effect<A, ExecutionFailed> =>
  Effect.try({ try: run, catch: fromUnknown(obstacle) })

/** Runs an asynchronous step as `attempt` does. Fails if it rejects. */
export const attemptPromise = <A>(obstacle: string, run: () => Promise<A>): Effect.Effect<A, ExecutionFailed> =>
  Effect.tryPromise({ try: run, catch: fromUnknown(obstacle) })
