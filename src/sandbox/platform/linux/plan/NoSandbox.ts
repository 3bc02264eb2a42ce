/** The error of a sandbox that can't be built. */
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../../../domain/CommandError.js"

/** Makes the error from a whole sentence. */
export const because = (reason: string): ExecutionFailed => new ExecutionFailed({ kind: "sandbox", reason })

const fromUnknown =
  (obstacle: string) =>
  (error: unknown): ExecutionFailed =>
    because(`no sandbox: ${obstacle}: ${error instanceof Error ? error.message : String(error)}`)

/** Runs what a sandbox needs; fails with the error where it throws. `obstacle` tells what is in the way then. */
export const attempt = <A>(obstacle: string, run: () => A): Effect.Effect<A, ExecutionFailed> =>
  Effect.try({ try: run, catch: fromUnknown(obstacle) })

/** Runs what a sandbox needs, as `attempt` does; fails where it rejects. */
export const attemptPromise = <A>(obstacle: string, run: () => Promise<A>): Effect.Effect<A, ExecutionFailed> =>
  Effect.tryPromise({ try: run, catch: fromUnknown(obstacle) })
