/**
 * The files that a sandbox is built from, in a directory that no sandbox sees.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Mask } from "../../SandboxPlatform.js"

/**
 * Where the files of one sandbox lie.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlanDirectory {
  readonly path: string
  /** What masks are bound from: an empty file and an empty directory that nobody may open. */
  readonly placeholders: { readonly root: string; readonly file: string; readonly directory: string }
  /** What is mounted upon when all masks are. */
  readonly masked: string
}

/** Blanks and backslashes as octal numbers. */
const escape = (path: string): string =>
  path.replaceAll(/[\s\\#]/g, (char) =>
    char.charCodeAt(0) < 128 ? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}` : char
  )

/**
 * Lines for `mount -a` that bind one path over another each.
 *
 * @since 0.1.0
 */
export const toTable = (
  binds: Iterable<{ readonly source: string; readonly target: string; readonly options: string }>
): string =>
  Array.from(binds, ({ options, source, target }) => `${escape(source)} ${escape(target)} none ${options} 0 0\n`).join(
    ""
  )

/**
 * The placeholders are read-only before anything is bound from them: a remount later would not reach the sandbox. And
 * private, or all that is bound from them would be one group of peers, in which every new one costs a walk.
 */
const guard = (path: string) => ({ source: path, target: path, options: "bind,private,ro,nosuid,nodev,noexec" })

/**
 * Lines that mask the paths.
 *
 * @since 0.1.0
 */
export const maskTable = (plan: PlanDirectory, masks: Iterable<Pick<Mask, "kind" | "path">>, first: boolean): string =>
  toTable([
    ...(first ? [guard(plan.placeholders.root)] : []),
    ...Array.from(masks, ({ kind, path }) => ({ source: plan.placeholders[kind], target: path, options: "bind" }))
  ])

/** All masks, and at last the mount that says that they are there. */
const startTable = (plan: PlanDirectory, masks: ReadonlyArray<Mask>): string => {
  const said = toTable([{ source: plan.placeholders.directory, target: plan.masked, options: "bind" }])
  return masks.length === 0 ? said : maskTable(plan, masks, true) + said
}

/** Milliseconds after which a directory whose launcher is gone is nobody's any more. */
const abandoned = 3_600_000

/** A launcher that was killed could not take its plans away. */
const sweep = (sessions: string): void => {
  for (const name of Fs.readdirSync(sessions)) {
    const pid = /^sandbox-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || Fs.existsSync(`/proc/${pid}`)) continue
    const path = Path.join(sessions, name)
    const age = Date.now() - (Fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > abandoned) Fs.rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Makes the directory with its placeholders in the directory of all sessions; throws what the file system says.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (sessions: string): PlanDirectory => {
  sweep(sessions)
  const path = Fs.mkdtempSync(Path.join(sessions, `sandbox-${process.pid}-`))
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
 * Writes what the launch reads. `targets` is for masks whose file vanishes in between, `filter` for a shell's printf.
 *
 * @since 0.1.0
 */
export const write = (
  plan: PlanDirectory,
  contents: {
    readonly arguments: ReadonlyArray<string>
    readonly seccomp: Uint8Array
    readonly masks: ReadonlyArray<Mask>
  }
): void => {
  const put = (name: string, bytes: string | Uint8Array) =>
    Fs.writeFileSync(Path.join(plan.path, name), bytes, { mode: 0o600 })
  put("arguments", contents.arguments.map((argument) => `${argument}\0`).join(""))
  put("seccomp", contents.seccomp)
  put("filter", `${Array.from(contents.seccomp, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}\n`)
  put("masks", startTable(plan, contents.masks))
  put("targets", contents.masks.map(({ kind, path }) => `${plan.placeholders[kind]}\0${path}\0`).join(""))
}

/**
 * Takes it away, and the directory of all sessions with the last of them.
 *
 * @since 0.1.0
 */
export const remove = (plan: PlanDirectory): void => {
  Fs.rmSync(plan.path, { recursive: true, force: true })
  try {
    Fs.rmdirSync(Path.dirname(plan.path))
  } catch {
    // Others are in it.
  }
}
