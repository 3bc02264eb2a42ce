/** Writes the files that a sandbox is built from, into a directory that no sandbox sees. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as PrivateDirectory from "../../../../session/PrivateDirectory.js"
import * as BytePath from "../../../policy/BytePath.js"
import type { Mask } from "../../SandboxPlatform.js"

/** The paths of the files of one sandbox. */
export interface PlanDirectory {
  readonly path: string
  /**
   * The sources of masks: an empty file and an empty directory that nobody may open, and the directory that holds both.
   */
  readonly placeholders: { readonly root: string; readonly file: string; readonly directory: string }
  /** The directory that is mounted on once all masks are mounted. */
  readonly masked: string
}

/** Escapes white space, backslashes and `#` as octal numbers. */
const escape = (path: string): string =>
  path.replaceAll(/[\s\\#]/g, (char) =>
    char.charCodeAt(0) < 128 ? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}` : char
  )

/** Writes a table for `mount -a`: each line binds one path over another. */
export const toTable = (
  binds: Iterable<{ readonly source: string; readonly target: string; readonly options: string }>
): string =>
  Array.from(binds, ({ options, source, target }) => `${escape(source)} ${escape(target)} none ${options} 0 0\n`).join(
    ""
  )

/**
 * Makes the placeholders read-only before anything is bound from them, for a later remount would not reach the sandbox;
 * and private, or all masks would form one peer group, through which the kernel walks for each new one.
 */
const guard = (path: string) => ({ source: path, target: path, options: "bind,private,ro,nosuid,nodev,noexec" })

/** Writes the table that mounts masks; `first` includes the mount that protects the placeholders. */
export const maskTable = (plan: PlanDirectory, masks: Iterable<Pick<Mask, "kind" | "path">>, first: boolean): string =>
  toTable([
    ...(first ? [guard(plan.placeholders.root)] : []),
    ...Array.from(masks, ({ kind, path }) => ({ source: plan.placeholders[kind], target: path, options: "bind" }))
  ])

/** Writes the table for all masks of a start; its last mount signals that they are mounted. */
const startTable = (plan: PlanDirectory, masks: ReadonlyArray<Mask>): string => {
  const said = toTable([{ source: plan.placeholders.directory, target: plan.masked, options: "bind" }])
  return masks.length === 0 ? said : maskTable(plan, masks, true) + said
}

/** Creates the directory with its placeholders in the directory of all sessions; throws the file system's error. */
export const make = (sessions: string): PlanDirectory => {
  const path = PrivateDirectory.makeOwned(sessions, "sandbox")
  const root = Path.join(path, "placeholders")
  const placeholders = { root, file: Path.join(root, "file"), directory: Path.join(root, "directory") }
  const masked = Path.join(path, "masked")
  Fs.mkdirSync(root, { mode: 0o700 })
  Fs.mkdirSync(masked, { mode: 0 })
  Fs.writeFileSync(placeholders.file, "", { mode: 0 })
  Fs.mkdirSync(placeholders.directory, { mode: 0 })
  return { path, placeholders, masked }
}

/**
 * Writes the files that the launch reads: bubblewrap's arguments, the seccomp filter (behind a gate as `filter`, for a
 * shell's printf), and the masks (as a mount table, and as `targets` for the case that a masked file vanishes before the
 * table is mounted), which only a gate lets through.
 */
export const write = (
  plan: PlanDirectory,
  contents: {
    readonly arguments: ReadonlyArray<string>
    /** True where the launch waits to mount the masks. */
    readonly gate: boolean
    readonly seccomp: Uint8Array
    readonly masks: ReadonlyArray<Mask>
  }
): void => {
  const put = (name: string, bytes: string | Uint8Array) =>
    Fs.writeFileSync(Path.join(plan.path, name), typeof bytes === "string" ? BytePath.encode(bytes) : bytes, {
      mode: 0o600
    })
  put("arguments", contents.arguments.map((argument) => `${argument}\0`).join(""))
  if (!contents.gate) return put("seccomp", contents.seccomp)
  put("filter", `${Array.from(contents.seccomp, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}\n`)
  put("masks", startTable(plan, contents.masks))
  put("targets", contents.masks.map(({ kind, path }) => `${plan.placeholders[kind]}\0${path}\0`).join(""))
}

/** Removes the directory, and with the last of them the directory of all sessions. */
export const remove = (plan: PlanDirectory): void => {
  Fs.rmSync(plan.path, { recursive: true, force: true })
  try {
    Fs.rmdirSync(Path.dirname(plan.path))
  } catch {
    // Other sessions are in it.
  }
}
