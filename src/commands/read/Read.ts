/**
 * `read <file>`: shows a window of a text file, with line numbers.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import * as Advice from "../../domain/Advice.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as Slices from "../../domain/Slices.js"
import * as WholeNumber from "../../domain/WholeNumber.js"
import * as FileFailure from "../../files/FileFailure.js"
import { help } from "./Read.help.js"
import { LineWindow } from "./Read.window.js"

/** Makes an option for a number of lines; one that is too large for a number counts as the largest one. */
const lines = (name: string, least: number) =>
  Parameter.option(name).pipe(
    Parameter.withPlaceholder("N"),
    Parameter.filterMap((text) => {
      const value = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN
      return value >= least ? Option.some(value) : Option.none()
    }, `--${name} must be a whole number from ${least}`)
  )

/**
 * The grammar of `read`.
 *
 * @since 0.1.0
 * @category grammar
 */
export const grammar = CommandGrammar.make({
  name: "read",
  summary: "Shows a text file, or a window of its lines, with line numbers.",
  usage: "read <file> [--offset N] [--limit N]",
  help,
  config: {
    file: Parameter.operand("file"),
    offset: lines("offset", 0).pipe(Parameter.withDefault(0)),
    limit: lines("limit", 1).pipe(Parameter.optional)
  }
})

/**
 * The default of `--limit`, read from the environment at each run; a variable that is no positive whole number is
 * ignored.
 */
const defaultLimit: Effect.Effect<number> = WholeNumber.config("SYNAPSE_READ_DEFAULT_LIMIT", 1).pipe(
  Effect.orElseSucceed(() => 2000)
)

/** The offset from which the file's reader skips the lines before the window. */
const deep = 1000

/** The number of characters of output that are collected before they are written. */
const held = 128 * 1024

/**
 * Makes the handler of `read`. It reads no further than the window goes, and holds only the output that it writes next.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler> = Effect.succeed(
  CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ file, limit, offset }, { files, write }) {
      // For a window deep in a file, the file's reader skips the beginning, which is not examined then.
      const skipLines = offset < deep ? 0 : offset
      const window = new LineWindow(offset, skipLines, Option.isSome(limit) ? limit.value : yield* defaultLimit)
      const slices = new Slices.Slices()
      // Not `runForEachWhile`, which keeps all chunks in memory until its end in effect 3.22.
      yield* Stream.takeUntilEffect(files.read(file, { skipLines }), (chunk) =>
        Effect.flatMap(slices.run(pushed(window, chunk)), () => {
          if (window.binary !== undefined) return Effect.fail(notText(file, window.binary))
          if (window.size < held) return Effect.succeed(window.isDone)
          return Effect.as(write(Buffer.from(window.take())), window.isDone)
        })
      ).pipe(
        Stream.runDrain,
        Effect.catchTag("FileError", (error) => FileFailure.fromFileError("read", error))
      )
      window.end()
      return CommandResult.make({ stdout: window.take(), advice: notes(file, window, Option.getOrUndefined(limit)) })
    }),
    { usesFiles: true }
  )
)

/** The number of bytes that a window takes at once: as many lines, at worst. */
const stride = 16 * 1024

function* pushed(window: LineWindow, chunk: Uint8Array): Slices.Steps<void> {
  for (let at = 0; at < chunk.length && !window.isDone; at += stride) {
    if (at > 0) yield
    window.push(chunk.subarray(at, at + stride))
  }
}

const notText = (file: string, kind: "binary" | "utf-16") => {
  const run = (program: string) => FileFailure.run(program, file)
  return kind === "utf-16"
    ? FileFailure.make("read", file, "UTF-16 text", {
        advice: [Advice.line`${run("iconv -f UTF-16 -t UTF-8")} shows it.`]
      })
    : FileFailure.make("read", file, "binary file: it has NUL bytes", {
        advice: [Advice.line`${run("ls -lh")} shows its size, ${run("od -A d -c -N 256")} its beginning.`]
      })
}

/**
 * Returns notes about what the window does not show, for standard error: standard output holds the lines and nothing
 * else.
 */
const notes = (file: string, window: LineWindow, limit: number | undefined): ReadonlyArray<Advice.Advice> => {
  const name = FileFailure.printable(file)
  const next = `read ${FileFailure.toWord(file)} --offset ${window.line}${limit === undefined ? "" : ` --limit ${limit}`}`
  return [
    ...(window.hasCarriageReturns ? [Advice.line`read: ${name}: lines end in CRLF, shown without the CR`] : []),
    ...(window.hasMore
      ? [Advice.line`read: ${name}: more lines follow line ${`${window.line}`}: ${Advice.typed(next)}`]
      : [])
  ]
}
