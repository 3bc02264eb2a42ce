/** Standard streams of the test's own, which are no terminal. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { Stdio } from "../../../src/cli/Stdio.js"

export type Input = ReadonlyArray<Uint8Array | string | Effect.Effect<string>>

/** Makes streams with this input, and tells what is written to them. */
export const make = (stdin: Input) =>
  Effect.gen(function* () {
    const written: { stdout: Array<Buffer>; stderr: Array<Buffer> } = { stdout: [], stderr: [] }
    const input = stdin[Symbol.iterator]()
    const runtime = yield* Effect.runtime<never>()
    const read = Effect.suspend(() => {
      const { done, value } = input.next()
      // @effect-diagnostics-next-line effectSucceedWithVoid:off
      if (done === true) return Effect.succeed(undefined)
      const chunk = Effect.isEffect(value) ? value : Effect.succeed(value)
      return Effect.map(chunk, (each) => Buffer.from(each))
    })
    const stdio = Stdio.of({
      write: (stream, chunk) => void written[stream].push(Buffer.from(chunk)),
      read,
      pull: () => Runtime.runPromise(runtime)(read),
      hasInput: () => stdin.length > 0,
      isTerminal: () => false
    })
    return { stdio, text: (stream: "stdout" | "stderr") => Buffer.concat(written[stream]).toString() }
  })
