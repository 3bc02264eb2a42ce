/**
 * The `synapse` program: from its words to its exit code.
 *
 * @since 0.1.0
 */
import { isUtf8 } from "node:buffer"
import * as Fs from "node:fs"
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
    const say = (text: string) =>
      Effect.flatMap(Stdio, ({ write }) =>
        Effect.as(
          Effect.promise(async () => write("stderr", `${text}\n`)),
          ExitCode.wrongUsage
        )
      )
    const garbled = garbledWord(args)
    const plain = garbled === undefined ? PlainWords.find(args) : say(garbled)
    const read = Effect.flatMap(load, (cli) => cli.run(args))
    const running: Effect.Effect<number | undefined, never, House | Invocation | Stdio> =
      plain === undefined
        ? read
        : Effect.catchAll(
            Effect.map(plain, (code) => code ?? undefined),
            (error) => (error._tag === "WrongUsage" ? read : say(wrongSettings(error)))
          )
    return running.pipe(
      Effect.map((code) => code ?? exitCode),
      Effect.provideService(Invocation, invocation),
      Effect.provide(layerLogger)
    )
  })

/**
 * Says which word is not UTF-8: node has put other characters into it, and another command would run. The paths of
 * `synapse sandbox` are read again as the bytes that they were (`RawWord`).
 */
const garbledWord = (args: ReadonlyArray<string>): string | undefined => {
  if (args[0] === "sandbox") return undefined
  const place = args.findIndex((word) => word.includes("\ufffd")) + 1
  if (place === 0) return undefined
  try {
    if (isUtf8(Fs.readFileSync("/proc/self/cmdline"))) return undefined
  } catch {
    // Without /proc, it is not known.
    return undefined
  }
  return `Argument ${place} is not UTF-8, and nothing was run. Let the command write other bytes: $'\\xff'.`
}

/** stdout is for results. */
const layerLogger = Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.stringLogger))
