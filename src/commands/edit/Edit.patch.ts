/**
 * `edit --patch`: applies a patch from standard input to all of its files, or to none.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ShellText from "../../bash/ShellText.js"
import type { CommandCall } from "../../command/CommandHandler.js"
import * as Advice from "../../domain/Advice.js"
import { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as Slices from "../../domain/Slices.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileChange as Changed, FileError, Files } from "../../files/Files.js"
import { type FileChange, PatchFlaw, PatchRefused } from "./Edit.change.js"
import * as Envelope from "./Edit.envelope.js"
import * as Hunks from "./Edit.hunks.js"
import * as Plan from "./Edit.plan.js"
import * as Unified from "./Edit.unified.js"

/** The most bytes of a patch. */
const longest = 16 * 1024 ** 2

/**
 * Applies the patch that comes on a standard input.
 *
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(
  function* ({ cwd, files }: CommandCall, stdin: NonNullable<CommandCall["stdin"]>) {
    const slices = new Slices.Slices()
    const changes = yield* slices.run(parse(yield* received(stdin)))
    if (changes instanceof PatchFlaw) return yield* changes
    const located = yield* Effect.forEach(changes, (change) => locate(files, cwd, change))
    const paths = new Set(located.flatMap(({ path, toPath }) => (toPath === undefined ? [path] : [path, toPath])))
    const { said } = yield* files.exclusive(
      [...paths],
      Effect.tap(Plan.make(files, located, { cwd, slices }), (plan) => files.writeAll(toChanges(plan.files)))
    )
    return CommandResult.make({ stdout: `${said.join("\n")}\n` })
  },
  Effect.catchTags({
    PatchFlaw: ({ message }) => new InvalidUsage({ reason: `edit: ${unchanged}: ${message}` }),
    PatchRefused: (cause) =>
      new ExecutionFailed({
        kind: "io",
        reason: `edit: ${FileFailure.printable(cause.path)}: ${unchanged}: ${cause.reason}`,
        cause
      }),
    FileError: (cause) =>
      FileFailure.make("edit", cause.path, cause.reason, {
        cause,
        advice: cause.kind === "partial" ? [] : [Advice.line`No file was changed.`]
      })
  })
)

const unchanged = "no file was changed"

/** Reads the patch, which is held as a whole. */
const received = (stdin: NonNullable<CommandCall["stdin"]>) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return Stream.runForEach(stdin, (chunk) => {
      size += chunk.length
      if (size > longest)
        return new PatchFlaw({ line: 0, reason: `the patch has more than ${longest / 1024 ** 2} MiB` })
      return Effect.sync(() => void chunks.push(chunk))
    }).pipe(Effect.map(() => Buffer.concat(chunks).toString("latin1")))
  })

/** Parses a patch of either format. Where all of its lines end in CRLF, this is no part of them. */
function* parse(text: string): Slices.Steps<ReadonlyArray<FileChange> | PatchFlaw> {
  const raw = yield* Hunks.linesOf(text)
  const isCrlf = raw.length > 0 && raw.every((line) => line.endsWith("\r\n"))
  const lines = raw.map((line) => line.replace(isCrlf ? /\r\n$/ : /\n$/, ""))
  const changes = yield* Envelope.isOne(lines) ? Envelope.parse(lines) : Unified.parse(lines)
  const isNone = !(changes instanceof PatchFlaw) && changes.length === 0
  return isNone
    ? new PatchFlaw({ line: 0, reason: "standard input holds no change: neither a unified diff nor *** Begin Patch" })
    : changes
}

/** Finds out which file a change is about: the first of its names that is there. */
const locate = Effect.fnUntraced(function* (
  files: Files,
  cwd: string,
  change: FileChange
): Effect.fn.Return<Plan.Located, PatchFlaw | PatchRefused | FileError> {
  const inside = (name: string) => Effect.tap(toPath(name, cwd, change.at), (path) => stays(files, path))
  const [first, ...others] = yield* Effect.forEach(change.paths, inside)
  let path = first as string
  for (const other of others.length === 0 || change.kind === "add" ? [] : [path, ...others]) {
    const isThere = yield* Effect.isSuccess(Stream.runDrain(Stream.take(files.read(other, { regular: true }), 1)))
    if (!isThere) continue
    path = other
    break
  }
  return { ...change, path, toPath: change.to === undefined ? undefined : yield* inside(change.to) }
})

/** Refuses a path that a link leads out of the current directory: whoever made the patch does not know what lies there. */
const stays = Effect.fnUntraced(function* (
  files: Files,
  path: string
): Effect.fn.Return<void, PatchRefused | FileError> {
  const link = yield* files.exit(path)
  if (link === undefined) return
  const by = link === path ? "it is a link" : `${FileFailure.printable(link)} is a link`
  return yield* new PatchRefused({ path, hunk: 0, reason: `${by} that leads out of the current directory` })
})

/** Converts a name in a patch into a path below the current directory; others can't be meant, and may be an attack. */
const toPath = (name: string, cwd: string, line: number): Effect.Effect<string, PatchFlaw> => {
  const text = ShellText.decode(Buffer.from(name, "latin1"))
  const below = cwd.endsWith("/") ? cwd : `${cwd}/`
  const relative = text.startsWith(below) ? text.slice(below.length) : text
  const parts = relative.split("/").filter((part) => part !== "" && part !== ".")
  const isBelow = parts.length > 0 && !relative.startsWith("/") && !parts.includes("..") && !text.includes("\0")
  return isBelow && !text.endsWith("/")
    ? Effect.succeed(parts.join("/"))
    : new PatchFlaw({ line, reason: `${ShellText.quoted(text)} is no file below the current directory` })
}

/** Converts what is planned into changes of files: what stays as it is, is none. */
const toChanges = (planned: ReadonlyArray<Plan.Planned>): ReadonlyArray<Changed> =>
  planned.flatMap(({ mode, original, path, text }) =>
    text === original && (text === undefined || mode === undefined)
      ? []
      : [
          {
            path,
            content: text === undefined ? undefined : Buffer.from(text, "latin1"),
            ...(mode === undefined ? {} : { mode })
          }
        ]
  )
