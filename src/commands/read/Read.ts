/**
 * `read <file>...`: shows text files, or a window of their lines, with line numbers; and images.
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
import type { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as Slices from "../../domain/Slices.js"
import * as WholeNumber from "../../domain/WholeNumber.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileError, Files } from "../../files/Files.js"
import * as Binary from "./Read.binary.js"
import * as Failure from "./Read.failure.js"
import * as Given from "./Read.given.js"
import { help } from "./Read.help.js"
import * as Lines from "./Read.lines.js"
import * as Range from "./Read.range.js"
import { Shown } from "./Read.shown.js"
import { LineWindow } from "./Read.window.js"

/** Makes an option for a number of lines; one that is too large for a number counts as the largest one. */
const lines = (name: string, least: number, accepted = least) =>
  Parameter.option(name).pipe(
    Parameter.withPlaceholder("N"),
    Parameter.filterMap((text) => {
      const value = /^-?\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN
      return value >= accepted ? Option.some(value) : Option.none()
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
  summary: "Shows text files, or a window of their lines (file:72-90), with line numbers; images too.",
  usage: "read <file>... [--offset N] [--limit N]",
  help,
  config: {
    file: Parameter.operand("file"),
    more: Parameter.repeated(Parameter.operand("file")),
    // A negative one is refused with the call that shows the last lines.
    offset: lines("offset", 0, Number.NEGATIVE_INFINITY).pipe(Parameter.withDefault(0)),
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

/** The most characters of the note about a file, without its name. */
const longestNote = 100

/**
 * Makes the handler of `read`. It reads no further than the window goes, but to count the lines that follow, and holds
 * only the output that it writes next.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler> = Effect.sync(() => {
  const handler = CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ file, limit, more, offset }, call) {
      const files = [file, ...more]
      if (offset < 0) return yield* Failure.ofNegative(grammar, offset, files)
      const misused = yield* Failure.ofNumbers(call.files, grammar, files)
      if (misused !== undefined) return yield* misused
      const given = { offset, limit: Option.getOrUndefined(limit), isWritten: false }
      const shown = new Shown(call)
      const notes = Math.min(...(call.room === undefined ? [0] : [call.room / 2, noteRoom(files)]))
      const room = call.room === undefined ? undefined : call.room - notes
      if (more.length === 0) yield* showFile(shown, { ...given, path: file }, room, true)
      for (const [at, path] of more.length === 0 ? [] : files.entries()) {
        shown.begin(path)
        const left = room === undefined ? undefined : room - shown.size
        const isShown = yield* showFile(shown, { ...given, path }, left, at === 0).pipe(
          Effect.catchAll((error) => Effect.sync(() => shown.fail(error)))
        )
        if (isShown !== false) continue
        shown.drop()
        shown.note(Advice.line`read: no room is left: ${Advice.typed(again(files.slice(at), given))}`)
        break
      }
      return shown.result
    }),
    { usesFiles: true }
  )
  const run: CommandHandler["run"] = (call, options) => {
    const right = call.args.some((word) => word.startsWith("-")) ? Given.ofOptions(call.args) : undefined
    return right === undefined
      ? handler.run(call, options)
      : CommandGrammar.misuse(grammar, "the lines stand behind the file, or are --offset and --limit.", [[right]])
  }
  return { ...handler, run }
})

const noteRoom = (files: ReadonlyArray<string>): number =>
  files.reduce((sum, file) => sum + longestNote + 2 * file.length, 0)

/** Returns the call that shows these files. */
const again = (files: ReadonlyArray<string>, { limit, offset }: Pick<Range.Range, "limit" | "offset">): string =>
  [
    "read",
    ...files.map(FileFailure.toWord),
    ...(offset === 0 ? [] : [`--offset ${offset}`]),
    ...(limit === undefined ? [] : [`--limit ${limit}`])
  ].join(" ")

/**
 * Shows one file; returns false where there is no room for a line of it. A file whose name ends as a range does goes
 * before that range of another.
 *
 * @param showsOne true to show one line at least
 */
const showFile = (shown: Shown, given: Range.Range, room: number | undefined, showsOne: boolean) => {
  const written = Range.parse(given.path)
  return showRange(shown, given, room, showsOne).pipe(
    Effect.catchTag("FileError", (error): Effect.Effect<boolean, ExecutionFailed | InvalidUsage | FileError> => {
      if (error.kind !== "missing") return error
      const ofMissing = (otherwise: FileError) => Failure.ofMissing(shown.call.files, error, otherwise)
      if (written === undefined) return ofMissing(error)
      return Effect.catchIf(
        showRange(shown, written, room, showsOne),
        (other): other is FileError => other._tag === "FileError" && other.kind === "missing",
        ofMissing
      )
    }),
    Effect.catchTag("FileError", (error) => Failure.ofFile(error))
  )
}

const showRange = Effect.fnUntraced(function* (
  shown: Shown,
  range: Range.Range,
  room: number | undefined,
  showsOne: boolean
): Effect.fn.Return<boolean, ExecutionFailed | FileError> {
  const { files } = shown.call
  const { limit, offset, path } = range
  // For a window deep in a file, the file's reader skips the beginning, which is not examined then.
  const skipped = offset < deep ? 0 : offset
  const window = new LineWindow({ offset, skipped, limit: limit ?? (yield* defaultLimit), room, showsOne })
  const slices = new Slices.Slices()
  // Not `runForEachWhile`, which keeps all chunks in memory until its end in effect 3.22.
  yield* Stream.takeUntilEffect(files.read(path, { skipLines: skipped }), (chunk) =>
    Effect.flatMap(slices.run(pushed(window, chunk)), () => {
      const text = window.take()
      return Effect.as(text === "" ? Effect.void : shown.put(text), window.isDone)
    })
  ).pipe(Stream.runDrain)
  window.end()
  if (window.isBinary) {
    const { image, text } = yield* Binary.describe(files, path)
    yield* shown.show(text, image)
    return true
  }
  if (window.isFull && window.line === offset) return false
  yield* shown.put(window.take())
  const name = FileFailure.printable(path)
  if (window.hasInvisible) shown.note(Advice.line`read: ${name}: invisible characters are shown as <U+...>`)
  if (window.hasCarriageReturns) shown.note(Advice.line`read: ${name}: lines end in CRLF, shown without the CR`)
  const note = yield* noteOf(files, range, window, room === undefined)
  if (note !== undefined) shown.note(Advice.line`read: ${name}: ${note}`)
  return true
})

/** The number of bytes that a window takes at once: as many lines, at worst. */
const stride = 16 * 1024

function* pushed(window: LineWindow, chunk: Uint8Array): Slices.Steps<void> {
  for (let at = 0; at < chunk.length && !window.isDone; at += stride) {
    if (at > 0) yield
    window.push(chunk.subarray(at, at + stride))
  }
}

/**
 * Returns the note about what a window does not show of a file, for standard error: standard output holds the lines.
 *
 * @param isAway true where the lines go into a pipe, a file or a variable
 */
const noteOf = Effect.fnUntraced(function* (files: Files, range: Range.Range, window: LineWindow, isAway: boolean) {
  const { isWritten, limit, offset, path } = range
  const { hasMore, isFull, line } = window
  if (line === offset && !hasMore) {
    const total = offset === 0 ? { lines: 0 } : yield* Lines.total(files, path, 0)
    if (total === undefined) return Advice.line`no line ${`${offset + 1}`}`
    return total.lines === 0 ? Advice.line`empty file` : Advice.line`only ${numbered(total.lines, "line")}`
  }
  // All that a range asked for is there.
  if (!hasMore || ((isWritten || isAway) && limit !== undefined && !isFull)) return undefined
  const total = yield* Lines.total(files, path, line)
  const lines = line === offset + 1 ? `line ${line}` : `lines ${offset + 1}–${line}`
  if (total === undefined) return Advice.line`${lines}, more follow`
  const next = Advice.typed(`read ${Range.rest(range, line, isFull)}`)
  const all = `${total.isAll ? "" : "more than "}${total.lines}`
  return Advice.line`${lines} of ${all}: ${next}`
})

const numbered = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
