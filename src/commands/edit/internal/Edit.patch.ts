/** `edit --patch`: applies a patch from standard input to all of its files, or to none. */
import { isUtf8 } from "node:buffer"
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as ShellText from "../../../bash/ShellText.js"
import type { CommandCall } from "../../../command/CommandHandler.js"
import * as Advice from "../../../domain/Advice.js"
import * as Collect from "../../../domain/Collect.js"
import { type ExecutionFailed, InvalidUsage } from "../../../domain/CommandError.js"
import * as CommandResult from "../../../domain/CommandResult.js"
import * as Yield from "../../../domain/Yield.js"
import * as Encoding from "../../../files/Encoding.js"
import * as FileFailure from "../../../files/FileFailure.js"
import type { FileChange as Changed, FileError, Files } from "../../../files/Files.js"
import * as Hunks from "./Edit.hunks.js"
import { type FileChange, PatchFlaw } from "./Edit.hunks.js"
import * as Parser from "./Edit.parser.js"

/** The most bytes of all files of a patch together, before the change. */
const mostHeld = 64 * 1024 ** 2

/** A file that a patch changes. Its texts are bytes in Latin-1, and undefined if the file does not exist. */
interface Planned {
  readonly path: string
  readonly original: string | undefined
  text: string | undefined
  /** The file's encoding. Its texts are in UTF-8 then. */
  encoding: Encoding.Encoding | undefined
  /** The new mode, or undefined to keep it. */
  mode: string | undefined
  /** True while another file has moved here and this file's own content is not yet moved away. */
  isEarly: boolean
}

interface Settings {
  readonly cwd: string
  /** The encoding of all files, if it was given. */
  readonly encoding: Encoding.Encoding | undefined
  readonly slices: Yield.Slices
}

interface Plan {
  readonly files: ReadonlyArray<Planned>
  readonly said: ReadonlyArray<string>
}

/** A change whose names are converted to paths. */
interface Located extends FileChange {
  readonly path: string
  readonly toPath: string | undefined
}

/** Reads the files and applies the changes to them in order. */
const make = Effect.fnUntraced(function* (
  files: Files,
  changes: ReadonlyArray<Located>,
  { cwd, encoding, slices }: Settings
): Effect.fn.Return<Plan, ExecutionFailed | FileError> {
  const planned = new Map<string, Planned>()
  const said: Array<string> = []
  const refusals: Array<Refusal> = []
  const leaving = new Set(
    changes.flatMap(({ isCopy, kind, path, toPath }) =>
      kind === "delete" || (toPath !== undefined && isCopy !== true) ? [path] : []
    )
  )
  let room = mostHeld

  const at = Effect.fnUntraced(function* (path: string) {
    const known = planned.get(path)
    if (known !== undefined) return known
    const bytes = yield* Effect.catchIf(
      Collect.bytes(files.read(path, { regular: true }), room),
      ({ kind }) => kind === "missing",
      () => Effect.succeed(null)
    )
    if (bytes === undefined) {
      return yield* refused(path, `more than ${mostHeld / 1024 ** 2} MiB to patch`)
    }
    room -= bytes?.length ?? 0
    const opened = bytes === null ? undefined : yield* Encoding.open(bytes, encoding)
    if (bytes !== null && encoding !== undefined && opened === undefined)
      return yield* refused(path, Encoding.notAll(encoding))
    const original = (opened === undefined ? bytes : Buffer.from(opened.text))?.toString("latin1")
    const own = bytes === null ? encoding : opened?.encoding
    const file: Planned = { path, original, text: original, encoding: own, mode: undefined, isEarly: false }
    planned.set(path, file)
    return file
  })

  const take = (file: Planned) => {
    const text = file.isEarly ? file.original : file.text
    if (!file.isEarly) file.text = undefined
    file.isEarly = false
    return text
  }

  for (const change of changes) {
    const { kind, path, toPath } = change
    const file = yield* at(path)
    const target = toPath === undefined ? file : yield* at(toPath)
    const isNew = kind === "add" || (change.mayBeNew === true && file.text === undefined)
    const isMove = target !== file && change.isCopy !== true
    const before = isNew ? "" : isMove || kind === "delete" ? take(file) : file.text
    if (before === undefined) {
      refusals.push({ path, reason: `No such file or directory${yield* elsewhere(files, cwd, path)}` })
      continue
    }
    if ((isNew || target !== file) && target.text !== undefined) {
      if (!leaving.has(target.path) || target.isEarly) {
        return yield* refused(target.path, `it exists already${kind === "add" ? ": update it instead" : ""}`)
      }
      target.isEarly = true
    }
    if (file.encoding === undefined && isForeign(before, change)) return yield* refused(path, Encoding.unnamed)
    const applied = yield* slices.run(Hunks.apply(before, change.hunks))
    if (!("text" in applied)) {
      refusals.push(...applied.map((one) => misfit(change, one)))
      continue
    }
    const { added, removed, text } = applied
    if (kind === "delete") {
      if (change.isWhole !== true && text !== "") return yield* refused(path, "it holds more than the patch deletes")
      said.push(`Deleted ${FileFailure.printable(path)}`)
      continue
    }
    target.text = text
    if (!isNew) target.encoding = file.encoding
    if (target !== file && file.original !== undefined) target.mode = yield* files.mode(path)
    if (change.isExecutable !== undefined) target.mode = executable(target.mode, change.isExecutable)
    const counts = change.hunks.length === 0 ? "" : ` (+${added} -${removed})`
    const label = file.encoding === undefined ? "" : ` (${Encoding.label(file.encoding)})`
    const name = `${FileFailure.printable(path)}${label}`
    if (isNew) said.push(`Added ${name} (${added} ${added === 1 ? "line" : "lines"})`)
    else if (target === file) said.push(`Updated ${name}${counts || " (mode)"}`)
    else said.push(`${isMove ? "Moved" : "Copied"} ${name} to ${FileFailure.printable(target.path)}${counts}`)
  }
  const [first, ...others] = refusals
  if (first === undefined) return { files: [...planned.values()], said }
  const rows = others.slice(0, mostRefusals - 1).map(({ path, reason }) => `${FileFailure.printable(path)}: ${reason}`)
  if (refusals.length > mostRefusals) rows.push(`… and ${refusals.length - mostRefusals} more that do not fit`)
  return yield* refused(first.path, [first.reason, ...rows].join("\n"))
})

const mostRefusals = 5

/** Tests whether a patch in UTF-8 would put letters into a file that is not UTF-8. */
const isForeign = (text: string, { hunks }: Located): boolean => {
  const lines = Buffer.from(hunks.flatMap(({ lines }) => lines.map(({ text }) => text)).join(""), "latin1")
  const own = Buffer.from(text, "latin1")
  return (
    lines.some((byte) => byte > 0x7f) &&
    isUtf8(lines) &&
    !isUtf8(own) &&
    new Encoding.Letters().add(own.toString()).areForeign
  )
}

/** Finds a file in the current directory that the patch names from a directory above. */
const elsewhere = Effect.fnUntraced(function* (files: Files, cwd: string, path: string) {
  const parts = path.split("/")
  for (let count = 1; count < parts.length; count++) {
    if (!cwd.endsWith(`/${parts.slice(0, count).join("/")}`)) continue
    const here = parts.slice(count).join("/")
    if (!(yield* isThere(files, here))) continue
    const up = Array.from({ length: count }, () => "..").join("/")
    return `, but ${FileFailure.printable(here)} is here: the patch names files from a directory above: cd ${up} && edit --patch`
  }
  return ""
})

/** A change that does not fit the files, and why. */
interface Refusal {
  readonly path: string
  readonly reason: string
}

const refused = (path: string, reason: string): ExecutionFailed =>
  FileFailure.make("edit", path, `${unchanged}: ${reason}`)

const misfit = ({ hunks, path }: Located, { hunk, reason }: Hunks.Misfit): Refusal => {
  const of = hunks.length === 1 ? "the hunk" : `hunk ${hunk} of ${hunks.length}`
  return { path, reason: `${of} (line ${hunks[hunk - 1]?.at} of the patch) ${reason}` }
}

/** Adds or removes the right to execute, for everyone who may read. */
const executable = (mode: string | undefined, isExecutable: boolean): string => {
  if (mode === undefined) return isExecutable ? "+x" : "-x"
  const bits = Number.parseInt(mode, 8)
  return (isExecutable ? bits | ((bits & 0o444) >> 2) : bits & ~0o111).toString(8)
}

/** The largest patch, in bytes. */
const longest = 16 * 1024 ** 2

export const run = Effect.fnUntraced(
  function* (
    { cwd, files }: CommandCall,
    stdin: NonNullable<CommandCall["stdin"]>,
    encoding: Encoding.Encoding | undefined
  ) {
    const slices = new Yield.Slices()
    const changes = yield* slices.run(parse(yield* received(stdin)))
    if (changes instanceof PatchFlaw) return yield* changes
    const located = yield* Effect.forEach(changes, (change) => locate(files, cwd, change))
    const { said } = yield* files.exclusive(
      Effect.tap(make(files, located, { cwd, encoding, slices }), (plan) =>
        Effect.flatMap(toChanges(plan.files), (changes) => files.writeAll(changes))
      )
    )
    return CommandResult.make({ stdout: `${said.join("\n")}\n` })
  },
  Effect.catchTags({
    PatchFlaw: ({ message }) => new InvalidUsage({ reason: `edit: ${unchanged}: ${message}` }),
    FileError: (cause) =>
      FileFailure.make("edit", cause.path, cause.reason, {
        cause,
        advice: cause.kind === "partial" ? [] : [Advice.line`No file was changed.`]
      })
  })
)

const unchanged = "no file was changed"

const received = (stdin: NonNullable<CommandCall["stdin"]>) =>
  Effect.flatMap(Collect.bytes(stdin, longest), (bytes) =>
    bytes === undefined
      ? new PatchFlaw({ line: 0, reason: `the patch has more than ${longest / 1024 ** 2} MiB` })
      : Effect.succeed(bytes.toString("latin1"))
  )

/** Parses a patch of either format. If all of its lines end in CRLF, the CR is dropped. */
function* parse(text: string): Yield.Steps<ReadonlyArray<FileChange> | PatchFlaw> {
  const raw = yield* Hunks.linesOf(text)
  const isCrlf = raw.length > 0 && raw.every((line) => line.endsWith("\r\n"))
  const lines = raw.map((line) => line.replace(isCrlf ? /\r\n$/ : /\n$/, ""))
  const changes = yield* Parser.parse(lines)
  const isNone = !(changes instanceof PatchFlaw) && changes.length === 0
  return isNone
    ? new PatchFlaw({ line: 0, reason: "standard input holds no change: neither a unified diff nor *** Begin Patch" })
    : changes
}

/** Chooses the file of a change: the first of its names that exists. */
const locate = Effect.fnUntraced(function* (
  files: Files,
  cwd: string,
  change: FileChange
): Effect.fn.Return<Located, PatchFlaw | ExecutionFailed | FileError> {
  const inside = (name: string) => Effect.tap(toPath(name, cwd, change.at), (path) => stays(files, path))
  const [first, ...others] = yield* Effect.forEach(change.paths as Arr.NonEmptyReadonlyArray<string>, inside)
  const named = others.length === 0 || change.kind === "add" ? [] : [first, ...others]
  const path = (yield* Effect.findFirst(named, (other) => isThere(files, other))).pipe(Option.getOrElse(() => first))
  return { ...change, path, toPath: change.to === undefined ? undefined : yield* inside(change.to) }
})

/** Tests whether a file can be read. */
const isThere = (files: Files, path: string) =>
  Effect.isSuccess(Stream.runDrain(Stream.take(files.read(path, { regular: true }), 1)))

/**
 * Refuses a path that a link leads out of the current directory, since the patch's author can't know what is there.
 */
const stays = Effect.fnUntraced(function* (
  files: Files,
  path: string
): Effect.fn.Return<void, ExecutionFailed | FileError> {
  const link = yield* files.exit(path)
  if (link === undefined) return
  const by = link === path ? "it is a link" : `${FileFailure.printable(link)} is a link`
  return yield* refused(path, `${by} that leads out of the current directory`)
})

/** Converts a name in a patch into a path below the current directory. Any other path may be an attack. */
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

/** Turns the plan into file changes, skipping unchanged files. */
const toChanges = (planned: ReadonlyArray<Planned>): Effect.Effect<ReadonlyArray<Changed>, ExecutionFailed> =>
  Effect.forEach(
    planned.filter(({ mode, original, text }) => text !== original || (text !== undefined && mode !== undefined)),
    Effect.fnUntraced(function* ({ encoding, mode, path, text }) {
      const bytes = text === undefined ? undefined : Buffer.from(text, "latin1")
      const content =
        bytes && encoding ? yield* Effect.promise(() => Encoding.encode(bytes.toString(), encoding)) : bytes
      if (typeof content === "string") return yield* refused(path, content)
      return { path, content, ...(mode === undefined ? {} : { mode }) }
    })
  )
