/**
 * Works out what a patch makes of files, without writing any.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ShellText from "../../bash/ShellText.js"
import type * as Slices from "../../domain/Slices.js"
import type { FileError, Files } from "../../files/Files.js"
import { type FileChange, PatchRefused } from "./Edit.change.js"
import * as Hunks from "./Edit.hunks.js"

const existing = "it exists already: update it instead"

/** The most bytes of all files of a patch, before it is applied. */
const mostHeld = 64 * 1024 ** 2

/**
 * A file that a patch changes; its texts are Latin-1, and undefined where there is no file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Planned {
  readonly path: string
  readonly original: string | undefined
  text: string | undefined
  /** The mode that it gets; undefined to leave it. */
  mode: string | undefined
  /** True where another file has come here, and its own content is yet to be moved away. */
  isEarly: boolean
}

/**
 * The files that a patch changes, and a line about each change.
 *
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  readonly files: ReadonlyArray<Planned>
  readonly said: ReadonlyArray<string>
}

/**
 * A change whose names are paths.
 *
 * @since 0.1.0
 * @category models
 */
export interface Located extends FileChange {
  readonly path: string
  readonly toPath: string | undefined
}

/**
 * Reads the files, and applies the changes to them in their order.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  files: Files,
  changes: ReadonlyArray<Located>,
  { cwd, slices }: { readonly cwd: string; readonly slices: Slices.Slices }
): Effect.fn.Return<Plan, PatchRefused | FileError> {
  const planned = new Map<string, Planned>()
  const said: Array<string> = []
  const refusals: Array<PatchRefused> = []
  const leaving = new Set(
    changes.flatMap(({ isCopy, kind, path, toPath }) =>
      kind === "delete" || (toPath !== undefined && isCopy !== true) ? [path] : []
    )
  )
  let room = mostHeld

  const at = Effect.fnUntraced(function* (path: string) {
    const known = planned.get(path)
    if (known !== undefined) return known
    const chunks: Array<Uint8Array> = []
    const isThere = yield* Stream.runForEach(files.read(path, { regular: true }), (chunk) => {
      room -= chunk.length
      if (room < 0) return new PatchRefused({ path, hunk: 0, reason: `more than ${mostHeld / 1024 ** 2} MiB to patch` })
      return Effect.sync(() => void chunks.push(chunk))
    }).pipe(
      Effect.as(true),
      Effect.catchIf(
        (error) => error._tag === "FileError" && error.kind === "missing",
        () => Effect.succeed(false)
      )
    )
    const original = isThere ? Buffer.concat(chunks).toString("latin1") : undefined
    const file: Planned = { path, original, text: original, mode: undefined, isEarly: false }
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
    const refused = (reason: string, hunk = 0) => new PatchRefused({ path, hunk, reason })
    const file = yield* at(path)
    const target = toPath === undefined ? file : yield* at(toPath)
    const isNew = kind === "add" || (change.mayBeNew === true && file.text === undefined)
    const isMove = target !== file && change.isCopy !== true
    const before = isNew ? "" : isMove || kind === "delete" ? take(file) : file.text
    if (before === undefined) {
      refusals.push(refused(`No such file or directory${yield* elsewhere(files, cwd, path)}`))
      continue
    }
    if ((isNew || target !== file) && target.text !== undefined) {
      if (!leaving.has(target.path) || target.isEarly) {
        return yield* new PatchRefused({
          path: target.path,
          hunk: 0,
          reason: kind === "add" ? existing : "it exists already"
        })
      }
      target.isEarly = true
    }
    const applied = yield* slices.run(Hunks.apply(before, change.hunks))
    if (!("text" in applied)) {
      for (const one of applied) refusals.push(misfit(change, one))
      continue
    }
    const { added, removed, text } = applied
    if (kind === "delete") {
      if (change.isWhole !== true && text !== "") return yield* refused("it holds more than the patch deletes")
      said.push(`Deleted ${shown(path)}`)
      continue
    }
    target.text = text
    if (target !== file && file.original !== undefined) target.mode = yield* files.mode(path)
    if (change.isExecutable !== undefined) target.mode = executable(target.mode, change.isExecutable)
    const counts = change.hunks.length === 0 ? "" : ` (+${added} -${removed})`
    if (isNew) said.push(`Added ${shown(path)} (${added} ${added === 1 ? "line" : "lines"})`)
    else if (target === file) said.push(`Updated ${shown(path)}${counts || " (mode)"}`)
    else said.push(`${isMove ? "Moved" : "Copied"} ${shown(path)} to ${shown(target.path)}${counts}`)
  }
  const [first, ...others] = refusals
  if (first === undefined) return { files: [...planned.values()], said }
  const rows = others.slice(0, mostRefusals - 1).map(({ path, reason }) => `${shown(path)}: ${reason}`)
  if (refusals.length > mostRefusals) rows.push(`… and ${refusals.length - mostRefusals} more that do not fit`)
  return yield* new PatchRefused({ path: first.path, hunk: first.hunk, reason: [first.reason, ...rows].join("\n") })
})

/** The most hunks and files that don't fit of which is said why. */
const mostRefusals = 5

/** Says where a file is that the patch names from a directory above the current one. */
const elsewhere = Effect.fnUntraced(function* (files: Files, cwd: string, path: string) {
  const parts = path.split("/")
  for (let count = 1; count < parts.length; count++) {
    if (!cwd.endsWith(`/${parts.slice(0, count).join("/")}`)) continue
    const here = parts.slice(count).join("/")
    if (yield* Effect.isFailure(Stream.runDrain(Stream.take(files.read(here, { regular: true }), 1)))) continue
    const up = Array.from({ length: count }, () => "..").join("/")
    return `, but ${shown(here)} is here: the patch names files from a directory above: cd ${up} && edit --patch`
  }
  return ""
})

const misfit = ({ hunks, path }: Located, { hunk, reason }: Hunks.Misfit): PatchRefused => {
  const of = hunks.length === 1 ? "the hunk" : `hunk ${hunk} of ${hunks.length}`
  return new PatchRefused({
    path,
    hunk,
    reason: `${of} (line ${hunks[hunk - 1]?.at} of the patch) ${reason}`
  })
}

const shown = (path: string): string => (/\p{Cc}|\p{Cs}/u.test(path) ? ShellText.quoted(path) : path)

/** Returns a mode with or without the right to execute, for whoever may read. */
const executable = (mode: string | undefined, isExecutable: boolean): string => {
  if (mode === undefined) return isExecutable ? "+x" : "-x"
  const bits = Number.parseInt(mode, 8)
  return (isExecutable ? bits | ((bits & 0o444) >> 2) : bits & ~0o111).toString(8)
}
