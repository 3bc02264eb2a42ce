/** `read <file>...`: shows text files, or a range of their lines, with line numbers. Also shows images. */
import * as Fs from "node:fs"
import * as Url from "node:url"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler, Program } from "../../command/CommandHandler.js"
import * as EncodingOption from "../../command/EncodingOption.js"
import * as Parameter from "../../command/Parameter.js"
import * as Advice from "../../domain/Advice.js"
import * as Attempt from "../../domain/Attempt.js"
import * as Collect from "../../domain/Collect.js"
import type { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Setting from "../../domain/Setting.js"
import * as Yield from "../../domain/Yield.js"
import * as Encoding from "../../files/Encoding.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileError, Files, ReadOptions } from "../../files/Files.js"
import * as FileType from "../../files/FileType.js"
import * as Newlines from "../../files/Newlines.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as VisibleFiles from "../../sandbox/VisibleFiles.js"
import * as Notebook from "./internal/Read.notebook.js"
import * as Range from "./internal/Read.range.js"
import { LineWindow } from "./internal/Read.window.js"

/** Fails with advice: how to read a file that may never end, or what the nearest existing directory holds. */
const failed = Effect.fnUntraced(function* (files: Files, error: FileError): Effect.fn.Return<never, ExecutionFailed> {
  const { kind, path, reason } = error
  if (kind === "special") {
    const advice = [Advice.line`${FileFailure.run("timeout 5 head -c 4096", path)} shows what comes of it.`]
    return yield* FileFailure.make("read", path, reason, { advice, cause: error })
  }
  let directory = FileFailure.parentOf(path)
  while (kind === "missing" && directory !== "." && directory !== "/" && !(yield* exists(files, directory)))
    directory = FileFailure.parentOf(directory)
  return yield* FileFailure.fromFileError("read", error, directory)
})

const exists = (files: Files, path: string): Effect.Effect<boolean> => Effect.isSuccess(files.mode(path))

/** Output is written in pieces of this many characters. */
const held = 128 * 1024

/** Collects the output of a call, and holds only the piece that it writes next. */
class Shown {
  /** The number of characters put out. */
  size = 0
  private last = ""
  /** The header of a file, until its first text is put out. */
  private header = ""
  private exitCode: number = ExitCode.success
  private readonly advice: Array<Advice.Advice> = []
  private readonly images: Array<CommandResult.Image> = []

  constructor(
    readonly call: Pick<CommandCall, "files" | "room" | "write">,
    readonly encoding: Encoding.Encoding | undefined,
    /** Returns those of the programs that the shell can run. */
    readonly programs: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
  ) {}

  /** Begins one of several files. Its header is put out with its first text. */
  begin(path: string): void {
    this.header = `${this.size === 0 ? "" : "\n"}==> ${FileFailure.printable(path)} <==\n`
    this.size += this.header.length
  }

  /** Drops the header of a file that shows nothing. */
  drop(): void {
    this.size -= this.header.length
    this.header = ""
  }

  put(text: string): Effect.Effect<void> {
    this.size += text.length
    this.last += this.header + text
    this.header = ""
    if (this.last.length < held) return Effect.void
    const { last } = this
    this.last = ""
    return this.call.write(Buffer.from(last))
  }

  /** Adds an image to the result, unless the output goes into a pipe or a file. */
  add(image: CommandResult.Image): void {
    if (this.call.room !== undefined) this.images.push(image)
  }

  note(line: Advice.Advice): void {
    this.advice.push(line)
  }

  /** Reports a file that could not be shown. The other files are still shown. */
  fail({ advice, reason }: ExecutionFailed | InvalidUsage): void {
    this.drop()
    this.exitCode = ExitCode.failure
    const said = new Set(this.advice.map((each) => JSON.stringify(each)))
    this.advice.push(Advice.line`${reason}`, ...advice.filter((each) => !said.has(JSON.stringify(each))))
  }

  get result(): CommandResult.CommandResult {
    const { advice, exitCode, images, last } = this
    return CommandResult.make({ stdout: last, advice, exitCode, ...(images.length === 0 ? undefined : { images }) })
  }
}

const megabyte = 1024 ** 2

/** The size of a larger file is not counted to its end, in megabytes. */
const mostCounted = 64

/** Shows an image. Fails for any other binary file and says what it is. */
const showImage = Effect.fnUntraced(function* (shown: Shown, path: string): Effect.fn.Return<void, ExecutionFailed> {
  const { bytes, size } = yield* beginning(shown.call.files, path)
  const type = FileType.of(bytes, path)
  const { mediaType, name, programs: known = [] } = type ?? { name: "binary file" }
  const nameOf = (program: string) => program.split(" ", 1)[0] ?? ""
  const there = known.length < 2 ? new Set(known.map(nameOf)) : yield* shown.programs(known.map(nameOf))
  const program = known.find((program) => there.has(nameOf(program)))
  const sized = size > mostCounted * megabyte ? `more than ${mostCounted} MiB` : `${size} bytes`
  const dimensions = mediaType === undefined ? undefined : FileType.imageSizeOf(mediaType, bytes)
  if (mediaType === undefined || dimensions === undefined) {
    const what = mediaType === undefined ? name : `${name} with a broken header`
    return yield* FileFailure.make("read", path, size === 0 ? what : `${what}, ${sized}`, {
      advice:
        program !== undefined
          ? [Advice.line`${FileFailure.run(program, path)} shows it.`]
          : known.length > 0
            ? [Advice.line`No program is there that shows it: the user can install ${nameOf(known[0] ?? "")}.`]
            : [Advice.line`${FileFailure.run("od -A d -c -N 256", path)} shows its beginning.`]
    })
  }
  const text = `${FileFailure.printable(path)}: ${name}, ${dimensions.width}x${dimensions.height}, ${sized}`
  const tooLarge =
    size > FileType.largestImage * megabyte
      ? `${FileType.largestImage} MiB`
      : Math.max(dimensions.width, dimensions.height) > FileType.largestSide
        ? `${FileType.largestSide}x${FileType.largestSide}`
        : undefined
  if (tooLarge !== undefined) return yield* shown.put(`${text}, too large to be shown (${tooLarge})\n`)
  shown.add({ path, mediaType, base64: bytes.toString("base64") })
  return yield* shown.put(`${text}\n`)
})

/**
 * Reads a file's size, and enough of its first bytes for an image. Yields nothing for a pipe, which can't be read
 * twice.
 */
const beginning = (files: Files, path: string): Effect.Effect<{ readonly bytes: Buffer; readonly size: number }> => {
  const chunks: Array<Uint8Array> = []
  return files.read(path, { regular: true }).pipe(
    Stream.runFoldWhile(
      0,
      (size) => size <= mostCounted * megabyte,
      (size, chunk) => {
        if (size <= FileType.largestImage * megabyte) chunks.push(Uint8Array.from(chunk))
        return size + chunk.length
      }
    ),
    Effect.orElseSucceed(() => 0),
    Effect.map((size) => ({ bytes: Buffer.concat(chunks), size }))
  )
}

const help = `
ARGUMENTS
  <file>       The file, from the current directory. One that begins with a dash goes after --.
  <file>:A-B   The lines A to B, both counted from 1; <file>:A- from line A on, <file>:A that line alone. A file whose
               own name ends so goes before.

OPTIONS
  --offset N   Lines to skip: --offset 2 begins with line 3. 0 by default.
  --limit N    Lines to show, 1 or more. 2000 by default; SYNAPSE_READ_DEFAULT_LIMIT sets another default.
  --encoding E The encoding of a file that is not UTF-8: latin1, gbk, shift_jis. UTF-16, what the file says of itself
               (coding: gbk), and the encoding of the locale are seen without it.

OUTPUT
  As from cat -n: the number of the line, right-aligned to 6, a tab, the line. The numbers are the file's own.
  Of several files, each has a line "==> name <==" before it.
  In a result, the lines are as many as fit; those longer than 2000 characters are cut, and end in
  "... [N more characters]" (with one character for the dots). In a pipe or a file, each line is whole.
  The CR of CRLF is left out, and invisible characters are shown as <U+200B>; standard error says so. Where lines follow
  the window, it says how many there are, and the call that shows them.
  Of a notebook (.ipynb), its cells with their outputs in short, and its images.
  Of a file that ends in .pdf and is read alone, the text of its pages; a range, --offset and --limit count pages then.
  Of a .docx or a .xlsx, the error names a program here that shows its text.
  Of an image (PNG, JPEG, GIF, WebP), its type, width, height and size; up to 5 MiB and 8000x8000, the image itself.

EXAMPLES
  read src/main.ts
  read src/main.ts:200-249
  read app.log --limit 100000 | grep -n ERROR
  read 'a name with blanks.txt' README
  for f in src/*.ts; do read "$f" --limit 5; done
  find . -name '*.json' -exec read {} \\;

  A name that a variable could have ("read host") calls bash's own read, unless it stands in a plain line (no while, no
  until) and there is no standard input to read from: "read ./host" is the file in any case. With a standard input, in a
  line that has a 'read "$f"', a name that is a file's too is refused. In scripts of other shells (dash), read is that
  shell's own.

EXIT CODE
  0. 1 where a file can not be read, is a directory, a device, a named pipe, or binary (by its first 8 KiB, or the
  window's: NUL bytes, or control characters among bytes of no UTF-8); the others are shown. 126 where the sandbox's
  policy denies it.
`

/** The most bytes read to count lines: a tenth of a second's work. */
const most = 64 * 1024 ** 2

interface Total {
  readonly lines: number
  /** False if there are more. */
  readonly isAll: boolean
}

const largestNotebook = 64 * megabyte

/** The text of a file in UTF-8, converted from the given or detected encoding. */
class Source {
  constructor(
    private readonly files: Files,
    readonly path: string,
    public encoding: Encoding.Encoding | undefined,
    private readonly local: string | undefined
  ) {}

  /** Reads the file as UTF-8. Skips `skipLines` lines at its beginning, unless the file has to be converted. */
  bytes({ skipLines = 0, ...options }: ReadOptions): Stream.Stream<Uint8Array, FileError> {
    return Stream.suspend(() => {
      // Holds bytes until the encoding can be detected. A CR at their end may be half of a CRLF.
      let head: Uint8Array | undefined = skipLines === 0 && this.encoding === undefined ? new Uint8Array() : undefined
      let convert = this.encoding === undefined ? undefined : Encoding.toUtf8(this.encoding)
      const decided = (bytes: Uint8Array): Uint8Array => {
        this.encoding = Encoding.detect(bytes, this.local)
        head = undefined
        convert = this.encoding === undefined ? undefined : Encoding.toUtf8(this.encoding)
        return convert?.(bytes) ?? bytes
      }
      const read = (chunk: Uint8Array): Uint8Array => {
        if (head === undefined) return convert?.(chunk) ?? chunk
        head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
        return head.length < Encoding.examined && !head.includes(0x0a) ? new Uint8Array() : decided(head)
      }
      const rest = Stream.suspend(() =>
        Stream.fromIterable([head && decided(head), convert?.()].filter((each) => !!each))
      )
      const file = this.files.read(this.path, { ...options, skipLines: this.skipped(skipLines) })
      return Stream.filter(Stream.concat(Stream.map(file, read), rest), (bytes) => bytes.length > 0)
    })
  }

  /**
   * Returns how many of `lines` lines `bytes` skips: none if the file is converted, because that starts at its
   * beginning.
   */
  skipped(lines: number): number {
    return this.encoding === undefined ? lines : 0
  }

  /** Detects the encoding unless it was given. Skips pipes, because reading would consume their beginning. */
  get look(): Effect.Effect<void> {
    return this.encoding === undefined
      ? Effect.ignore(Stream.runDrain(Stream.take(this.bytes({ regular: true }), 1)))
      : Effect.void
  }
}

/**
 * Counts all lines of the file, of which `known` are known. Undefined for a pipe or a file that can't be read again.
 */
const totalReadLines = (source: Source, known: number): Effect.Effect<Total | undefined> =>
  source.bytes({ regular: true, skipLines: known }).pipe(
    Stream.runFoldWhile(
      { bytes: 0, lines: source.skipped(known), isInLine: false },
      ({ bytes }) => bytes < most,
      ({ bytes, lines }, chunk) => ({
        bytes: bytes + chunk.length,
        lines: lines + Newlines.count(chunk),
        isInLine: chunk[chunk.length - 1] !== 0x0a
      })
    ),
    Effect.map(({ bytes, isInLine, lines }) => ({ lines: lines + (isInLine ? 1 : 0), isAll: bytes < most })),
    Effect.orElseSucceed(() => undefined)
  )

/** Makes an option for a number of lines. Numbers that are too large become the largest one. */
const lines = (name: string, least: number, hint = "") =>
  Parameter.option(name).pipe(
    Parameter.withPlaceholder("N"),
    Parameter.filterMap((text) => {
      const value = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : Number.NaN
      return value >= least ? Option.some(value) : Option.none()
    }, `--${name} must be a whole number from ${least}${hint}`)
  )

export const grammar = CommandGrammar.described({
  name: "read",
  summary: "Shows text files, or a window of their lines (file:72-90), with line numbers; images too.",
  usage: "read <file>... [--offset N] [--limit N]",
  more: help,
  config: {
    file: Parameter.operand("file"),
    more: Parameter.repeated(Parameter.operand("file")),
    offset: lines("offset", 0, ", counted from the beginning; tail -n N shows the last lines").pipe(
      Parameter.withDefault(0)
    ),
    limit: lines("limit", 1).pipe(Parameter.optional),
    encoding: EncodingOption.option
  }
})

/** The default of `--limit`, read from the environment at each run. Invalid values are ignored. */
const defaultLimit: Effect.Effect<number> = Setting.wholeNumber("SYNAPSE_READ_DEFAULT_LIMIT", 1).pipe(
  Effect.orElseSucceed(() => 2000)
)

/** From this offset on, the shell skips the lines before the window. */
const deep = 1000

/** The most characters of the note about a file, without its name. */
const longestNote = 100

/** Makes the handler of `read`. It reads only to the end of the window, except to count the lines that follow. */
export const make: Effect.Effect<CommandHandler> = Effect.map(Effect.serviceOption(SandboxManager), (sandbox) => {
  const around = Option.match(sandbox, {
    onNone: () => Effect.succeed(VisibleFiles.none),
    onSome: (it) => it.visibleFiles
  })
  const programs = (names: ReadonlyArray<string>) =>
    Effect.map(
      around,
      (known) =>
        // Without a sandbox, the shell's programs are not known.
        new Set(known === VisibleFiles.none ? names : known.programs((name) => names.includes(name)))
    )
  const handler = CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ encoding, file, limit, more, offset }, call) {
      const files = [file, ...more]
      const meant = Range.meant(file, more)
      const isFile = yield* Effect.exists(meant === undefined ? [] : more, (path) => exists(call.files, path))
      if (meant !== undefined && !isFile && (yield* exists(call.files, file))) {
        const advice = [Advice.line`The lines of a file: ${FileFailure.run("read", meant)}.`]
        return yield* FileFailure.make("read", more[0] ?? "", "no such file", { advice })
      }
      const given = { offset, limit: Option.getOrUndefined(limit), isWritten: false }
      const shown = new Shown(call, Option.getOrUndefined(encoding), programs)
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
        shown.note(Advice.line`read: no room is left: ${again(files.slice(at), given)}`)
        break
      }
      return shown.result
    }),
    { usesFiles: true }
  )
  return {
    ...handler,
    program: ({ args }) =>
      Effect.succeed(
        Either.match(grammar.parse(args), {
          onLeft: () => undefined,
          onRight: ({ file, limit, more, offset }) =>
            more.length > 0
              ? undefined
              : pdfReader({ path: file, offset, limit: Option.getOrUndefined(limit), isWritten: false })
        })
      )
  }
})

const noteRoom = (files: ReadonlyArray<string>): number =>
  files.reduce((sum, file) => sum + longestNote + 2 * file.length, 0)

const again = (files: ReadonlyArray<string>, { limit, offset }: Pick<Range.Range, "limit" | "offset">): string =>
  [
    "read",
    ...files.map(FileFailure.toWord),
    ...(offset === 0 ? [] : [`--offset ${offset}`]),
    ...(limit === undefined ? [] : [`--limit ${limit}`])
  ].join(" ")

/**
 * Shows one file. Returns false if there was no room for a line. A file whose whole name looks like `name:range` takes
 * precedence over that range.
 *
 * @param showsOne true to show at least one line
 */
const showFile = (shown: Shown, given: Range.Range, room: number | undefined, showsOne: boolean) => {
  const written = Range.parse(given.path)
  return showRange(shown, given, room, showsOne).pipe(
    Effect.catchIf(
      (error) => written !== undefined && error._tag === "FileError" && error.kind === "missing",
      () => showRange(shown, written ?? given, room, showsOne)
    ),
    Effect.catchTag("FileError", (error) => failed(shown.call.files, error))
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
  const notebook = /\.ipynb$/i.test(path) ? yield* notebookOf(files, path) : undefined
  const source = new Source(files, path, shown.encoding, yield* Encoding.ofLocale)
  // For a window deep in a file, the shell skips the beginning.
  if (offset >= deep) yield* source.look
  const skipped = notebook !== undefined || offset < deep ? 0 : source.skipped(offset)
  const window = new LineWindow({ offset, skipped, limit: limit ?? (yield* defaultLimit), room, showsOne })
  const slices = new Yield.Slices()
  const bytes = notebook === undefined ? source.bytes({ skipLines: skipped }) : Stream.make(Buffer.from(notebook.text))
  // In effect 3.22, `runForEachWhile` keeps all chunks in memory until its end.
  yield* Stream.takeUntilEffect(bytes, (chunk) =>
    Effect.flatMap(slices.run(pushed(window, chunk)), () => {
      const text = window.take()
      return Effect.as(text === "" ? Effect.void : shown.put(text), window.isDone)
    })
  ).pipe(Stream.runDrain)
  window.end()
  if (window.isBinary) {
    yield* showImage(shown, path)
    return true
  }
  if (window.isFull && window.line === offset) return false
  yield* shown.put(window.take())
  const name = FileFailure.printable(path)
  if (window.hasInvisible) shown.note(Advice.line`read: ${name}: invisible characters are shown as <U+...>`)
  if (window.hasCarriageReturns) shown.note(Advice.line`read: ${name}: lines end in CRLF, shown without the CR`)
  if (source.encoding !== undefined) shown.note(Advice.line`read: ${name}: ${Encoding.label(source.encoding)}`)
  else if (window.letters.areForeign)
    shown.note(Advice.line`read: ${name}: not UTF-8; --encoding latin1, gbk or another shows its letters`)
  for (const { base64, mediaType } of notebook?.images ?? []) shown.add({ path, mediaType, base64 })
  const note = yield* noteOf(source, range, window, room === undefined)
  if (note !== undefined) shown.note(Advice.line`read: ${name}: ${note}`)
  return true
})

/** Reads a notebook, or returns undefined if the file is not one. */
const notebookOf = (files: Files, path: string): Effect.Effect<Notebook.Notebook | undefined, FileError> =>
  Effect.map(Collect.bytes(files.read(path, { regular: true }), largestNotebook), (bytes) =>
    bytes === undefined ? undefined : Notebook.parse(bytes.toString())
  )

/** The bytes that a window takes at once, which may all be newlines. */
const stride = 16 * 1024

function* pushed(window: LineWindow, chunk: Uint8Array): Yield.Steps<void> {
  for (let at = 0; at < chunk.length && !window.isDone; at += stride) {
    if (at > 0) yield
    window.push(chunk.subarray(at, at + stride))
  }
}

/**
 * Returns the note about what a window leaves out of a file. It goes to standard error, because standard output holds
 * the lines.
 *
 * @param isAway true if the lines go into a pipe, a file or a variable
 */
const noteOf = Effect.fnUntraced(function* (source: Source, range: Range.Range, window: LineWindow, isAway: boolean) {
  const { isWritten, limit, offset } = range
  const { hasMore, isFull, line } = window
  if (line === offset && !hasMore) {
    const total = offset === 0 ? { lines: 0 } : yield* totalReadLines(source, 0)
    if (total === undefined) return Advice.line`no line ${`${offset + 1}`}`
    return total.lines === 0 ? Advice.line`empty file` : Advice.line`only ${numbered(total.lines, "line")}`
  }
  // Everything that the range asked for was shown.
  if (!hasMore || ((isWritten || isAway) && limit !== undefined && !isFull)) return undefined
  const total = yield* totalReadLines(source, line)
  const lines = line === offset + 1 ? `line ${line}` : `lines ${offset + 1}–${line}`
  if (total === undefined) return Advice.line`${lines}, more follow`
  const next = `read ${Range.rest(range, line, isFull)}`
  const all = `${total.isAll ? "" : "more than "}${total.lines}`
  return Advice.line`${lines} of ${all}: ${next}`
})

const numbered = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/**
 * The program that shows the text of a PDF, beside the bundle or in the library. It runs as its own process with the
 * caller's rights, because the file is untrusted and the PDF library is large. Undefined if another program's bundle
 * contains Synapse.
 */
const script = Attempt.orUndefined(() =>
  ["./pdf.mjs", "../../bin/pdf.mjs"]
    .map((path) => Url.fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => Fs.existsSync(path))
)

/** Returns the program for a file whose name ends in `.pdf`. Its range counts pages. */
const pdfReader = (given: Range.Range): Program | undefined => {
  const { limit, offset, path } = Range.parse(given.path) ?? given
  if (!/\.pdf$/i.test(path)) return undefined
  const last = limit === undefined ? undefined : offset + limit
  if (script !== undefined) {
    return {
      names: [process.execPath],
      args: [script, path, `${offset + 1}`, ...(last === undefined ? [] : [`${last}`])]
    }
  }
  const pages = ["-f", `${offset + 1}`, ...(last === undefined ? [] : ["-l", `${last}`])]
  return { names: ["pdftotext"], args: ["-layout", ...pages, path.replace(/^-/, "./-"), "-"] }
}
