/** Prints what an action of the program answers, and ends with its exit code. */
import * as Effect from "effect/Effect"
import * as ExitCode from "../domain/ExitCode.js"
import { Invocation } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

export const write = (stream: "stdout" | "stderr", text: string): Effect.Effect<void, never, Stdio> =>
  Effect.flatMap(Stdio, ({ write }) => Effect.promise(async () => write(stream, text)))

export const print = (stream: "stdout" | "stderr", text: string): Effect.Effect<void, never, Stdio> =>
  write(stream, `${text}\n`)

/** Prints the reason for a failure to stderr, and returns exit code 1. */
export const complain = (reason: string): Effect.Effect<number, never, Stdio> =>
  Effect.as(print("stderr", `synapse: ${reason}`), ExitCode.failure)

/** Sets the program's exit code to the one that an action returns. */
export const end = <E, R>(action: Effect.Effect<number, E, R>): Effect.Effect<void, E, R | Invocation> =>
  Effect.flatMap(action, (code) => Effect.flatMap(Invocation, ({ setExitCode }) => setExitCode(code)))
