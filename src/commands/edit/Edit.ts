/** `edit <file> <old> <new>` replaces text in a file, byte for byte. `edit --patch` applies a patch. */
import { isUtf8 } from "node:buffer"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as ShellText from "../../bash/ShellText.js"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler } from "../../command/CommandHandler.js"
import * as EncodingOption from "../../command/EncodingOption.js"
import * as Parameter from "../../command/Parameter.js"
import * as Attempt from "../../domain/Attempt.js"
import * as BinaryText from "../../domain/BinaryText.js"
import * as Collect from "../../domain/Collect.js"
import { type CommandError, type ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Yield from "../../domain/Yield.js"
import * as Encoding from "../../files/Encoding.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileError } from "../../files/Files.js"
import * as FileType from "../../files/FileType.js"
import * as Newlines from "../../files/Newlines.js"
import * as Alike from "./internal/Edit.alike.js"
import * as Matches from "./internal/Edit.matches.js"
import * as Nearest from "./internal/Edit.nearest.js"
import * as Patch from "./internal/Edit.patch.js"

/** The bytes around a match that a diff may show. */
const margin = 2000

const most = 3
/** The most characters shown of a line, and how many of them precede the first difference. */
const longest = 160
const lead = 40

/** Tests whether the line of a match ends in CRLF. For a match on the last line, tests the line before it. */
const isInCrlf = (bytes: Uint8Array, start: number, end: number): boolean => {
  const next = bytes.indexOf(0x0a, end)
  const at = next < 0 ? bytes.subarray(0, start).lastIndexOf(0x0a) : next
  return at > 0 && bytes[at - 1] === 0x0d
}

/**
 * Writes the diff: a line of context if there is room, the removed lines and the added ones. If there are more than
 * three lines, the last one tells how many are left out.
 *
 * @param all true if all matches are replaced, including others on the last line
 */
const diff = (bytes: Buffer, start: number, old: Uint8Array, replacement: Uint8Array, all: boolean): string => {
  const from = Math.max(0, start - margin)
  const end = start + old.length
  const [head, match, tail, put] = [
    bytes.subarray(from, start),
    bytes.subarray(start, end),
    bytes.subarray(end, end + margin),
    Buffer.from(replacement)
  ].map((part) => part.toString("latin1")) as [string, string, string, string]
  const lineStart = head.lastIndexOf("\n") + 1
  // Other matches in the rest of the line are replaced in the diff only if their whole line is short.
  const isCut = match.endsWith("\n") || (all && (match.includes("\n") || match.length > margin / 2))
  const rest = isCut ? "" : tail.slice(0, tail.indexOf("\n") + 1 || tail.length)
  const before = head.slice(lineStart)
  const current = linesOf(before + match + rest)
  const next = linesOf(before + put + (all ? rest.replaceAll(match, () => put) : rest))
  let [same, currentEnd, nextEnd] = [0, current.length, next.length]
  while (same < currentEnd && same < nextEnd && current[same] === next[same]) same++
  while (currentEnd > same && nextEnd > same && current[currentEnd - 1] === next[nextEnd - 1]) {
    currentEnd--
    nextEnd--
  }
  const [removed, added] = [current.slice(same, currentEnd), next.slice(same, nextEnd)]
  const context = same > 0 ? current[same - 1] : linesOf(head.slice(0, lineStart)).at(-1)
  const rows = rowsOf(removed, added)
  if (rows.length < most && context !== undefined && context.trim() !== "") rows.unshift([" ", context])
  const shift = commonStart(removed[0] ?? "", added[0] ?? "")
  return rows.map(([kind, line]) => `${kind}${kind === "…" ? line : cut(line, shift)}\n`).join("")
}

type Row = readonly [kind: " " | "-" | "+" | "…", line: string]

/**
 * Shows all lines if there is room. Otherwise shows the first line of each side, or both ends of the only side, and how
 * many more there are.
 */
const rowsOf = (removed: ReadonlyArray<string>, added: ReadonlyArray<string>): Array<Row> => {
  const all = [...removed.map((line): Row => ["-", line]), ...added.map((line): Row => ["+", line])]
  const [first, last] = [all[0], all.at(-1)]
  if (all.length <= most || first === undefined || last === undefined) return all
  if (removed.length === 0 || added.length === 0) {
    return [first, ["…", ` ${counted(all.length - 2)} ${added.length === 0 ? "removed" : "added"}`], last]
  }
  const more = [
    ...(removed.length > 1 ? [`${counted(removed.length - 1)} removed`] : []),
    ...(added.length > 1 ? [`${counted(added.length - 1)} added`] : [])
  ]
  return [first, ["+", added[0] ?? ""], ["…", ` ${more.join(", ")}`]]
}

const counted = (count: number): string => `${count} more ${count === 1 ? "line" : "lines"}`

/** Splits a Latin-1 text into decoded lines without their ends. */
const linesOf = (text: string): ReadonlyArray<string> => {
  const lines = new TextDecoder().decode(Buffer.from(text, "latin1")).split(/\r?\n/)
  if (lines.at(-1) === "") lines.pop()
  return lines
}

const commonStart = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** Cuts a long line to the part that differs. */
const cut = (line: string, shift: number): string => {
  if (line.length <= longest) return line
  const start = Math.max(0, Math.min(shift - lead, line.length - longest))
  return `${start > 0 ? "…" : ""}${line.slice(start, start + longest)}${start + longest < line.length ? "…" : ""}`
}

/** The number of bytes at the beginning that decide whether a file is binary. */
const examined = 8 * 1024

/** The largest file that is edited, in bytes, before and after the edit. */
const mostHeld = 256 * 1024 ** 2
/** The most bytes searched for text near to the old text. */
const mostSearched = 64 * 1024 ** 2

/** Names the kind of a binary file. A text may hold single bytes that are not UTF-8. */
const binaryKind = (bytes: Buffer): string | undefined => {
  const head = bytes.subarray(0, examined)
  const type = FileType.of(head)
  return type?.name ?? (BinaryText.find(head.toString()) === undefined ? undefined : "binary file")
}

function* nearest(bytes: Buffer, old: Uint8Array): Yield.Steps<string> {
  if (bytes.length <= mostSearched) return yield* Nearest.steps(bytes, old)
  const report = yield* Nearest.steps(bytes.subarray(0, mostSearched), old)
  return `In its first ${mostSearched / 1024 ** 2} MiB, which alone were searched for what comes near:\n${report}`
}

/** Matches a text that is unlikely to be in a file by chance. */
const telling = /[\p{L}\p{N}]{3}/u

/**
 * Reports why the old text is not found: the change was already made, several parts look alike, or which part comes
 * near.
 */
function* missing(
  bytes: Buffer,
  old: Uint8Array,
  replacement: string,
  alike: Alike.Alike | undefined
): Yield.Steps<string> {
  if (alike !== undefined)
    return `${alike.count} parts of it look like the old text, but for ${alike.names}; more of the text tells which`
  const isTelling = telling.test(replacement) && !Buffer.from(old).includes(replacement)
  const put = isTelling ? yield* Matches.find(bytes, ShellText.encode(replacement)) : undefined
  if (put?.count === 1) return `The new text is there already, at line ${put.lines[0]}.`
  return yield* nearest(bytes, old)
}

const help = `edit - replace a text in a file, or apply a patch to several

USAGE
  edit <file> <old> <new> [--all]
  edit --patch < <patch>

ARGUMENTS
  <file>     The file, from the current directory: a regular one. It is written as write does it ("write --help"): all
             at once or not at all; its mode, its owner and its hard links stay.
  <old>      The text to replace: literally, byte for byte, with its white space and line breaks. It is no pattern:
             . * [ $ mean themselves. It may be of several lines, or a part of one. Its line feeds match CRLF too,
             where the file has it.
  <new>      The text in its place, literally as well, with the line ends of the file; '' takes the old text away.

OPTIONS
  --encoding E
             The encoding of a file that is not UTF-8: latin1, gbk. UTF-16, what the file says of itself (coding: gbk),
             and the encoding of the locale are seen without it. The file stays in its encoding.
  --all      Replaces every occurrence, from the left. Without it, the first one only.
  --patch    (-p) Applies the patch on standard input: all of it, or nothing where a part does not fit.
  --         What follows is no option: a text that begins with a dash and is one word.

PATCHES
  A unified diff (diff -u, git diff), or this, with lines of context around those that change:
    *** Begin Patch
    *** Update File: src/a.ts
    *** Move to: src/b.ts           (if it gets another name)
    @@ class Name                   (the line above the change; only if the context is there more than once)
     a line that stays
    -a line that goes
    +a line that comes
    *** Add File: src/new.ts
    +each line of it
    *** Delete File: src/old.ts
    *** End Patch
  The context must be there exactly, on the lines that the diff names or else only once; LF matches CRLF. Files lie
  below the current directory, and no link may lead out of it. No binary files, no links as files. A cancel leaves all
  files changed or none.

EXAMPLES
  edit src/a.ts 'const a = 1' 'const a = 2'
  edit src/a.ts 'oldName' 'newName' --all
  edit notes.txt $'first\\nsecond\\n' ''
  edit list.txt -- --old --new
  git diff main -- src | edit --patch
  for f in src/*.ts; do edit "$f" 'old.js' 'new.js' --all; done

EXIT CODE
  0 where something was replaced. 1 where nothing was, and no file is changed: standard error shows what comes
  nearest to <old>, or to a part of the patch. 126 where the sandbox's policy denies it.
`

export const grammar = CommandGrammar.make({
  name: "edit",
  summary: "Replaces a text in a file: its first occurrence, or every one; or applies a patch.",
  usage: "edit <file> <old> <new> [--all] | --patch < <patch>",
  help,
  config: {
    words: Parameter.repeated(Parameter.operand("file")),
    all: Parameter.flag("all"),
    encoding: EncodingOption.option,
    patch: Parameter.flag("patch").pipe(Parameter.withAlias("p"))
  }
})

/** Makes the handler of `edit`. Edits run one after the other (`files.exclusive`), so that none overwrites another. */
export const make: Effect.Effect<CommandHandler> = Effect.sync(() =>
  CommandGrammar.toHandler(
    grammar,
    ({ all, encoding, patch, words }, call) => {
      if (patch) return patched(grammar, all ? ["--all"] : words, call, Option.getOrUndefined(encoding))
      if (words.length > 3) {
        return CommandGrammar.misuse(
          grammar,
          `${words.length} words are too many: a text with blanks stands in quotes.`,
          [["edit a.txt 'the old text' 'the new text'"]]
        )
      }
      const [file, old, replacement] = words
      if (file === undefined || old === undefined || replacement === undefined)
        return CommandGrammar.misuse(grammar, `<${["file", "old", "new"][words.length]}> is missing.`)
      const { files } = call
      if (old === "")
        return CommandGrammar.misuse(
          grammar,
          `<old> is empty: use "write" for a new file, or name the text to insert at.`
        )
      if (old === replacement)
        return new InvalidUsage({ reason: "edit: <old> and <new> are the same: nothing would change." })
      const change = { old, replacement, all, encoding: Option.getOrUndefined(encoding) }
      return Effect.catchTag(files.exclusive(replace(files, file, change)), "FileError", (error) =>
        FileFailure.fromFileError("edit", error)
      )
    },
    { usesFiles: true }
  )
)

/** Applies the patch from standard input or from the only word, which may be JSON. */
const patched = (
  grammar: CommandGrammar.CommandGrammar<unknown>,
  [word, ...more]: ReadonlyArray<string>,
  call: CommandCall,
  encoding?: Encoding.Encoding
): Effect.Effect<CommandResult.CommandResult, CommandError> => {
  if (word === undefined && call.stdin !== undefined) return Patch.run(call, call.stdin, encoding)
  const isAlone = word !== undefined && more.length === 0
  const patch = isAlone ? patchIn(word) : undefined
  if (patch !== undefined) return Patch.run(call, Stream.make(new TextEncoder().encode(`${patch}\n`)), encoding)
  const command = grammar === patchGrammar ? "apply_patch" : "edit --patch"
  return CommandGrammar.misuse(grammar, "the patch, which names its files, is standard input, or the one argument.", [
    isAlone && /^[^-{*\s]/.test(word)
      ? [`${command} < ${FileFailure.toWord(word)}`]
      : [
          `${command} <<'EOF'`,
          "*** Begin Patch",
          "*** Update File: a.txt",
          "@@",
          "-old",
          "+new",
          "*** End Patch",
          "EOF"
        ]
  ])
}

/** The grammar of `apply_patch`, which OpenAI's models call instead of `edit --patch`. */
const patchGrammar = CommandGrammar.make({
  name: "apply_patch",
  summary: "Applies a patch, as edit --patch does.",
  usage: "apply_patch < <patch>",
  help: "apply_patch - apply a patch to several files, as edit --patch does: edit --help tells its form\n",
  config: { words: Parameter.operand("patch").pipe(Parameter.repeated) }
})

const isPatch = (word: string): boolean =>
  /^\s*(?:\*\*\* Begin Patch[ \t]*\r?\n|(?:diff --git |--- )[^\n]*\n)/.test(word)

/** Returns the patch in a word: the word itself, or a value in its JSON. */
const patchIn = (word: string): string | undefined => {
  if (isPatch(word)) return word
  const given = Attempt.orUndefined((): unknown => JSON.parse(word))
  return Predicate.isReadonlyRecord(given)
    ? (Object.values(given).find((value) => Predicate.isString(value) && isPatch(value)) as string | undefined)
    : undefined
}

/** Makes the handler of `apply_patch`, which also names the Synapse command. */
export const makeApplyPatch: Effect.Effect<CommandHandler> = Effect.sync(() => ({
  ...CommandGrammar.toHandler(
    patchGrammar,
    ({ words }, call) =>
      Effect.map(patched(patchGrammar, words, call), (result) => ({
        ...result,
        stderr: `${result.stderr}apply_patch is edit --patch here\n`
      })),
    { usesFiles: true }
  ),
  isUnlisted: true
}))

interface Change {
  readonly encoding: Encoding.Encoding | undefined
  readonly old: string
  readonly replacement: string
  readonly all: boolean
}

const replace = Effect.fnUntraced(function* (
  files: CommandCall["files"],
  file: string,
  { all, old, replacement, ...given }: Change
) {
  const slices = new Yield.Slices()
  const own = yield* held(files, file)
  const opened = yield* Encoding.open(own, given.encoding)
  if (given.encoding !== undefined && opened === undefined)
    return yield* FileFailure.make("edit", file, `${Encoding.notAll(given.encoding)}, unchanged`)
  const { encoding, text } = opened ?? {}
  const bytes = text === undefined ? own : Buffer.from(text)
  /** True if the given texts are in another encoding than the file. */
  const isForeign =
    encoding === undefined &&
    letters.test(old + replacement) &&
    !rawBytes.test(old) &&
    !isUtf8(own) &&
    new Encoding.Letters().add(own.toString()).areForeign
  const write = (content: Uint8Array): Effect.Effect<void, ExecutionFailed | FileError> => {
    if (encoding === undefined) {
      const { length } = content
      const pieces = Stream.map(Stream.range(0, Math.floor(length / Matches.stride)), (at) =>
        content.subarray(at * Matches.stride, (at + 1) * Matches.stride)
      )
      return files.write(file, length > Matches.stride ? pieces : content)
    }
    return Effect.flatMap(
      Effect.promise(() => Encoding.encode(Buffer.from(content).toString(), encoding)),
      (encoded): Effect.Effect<void, ExecutionFailed | FileError> =>
        typeof encoded === "string"
          ? FileFailure.make("edit", file, `${encoded}, unchanged`)
          : files.write<never>(file, encoded)
    )
  }
  const inEncoding = encoding === undefined ? "" : ` (${Encoding.label(encoding)})`
  const search = (text: string) => {
    const pattern = ShellText.encode(text)
    return Effect.map(slices.run(Matches.find(bytes, pattern)), (found) => ({ ...found, pattern }))
  }
  const exact = yield* search(old)
  const isLf = exact.count === 0 && old.includes("\n") && !old.includes("\r")
  const found = isLf ? yield* search(toCrlf(old)) : exact
  const { first, pattern } = found
  const path = `${FileFailure.printable(file)}${inEncoding}`
  if (found.count === 0) {
    const alike = yield* slices.run(Alike.find(bytes, old))
    if (alike?.count === 1 && binaryKind(bytes) === undefined) {
      const { end, names, own, start } = alike
      const put = Buffer.from(Alike.carry(own, old, replacement))
      yield* write(Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(end)]))
      const line = Newlines.count(bytes.subarray(0, start)) + 1
      const stdout = `Replaced 1 occurrence in ${path} (line ${line}), alike but for ${names}\n${diff(bytes, start, bytes.subarray(start, end), put, false)}`
      return CommandResult.make({ stdout })
    }
    const near = isForeign ? Encoding.unnamed : yield* slices.run(missing(bytes, exact.pattern, replacement, alike))
    const isNone = near === Nearest.none
    const what = `edit: ${path}: the old text was not found${isNone ? ", nor a line like it" : ""}; the file is unchanged\n`
    return CommandResult.make({ stderr: isNone ? what : `${what}${near}\n`, exitCode: ExitCode.failure })
  }
  if (isForeign) return yield* FileFailure.make("edit", file, `unchanged. ${Encoding.unnamed}`)
  const binary = binaryKind(bytes)
  if (binary !== undefined) return yield* FileFailure.make("edit", file, `${binary}, unchanged: edit is for text`)
  const isCrlf = found !== exact || (!old.includes("\n") && isInCrlf(bytes, first, first + pattern.length))
  const put = ShellText.encode(isCrlf ? toCrlf(replacement) : replacement)
  const size = bytes.length + (put.length - pattern.length) * (all ? found.count : 1)
  if (size > mostHeld) return yield* tooLarge(file)
  const content = yield* slices.run(Matches.replaced(bytes, pattern, put, { all, size }))
  yield* write(content)
  return CommandResult.make({ stdout: `${said(path, found, all)}\n${diff(bytes, first, pattern, put, all)}` })
})

/** Matches a byte that is not UTF-8. A caller who writes one knows the bytes of the file. */
const rawBytes = /[\udc80-\udcff]/

/** Matches characters that are neither ASCII nor bytes outside UTF-8. */
const letters = /[^\0-\x7f\ud800-\udfff\ufffd]|[\ud800-\udbff][\udc00-\udfff]/

const toCrlf = (text: string): string => text.replace(/\r?\n/g, "\r\n")

/** Reads a regular file only: waiting for a pipe would block other edits. */
const held = (files: CommandCall["files"], file: string): Effect.Effect<Buffer, ExecutionFailed | FileError> =>
  Effect.flatMap(Collect.bytes(files.read(file, { regular: true }), mostHeld), (bytes) =>
    bytes === undefined ? tooLarge(file) : Effect.succeed(bytes)
  )

const tooLarge = (file: string) =>
  FileFailure.make("edit", file, `more than ${mostHeld / 1024 ** 2} MiB, unchanged: use sed`)

/** The most line numbers listed in a message: of changed lines (`--all`), and of further matches. */
const mostChanged = 3
const mostNamed = 10

const said = (path: string, { count, lines }: Matches.Found, all: boolean): string => {
  const [line, ...others] = lines
  const named = (of: ReadonlyArray<number>, count: number, most: number) => {
    const first = [...new Set(of.slice(0, most))]
    return `line${first.length > 1 ? "s" : ""} ${first.join(", ")}${count > most ? ", …" : ""}`
  }
  if (count > 1 && all) return `Replaced ${count} occurrences in ${path} (${named(lines, count, mostChanged)})`
  const done = `Replaced 1 occurrence in ${path} (line ${line})`
  if (count === 1) return done
  const matches = count === 2 ? "1 more match" : `${count - 1} more matches`
  return `${matches}: ${named(others, count - 1, mostNamed)}; --all replaces every one\n${done}`
}
