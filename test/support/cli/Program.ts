/**
 * The command line over a scripted shell, with streams of the test's own.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { program } from "../../../src/cli/Cli.js"
import { House } from "../../../src/cli/Invocation.js"
import { Stdio } from "../../../src/cli/Stdio.js"
import type { Settings } from "../../../src/session/SessionSettings.js"
import * as TestSynapse from "../../../src/TestSynapse.js"

export interface Run {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** What the house was made with; undefined where it was not made. */
  readonly settings: Partial<Settings> | undefined
}

export const run = (
  args: ReadonlyArray<string>,
  script: TestSynapse.Script = () => ({}),
  stdin: ReadonlyArray<Uint8Array | string | Effect.Effect<string>> = []
): Effect.Effect<Run> =>
  Effect.gen(function* () {
    const written: { stdout: Array<Buffer>; stderr: Array<Buffer> } = { stdout: [], stderr: [] }
    const input = stdin[Symbol.iterator]()
    const stdio = Stdio.of({
      write: (stream, chunk) => void written[stream].push(Buffer.from(chunk)),
      read: Effect.suspend(() => {
        const { done, value } = input.next()
        // @effect-diagnostics-next-line effectSucceedWithVoid:off
        if (done === true) return Effect.succeed(undefined)
        const chunk = Effect.isEffect(value) ? value : Effect.succeed(value)
        return Effect.map(chunk, (each) => Buffer.from(each))
      }),
      hasInput: () => stdin.length > 0,
      isTerminal: () => false
    })
    let settings: Partial<Settings> | undefined
    const house = House.of({
      layer: (given) => {
        settings = given
        return TestSynapse.layer(script)
      }
    })
    const exitCode = yield* Effect.provide(
      program(args),
      Layer.mergeAll(Layer.succeed(Stdio, stdio), Layer.succeed(House, house), NodeContext.layer)
    )
    const text = (stream: "stdout" | "stderr") => Buffer.concat(written[stream]).toString()
    return { exitCode, stdout: text("stdout"), stderr: text("stderr"), settings }
  })
