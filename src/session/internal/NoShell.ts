/** The error of a command for which there is no shell. */
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../domain/CommandError.js"

/** Makes the error. */
export const make = (reason: string): ExecutionFailed =>
  new ExecutionFailed({ kind: "shell", reason: `no shell: ${reason}` })

/** Makes the error from what was thrown. */
export const fromUnknown = (error: unknown): ExecutionFailed =>
  make(error instanceof Error ? error.message : String(error))

/** Runs what a shell needs in order to run; fails with the error where it throws or rejects. */
export const attempt = <A>(run: () => A | Promise<A>): Effect.Effect<A, ExecutionFailed> =>
  Effect.tryPromise({ try: async () => run(), catch: fromUnknown })
