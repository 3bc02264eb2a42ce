/** Filters what commands print to a terminal. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { SafeOutput } from "../terminal/SafeOutput.js"
import type { Stdio } from "./Stdio.js"

/** Makes streams that filter bytes for a terminal. Texts come from the program itself and pass unchanged. */
export const over = (
  stdio: Context.Tag.Service<Stdio>
): Effect.Effect<Context.Tag.Service<Stdio>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const output = new SafeOutput(true)
    const screen = stdio.isTerminal("stderr") ? "stderr" : "stdout"
    yield* Effect.addFinalizer(() => Effect.promise(async () => stdio.write(screen, output.rest())))
    return {
      ...stdio,
      write: (name, chunk) =>
        stdio.write(name, typeof chunk === "string" || !stdio.isTerminal(name) ? chunk : output.take(name, chunk))
    }
  })
