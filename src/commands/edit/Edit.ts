/**
 * `edit <file> <old> <new>`: replaces a text in a file, byte for byte.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Slices from "../../domain/Slices.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileError } from "../../files/Files.js"
import { help } from "./Edit.help.js"
import * as Matches from "./Edit.matches.js"
import * as Nearest from "./Edit.nearest.js"

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

/**
 * The most bytes of a file that are held in memory: a longer file is read twice, once to find the text, and once to
 * write the file anew; and only so much of it is searched for what comes near to a text that it does not hold.
 */
const mostHeld = 64 * 1024 ** 2

/**
 * Makes the handler of `edit`. Edits of one file run one after the other, by whatever name they know it, so that none
 * overwrites another.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler> = Effect.succeed(
  CommandGrammar.toHandler(
    grammar,
    ({ all, file, old, replacement }, { files }) => {
      if (old === "")
        return CommandGrammar.misuse(
          grammar,
          `<old> is empty: use "write" for a new file, or name the text to insert at.`
        )
      if (old === replacement)
        return CommandGrammar.misuse(grammar, "<old> and <new> are the same: nothing would change.")
      return Effect.catchTag(
        files.exclusive(file, replace(files, file, { old, replacement, all })),
        "FileError",
        failed
      )
    },
    { usesFiles: true }
  )
)

const failed = (error: FileError) => FileFailure.fromFileError("edit", error)

interface Change {
  readonly old: string
  readonly replacement: string
  readonly all: boolean
}

const replace = Effect.fnUntraced(
  function* (files: CommandCall["files"], file: string, change: Change) {
    const { all, old, replacement } = change
    const slices = new Slices.Slices()
    const pattern = yield* slices.run(Matches.prepare(old))
    const found = new Matches.Occurrences(pattern)
    const head = new Head()
    yield* Stream.runForEach(read(files, file), (chunk) => {
      head.push(chunk)
      return slices.run(found.push(chunk))
    })
    const path = FileFailure.printable(file)
    if (found.count === 0) {
      const nearest = yield* slices.run(head.nearest(old))
      const stderr = `edit: ${path}: the old text was not found; the file is unchanged\n${nearest}\n`
      return CommandResult.make({ stderr, exitCode: ExitCode.failure })
    }
    const replacer = new Matches.Replacer(pattern, yield* slices.run(Matches.encode(replacement)), all)
    const chunks = head.isWhole ? Stream.fromIterable(head.chunks) : again(files, file, found, slices)
    const replaced = Stream.flatMap(chunks, (chunk) => slices.stream(() => replacer.push(chunk)))
    yield* files.write(
      file,
      Stream.concat(
        replaced,
        slices.stream(() => replacer.end())
      )
    )
    return CommandResult.make({ stdout: `${said(path, found.count, found.line, all)}\n` })
  },
  Effect.catchTag("FileError", failed)
)

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

/** The beginning of a file. */
class Head {
  isWhole = true
  readonly chunks: Array<Uint8Array> = []
  private size = 0

  push(chunk: Uint8Array): void {
    const room = mostHeld - this.size
    if (chunk.length > room) this.isWhole = false
    if (room <= 0) return
    const part = chunk.subarray(0, room)
    // A chunk may be a small part of a large buffer.
    this.chunks.push(part.length * 2 < part.buffer.byteLength ? new Uint8Array(part) : part)
    this.size += Math.min(chunk.length, room)
  }

  /** Reports what comes near to a text. */
  *nearest(old: string): Slices.Steps<string> {
    const bytes = Buffer.allocUnsafeSlow(this.size)
    let end = 0
    let rested = 0
    for (const chunk of this.chunks.splice(0)) {
      bytes.set(chunk, end)
      end += chunk.length
      if (end - rested < Matches.stride) continue
      rested = end
      yield
    }
    if (this.isWhole) return yield* Nearest.steps(bytes, old)
    const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1 || end)
    return `In its first ${mostHeld / 1024 ** 2} MiB, which alone were searched for what comes near:\n${yield* Nearest.steps(whole, old)}`
  }
}

const said = (path: string, count: number, line: number, all: boolean): string => {
  if (count === 1) return `Replaced 1 occurrence in ${path} (line ${line})`
  if (all) return `Replaced ${count} occurrences in ${path}`
  return `Replaced 1 of ${count} occurrences in ${path} (line ${line}); --all replaces every one`
}
