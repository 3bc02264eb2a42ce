/**
 * `edit <file> <old> <new>`: replaces a text in a file, byte for byte; `edit --patch`: applies a patch.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import type { CommandError } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Slices from "../../domain/Slices.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileError } from "../../files/Files.js"
import * as Given from "./Edit.given.js"
import * as Head from "./Edit.head.js"
import { help } from "./Edit.help.js"
import * as Matches from "./Edit.matches.js"
import * as Nearest from "./Edit.nearest.js"
import * as Patch from "./Edit.patch.js"
import * as Shown from "./Edit.shown.js"

/**
 * The grammar of `edit`.
 *
 * @since 0.1.0
 * @category grammar
 */
export const grammar = CommandGrammar.make({
  name: "edit",
  summary: "Replaces a text in a file: its first occurrence, or every one; or applies a patch.",
  usage: "edit <file> <old> <new> [--all] | --patch < <patch>",
  help,
  config: {
    file: Parameter.operand("file").pipe(Parameter.optional),
    old: Parameter.operand("old").pipe(Parameter.optional),
    replacement: Parameter.operand("new").pipe(Parameter.optional),
    more: Parameter.operand("more").pipe(Parameter.repeated),
    all: Parameter.flag("all"),
    patch: Parameter.flag("patch").pipe(Parameter.withAlias("p"))
  }
})

/**
 * Makes the handler of `edit`. Edits of one file run one after the other, by whatever name they know it, so that none
 * overwrites another.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler> = Effect.sync(() => {
  const handler = CommandGrammar.toHandler(
    grammar,
    ({ more, patch, ...params }, call) => {
      if (patch) return patched(params, more, call)
      if (more.length > 0) return tooMany(params, more, call.files)
      for (const name of ["file", "old", "replacement"] as const) {
        if (Option.isNone(params[name])) return CommandGrammar.misuse(grammar, `<${labels[name]}> is missing.`)
      }
      const [file, old, replacement] = [params.file, params.old, params.replacement].map((word) =>
        Option.getOrElse(word, () => "")
      ) as [string, string, string]
      const { files } = call
      const { all } = params
      if (old === "")
        return CommandGrammar.misuse(
          grammar,
          `<old> is empty: use "write" for a new file, or name the text to insert at.`
        )
      if (old === replacement)
        return CommandGrammar.misuse(grammar, "<old> and <new> are the same: nothing would change.")
      const change = { old, replacement, all }
      return Effect.catchTag(files.exclusive(file, replace(files, file, change)), "FileError", (error) =>
        Effect.zipRight(error.kind === "missing" ? ofLine(files, file, change) : Effect.void, failed(error))
      )
    },
    { usesFiles: true }
  )
  const run: CommandHandler["run"] = (call, context) => {
    const right = Given.ofOptions(call.args) ?? Given.ofSed(call.args)
    return right === undefined
      ? handler.run(call, context)
      : CommandGrammar.misuse(grammar, right.reason, [right.example])
  }
  return { ...handler, run }
})

const failed = (error: FileError) => FileFailure.fromFileError("edit", error)

/** Fails with the right call where a file that is not there names the lines of one that is. */
const ofLine = (files: CommandCall["files"], path: string, { all, old, replacement }: Change) => {
  const file = Given.fileOf(path)
  if (file === undefined) return Effect.void
  return Effect.matchEffect(Stream.runDrain(Stream.take(read(files, file), 1)), {
    onFailure: () => Effect.void,
    onSuccess: () => {
      const { example, reason } = Given.ofLine(path, file, old, replacement, all)
      return CommandGrammar.misuse(grammar, reason, [example])
    }
  })
}

const labels = { file: "file", old: "old", replacement: "new" }

type Words = {
  readonly [name in "file" | "old" | "replacement"]: Option.Option<string>
} & { readonly all: boolean }

/** Returns the words of a call in their order. */
const wordsOf = ({ file, old, replacement }: Words, more: ReadonlyArray<string>): ReadonlyArray<string> =>
  [file, old, replacement].flatMap(Option.toArray).concat(more)

/** Answers a call with too many words: several files, or a text without quotes. */
const tooMany = (params: Words, more: ReadonlyArray<string>, files: CommandCall["files"]) => {
  const words = wordsOf(params, more)
  const areFiles = Effect.forEach(words.slice(0, -2).slice(0, mostFiles), (path) =>
    Stream.runDrain(Stream.take(read(files, path), 1))
  )
  return Effect.matchEffect(areFiles, {
    onFailure: () =>
      CommandGrammar.misuse(grammar, `${words.length} words are too many: a text with blanks stands in quotes.`, [
        ["edit a.txt 'the old text' 'the new text'"]
      ]),
    onSuccess: () => {
      const { example, reason } = Given.ofFiles(words, params.all)
      return CommandGrammar.misuse(grammar, reason, [example])
    }
  })
}

/** The most files that are looked for. */
const mostFiles = 10

const patched = (
  params: Words,
  more: ReadonlyArray<string>,
  call: CommandCall
): Effect.Effect<CommandResult.CommandResult, CommandError> => {
  const words = wordsOf(params, more)
  const [word] = words
  if (call.stdin !== undefined && !params.all && word === undefined) return Patch.run(call, call.stdin)
  if (word !== undefined && words.length === 1 && !params.all) {
    if (Given.isPatch(word)) return Patch.run(call, Stream.make(new TextEncoder().encode(`${word}\n`)))
    const { example, reason } = Given.ofPatchFile(word)
    return CommandGrammar.misuse(grammar, reason, [example])
  }
  return CommandGrammar.misuse(grammar, "--patch stands alone; the patch, which names its files, is standard input.", [
    ["edit --patch < fix.diff"],
    ["edit --patch <<'EOF'", "*** Begin Patch", "*** Update File: a.txt", "@@", "-old", "+new", "*** End Patch", "EOF"]
  ])
}

const utf16 = "It is UTF-16 text: convert it first, with iconv -f UTF-16 -t UTF-8"

interface Change {
  readonly old: string
  readonly replacement: string
  readonly all: boolean
}

const replace = Effect.fnUntraced(function* (
  files: CommandCall["files"],
  file: string,
  { all, old, replacement }: Change
) {
  const slices = new Slices.Slices()
  const head = new Head.Head()
  const first = new Matches.Occurrences(yield* slices.run(Matches.prepare(old)))
  yield* Stream.runForEach(read(files, file), (chunk) => {
    head.push(chunk)
    return slices.run(first.push(chunk))
  })
  const chunks = () => (head.isWhole ? Stream.fromIterable(head.chunks) : read(files, file))
  const isLf = old.includes("\n") && !old.includes("\r")
  const found = first.count === 0 && isLf ? yield* withCrlf(old, chunks(), slices) : first
  const path = FileFailure.printable(file)
  const binary = found.count === 0 ? undefined : head.binary
  if (binary !== undefined) return yield* FileFailure.make("edit", file, `${binary}, unchanged: edit is for text`)
  if (found.count === 0) {
    const nearest = head.isUtf16 ? utf16 : yield* slices.run(head.nearest(old))
    const isNone = nearest === Nearest.none
    const what = `edit: ${path}: the old text was not found${isNone ? ", nor a line like it" : ""}; the file is unchanged\n`
    const stderr = isNone ? what : `${what}${nearest}\n`
    return CommandResult.make({ stderr, exitCode: ExitCode.failure })
  }
  const { pattern } = found
  const place = head.around(found.first, pattern.bytes.length)
  const isCrlf = found !== first || (!old.includes("\n") && Shown.isCrlf(place))
  const bytes = yield* slices.run(Matches.encode(isCrlf ? toCrlf(replacement) : replacement))
  const growth = bytes.length * (all ? found.count : 1)
  const content =
    head.isWhole && head.size + growth <= short
      ? whole(head.chunks, new Matches.Replacer(pattern, bytes, all, short))
      : streamed(
          head.isWhole ? chunks() : again(files, file, found, slices),
          new Matches.Replacer(pattern, bytes, all),
          slices
        )
  yield* files.write(file, content)
  return CommandResult.make({ stdout: `${said(path, found, all)}\n${Shown.diff(place, bytes, all)}` })
})

/** The most bytes of a new content that is made at once, and takes no time. */
const short = 16 * 1024

const whole = (chunks: ReadonlyArray<Uint8Array>, replacer: Matches.Replacer): Uint8Array => {
  const packets = [...chunks.flatMap((chunk) => [...replacer.push(chunk)]), ...replacer.end()]
  return Buffer.concat(packets.filter(Predicate.isNotUndefined))
}

const streamed = <E>(
  chunks: Stream.Stream<Uint8Array, E>,
  replacer: Matches.Replacer,
  slices: Slices.Slices
): Stream.Stream<Uint8Array, E> =>
  Stream.concat(
    Stream.flatMap(chunks, (chunk) => slices.stream(() => replacer.push(chunk))),
    slices.stream(() => replacer.end())
  )

const toCrlf = (text: string): string => text.replace(/\r?\n/g, "\r\n")

/** Finds a text in a file with its line ends as CRLF. */
const withCrlf = Effect.fnUntraced(function* <E>(
  old: string,
  chunks: Stream.Stream<Uint8Array, E>,
  slices: Slices.Slices
) {
  const found = new Matches.Occurrences(yield* slices.run(Matches.prepare(toCrlf(old))))
  yield* Stream.runForEach(chunks, (chunk) => slices.run(found.push(chunk)))
  return found
})

/** Reads a file, which has to be a regular one: an edit that waits for a pipe would keep its turn. */
const read = (files: CommandCall["files"], file: string) => files.read(file, { regular: true })

/** Reads a file once more; at its end, fails where it is another than it was. */
const again = (files: CommandCall["files"], file: string, before: Matches.Occurrences, slices: Slices.Slices) => {
  const now = new Matches.Occurrences(before.pattern)
  const isSame = Effect.suspend(() =>
    now.isLike(before)
      ? Effect.void
      : FileFailure.make("edit", file, "it was changed meanwhile, and is left as it is now; edit it again")
  )
  return Stream.concat(
    Stream.tap(read(files, file), (chunk) => slices.run(now.push(chunk))),
    Stream.execute(isSame)
  )
}

/** The most lines that are named of those that `--all` changed. */
const mostChanged = 3

/** Names the lines of the first replacements, and counts the others: `lines 1, 4, 9, … 2 more`. */
const changed = (lines: ReadonlyArray<number>, count: number): string => {
  const distinct = [...new Set(lines)]
  const first = distinct.slice(0, mostChanged)
  const label = `line${distinct.length > 1 ? "s" : ""} ${first.join(", ")}`
  if (distinct.length > mostChanged) {
    return `${label}, … ${count - lines.filter((line) => first.includes(line)).length} more`
  }
  return count > lines.length ? `${label}, …` : label
}

/** The most lines with further matches that are named. */
const mostNamed = 10

const said = (path: string, { count, lines }: Matches.Occurrences, all: boolean): string => {
  const [line, ...others] = lines
  if (count > 1 && all) return `Replaced ${count} occurrences in ${path} (${changed(lines, count)})`
  const done = `Replaced 1 occurrence in ${path} (line ${line})`
  if (count === 1) return done
  const named = [...new Set(others.slice(0, mostNamed))].join(", ")
  const more = count - 1 > mostNamed ? ", …" : ""
  const matches = count === 2 ? "1 more match" : `${count - 1} more matches`
  return `${matches}: line${named.includes(",") ? "s" : ""} ${named}${more}; --all replaces every one\n${done}`
}
