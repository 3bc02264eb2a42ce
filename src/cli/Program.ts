/**
 * The `synapse` program: from its words to its exit code.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ExitCode from "../domain/ExitCode.js"
import { House, Invocation, type MakeHouse, wrongSettings } from "./Invocation.js"
import * as PlainWords from "./PlainWords.js"
import { layerNode, Stdio } from "./Stdio.js"

/** Loads the command line of `@effect/cli`, for words that are not plain. */
const load = Effect.promise(() => import("./Cli.js"))

/**
 * Runs the program and answers its exit code.
 *
 * @param args the words after the program's name
 * @since 0.1.0
 */
export const run = (args: ReadonlyArray<string>, house: MakeHouse): Effect.Effect<number> =>
  Effect.provide(program(args), Layer.merge(layerNode, Layer.succeed(House, { layer: house })))

/**
 * Runs the program over any streams and any house, and answers its exit code.
 *
 * @since 0.1.0
 */
export const program = (args: ReadonlyArray<string>): Effect.Effect<number, never, House | Stdio> =>
  Effect.suspend(() => {
    let exitCode: number = ExitCode.success
    const invocation = Invocation.of({
      args,
      setExitCode: (code) =>
        Effect.sync(() => {
          exitCode = code
        })
    })
    const plain = PlainWords.find(args)
    const running: Effect.Effect<number | undefined, never, House | Invocation | Stdio> =
      plain === undefined
        ? Effect.flatMap(load, (cli) => cli.run(args))
        : Effect.catchAll(Effect.as(plain, undefined), (error) =>
            Effect.flatMap(Stdio, ({ write }) =>
              Effect.as(
                Effect.promise(async () => write("stderr", `${wrongSettings(error)}\n`)),
                ExitCode.wrongUsage
              )
            )
          )
    return running.pipe(
      Effect.map((code) => code ?? exitCode),
      Effect.provideService(Invocation, invocation),
      Effect.provide(layerLogger)
    )
  })

/** stdout is for results. */
const layerLogger = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))
