/**
 * `edit <file> <old> <new>`: replaces a text in a file, byte for byte.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ShellText from "../../bash/ShellText.js"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import * as Advice from "../../domain/Advice.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as FileFailure from "../../files/FileFailure.js"
import * as Newlines from "../../files/Newlines.js"
import { help } from "./Edit.help.js"
import { Pattern } from "./Edit.matches.js"
import * as Nearest from "./Edit.nearest.js"
import { Turns } from "./Edit.turns.js"

/**
 * The grammar of `edit`.
 *
 * @since 0.1.0
 * @category grammar
 */
export const grammar = CommandGrammar.make({
  name: "edit",
  summary: "Replaces a text in a file: its first occurrence, or every one.",
  usage: "edit <file> <old> <new> [--all]",
  help,
  config: {
    file: Parameter.operand("file"),
    old: Parameter.operand("old"),
    replacement: Parameter.operand("new"),
    all: Parameter.flag("all")
  }
})

/** The most bytes that one edit holds in memory; a Node buffer may have 4 GiB. */
const largest = 1024 ** 3

/**
 * Makes the handler of `edit`. Its edits of one file run one after the other, so that none overwrites another. A file
 * is known by its path only: edits at the same time by two names of one file (a symbolic or hard link) may overwrite
 * one another.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler> = Effect.sync(() => {
  const turns = new Turns()
  return CommandGrammar.toHandler(
    grammar,
    ({ all, file, old, replacement }, { cwd, files }) => {
      if (old === "")
        return CommandGrammar.misuse(
          grammar,
          `<old> is empty: use "write" for a new file, or name the text to insert at.`
        )
      if (old === replacement)
        return CommandGrammar.misuse(grammar, "<old> and <new> are the same: nothing would change.")
      return turns.take(Path.resolve("/", cwd, file), replace(files, file, { old, replacement, all }))
    },
    { usesFiles: true }
  )
})

interface Change {
  readonly old: string
  readonly replacement: string
  readonly all: boolean
}

const replace = Effect.fnUntraced(
  function* (files: CommandCall["files"], file: string, { all, old, replacement }: Change) {
    const bytes = yield* contentOf(files, file)
    const pattern = new Pattern(ShellText.encode(old))
    const first = pattern.indexIn(bytes, 0)
    const path = FileFailure.printable(file)
    if (first < 0) {
      const stderr = `edit: ${path}: the old text was not found; the file is unchanged\n${Nearest.report(bytes, old)}\n`
      return CommandResult.make({ stderr, exitCode: ExitCode.failure })
    }
    const count = pattern.countIn(bytes, first)
    const parts = pattern.replacedIn(bytes, first, ShellText.encode(replacement), all)
    yield* files.write(file, Stream.fromIteratorSucceed(parts, 1))
    const line = Newlines.count(bytes.subarray(0, first)) + 1
    return CommandResult.make({ stdout: `${said(path, count, line, all)}\n` })
  },
  Effect.catchTag("FileError", (error) => FileFailure.fromFileError("edit", error))
)

const said = (path: string, count: number, line: number, all: boolean): string => {
  if (count === 1) return `Replaced 1 occurrence in ${path} (line ${line})`
  if (all) return `Replaced ${count} occurrences in ${path}`
  return `Replaced 1 of ${count} occurrences in ${path} (line ${line}); --all replaces every one`
}

/**
 * Reads a whole file into one buffer, which grows with it and never takes more than three times its size. The file has
 * to be a regular one, for an edit that waits for a pipe would keep its turn.
 */
const contentOf = Effect.fnUntraced(function* (files: CommandCall["files"], file: string) {
  let buffer = Buffer.alloc(0)
  let size = 0
  yield* Stream.runForEach(files.read(file, { regular: true }), (chunk) => {
    if (size + chunk.length > largest) {
      const advice = [Advice.line`sed edits it as a stream.`]
      return Effect.fail(FileFailure.make("edit", file, "larger than 1 GiB, the most that edit can hold", { advice }))
    }
    if (size + chunk.length > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, size + chunk.length))
      larger.set(buffer.subarray(0, size))
      buffer = larger
    }
    buffer.set(chunk, size)
    size += chunk.length
    return Effect.void
  })
  return buffer.subarray(0, size)
})
