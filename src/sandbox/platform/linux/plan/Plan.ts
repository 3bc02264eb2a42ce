/**
 * Writes the plan of a sandbox: its layout as bubblewrap's arguments, and the files that the launch reads.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Attempt from "../../../../domain/Attempt.js"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as PrivateDirectory from "../../../../session/PrivateDirectory.js"
import * as BytePath from "../../../policy/BytePath.js"
import { isWithin } from "../../../policy/HostPath.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask } from "../../SandboxPlatform.js"
import type * as TemporaryDirectory from "../../TemporaryDirectory.js"
import * as ToolCache from "../../ToolCache.js"
import * as Layout from "./Layout.js"
import * as NoSandbox from "./NoSandbox.js"
import type { Machine } from "./Seccomp.js"
import * as Seccomp from "./Seccomp.js"
import * as WriteRoots from "./WriteRoots.js"

/** A directory that no sandbox sees, with the files that one is built from. */
export interface PlanDirectory {
  readonly path: string
  /** The sources of masks: an empty file and an empty directory that nobody may open, and their parent directory. */
  readonly placeholders: { readonly root: string; readonly file: string; readonly directory: string }
  /** The directory that is mounted on once all masks are mounted. */
  readonly masked: string
}

/** What determines the source of a mask. */
type MaskSource = Pick<Mask, "kind" | "standIn">

/** Creates the directory with its placeholders, in the directory of all sessions. Throws the file system's error. */
export const makeDirectory = (sessions: string): PlanDirectory => {
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

/** Removes the directory, and the directory of all sessions if it is then empty. */
export const removeDirectory = (directory: PlanDirectory): void => {
  Fs.rmSync(directory.path, { recursive: true, force: true })
  // Other sessions are in it.
  Attempt.ignore(() => Fs.rmdirSync(Path.dirname(directory.path)))
}

/** Escapes white space, backslashes and `#` as octal numbers. */
const escape = (path: string): string =>
  path.replaceAll(/[\s\\#]/g, (char) =>
    char.charCodeAt(0) < 128 ? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}` : char
  )

/** Returns the file or directory that is mounted over a path. A mask with a text of its own gets a new file. */
const sourceOf = ({ placeholders }: PlanDirectory, { kind, standIn }: MaskSource): string => {
  if (standIn === undefined) return placeholders[kind]
  const hash = Crypto.createHash("sha256").update(standIn).digest("hex").slice(0, 16)
  const path = Path.join(placeholders.root, `file-${hash}`)
  if (!Fs.existsSync(path)) Fs.writeFileSync(path, standIn, { encoding: "latin1", mode: 0o444 })
  return path
}

/** Writes a line of a table for `mount -a`, which binds one path over another. */
export const toLine = (source: string, target: string, options: string): string =>
  `${escape(source)} ${escape(target)} none ${options} 0 0\n`

/**
 * Writes the table that mounts masks. `first` makes the placeholders read-only and private before anything is bound
 * from them. A later remount would not reach the sandbox. Shared masks would form one peer group, through which the
 * kernel walks for each new mask.
 */
export const maskTable = (
  plan: PlanDirectory,
  masks: ReadonlyArray<MaskSource & Pick<Mask, "path">>,
  first: boolean
): string =>
  (first ? toLine(plan.placeholders.root, plan.placeholders.root, "bind,private,ro,nosuid,nodev,noexec") : "") +
  masks.map((mask) => toLine(sourceOf(plan, mask), mask.path, "bind")).join("")

/** The descriptors that bubblewrap reads its input from. */
export const descriptors = { gate: 7, arguments: 8, seccomp: 9 } as const

const MiB = 1024 ** 2

const tmpfs = (path: string, size: number, mode: string): ReadonlyArray<string> => [
  ...["--perms", mode],
  ...["--size", String(size)],
  ...["--tmpfs", path]
]

const isolation: ReadonlyArray<string> = [
  "--unshare-user",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-net",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--disable-userns",
  ...["--cap-drop", "ALL"],
  "--die-with-parent",
  "--new-session",
  // This name needs no lookup, which would count as an attempt to reach the network.
  ...["--hostname", "localhost"]
]

/** The directories in `/run` that hold NixOS's programs. */
const programsInRun = ["/run/current-system", "/run/booted-system", "/run/opengl-driver"]

/** Returns a quarter of the memory that commands have: the machine's, or what a cgroup or the policy leaves of it. */
const quarter = (memory = Infinity): number =>
  Math.floor(Math.min(Os.totalmem(), process.constrainedMemory() || Infinity, memory * MiB) / 4)

const system = (sharedMemory: number): ReadonlyArray<string> => [
  ...["--ro-bind", "/", "/"],
  ...["--dev", "/dev"],
  ...tmpfs("/dev/shm", sharedMemory, "1777"),
  ...["--remount-ro", "/dev"],
  ...["--proc", "/proc"],
  ...["--ro-bind", "/proc/sys", "/proc/sys"],
  ...tmpfs("/run", 16 * MiB, "0755"),
  ...programsInRun.flatMap((path) => ["--ro-bind-try", path, path])
]

const hidden = (path: string) => tmpfs(path, MiB, "0711")
const bind = (path: string, at = path): ReadonlyArray<string> => ["--bind", path, at]
const bindReadOnly = (path: string): ReadonlyArray<string> => ["--ro-bind", path, path]

/**
 * Binds a directory writable, with pins below it: a mount point can't be renamed. Then binds the directory again over
 * its pins, which still hold. That way, files can move between its directories without crossing a mount.
 */
const writable = (path: string, at: string, pins: ReadonlyArray<string>): ReadonlyArray<string> => {
  const pinned = pins.flatMap((pin) => bind(`${path}${pin}`, `${at}${pin}`))
  return pinned.length === 0 ? bind(path, at) : [...bind(path, at), ...pinned, ...bind(path, at)]
}

/** Makes the directories for temporary files, with pins on the way to what is mounted below the kept one. */
const temporary = (layout: Layout.Layout): ReadonlyArray<string> => {
  const { kept } = layout
  const points = Layout.mountPoints(layout)
  return layout.temporary.flatMap((place) => {
    if (kept?.at.includes(place) !== true) return tmpfs(place, 256 * MiB, "1777")
    const below = points.filter((point) => point.place === place)
    const pins = new Set(below.flatMap(({ inside }) => WriteRoots.between("/", `/${inside}`)))
    return writable(
      kept.path,
      place,
      [...pins].sort((a, b) => a.length - b.length)
    )
  })
}

/**
 * Makes bubblewrap read from the gate, which signals that all mounts below the masks are made. The next mount covers
 * the file that this needs: a place of its own would make bubblewrap read the mount table twice more.
 */
const arriving = (sessions: string): ReadonlyArray<string> => [
  ...hidden(sessions),
  ...["--file", String(descriptors.gate), `${sessions}/gate`]
]

export interface PlanOptions {
  readonly policy: SandboxPolicy
  /** The private directory of the session. */
  readonly session: string
  /** The shell's program. */
  readonly program: string
  /** The places for private directories of the user's sessions. */
  readonly places: ReadonlyArray<string>
  /** The directory that replaces `/tmp` in the sandbox. */
  readonly temporary: TemporaryDirectory.Held | undefined
  /** The directory that the plan is written to. */
  readonly directory: PlanDirectory
  readonly machine: Machine
  /** True if bubblewrap must signal when the masks can be mounted (`Launch`). */
  readonly gate: boolean
  /** True if the launcher mounts the masks (`Launch`), because bubblewrap takes quadratic time for them. */
  readonly masksFromOutside: boolean
  /** The commands' variables; `within` are those that only commands may have, not bubblewrap itself. */
  readonly variables: Readonly<Record<string, string>>
  readonly within: Readonly<Record<string, string>>
}

/** Makes bubblewrap's arguments, without the program that it runs. */
const argumentsOf = (layout: Layout.Layout, options: PlanOptions): ReadonlyArray<string> => {
  const { directory, gate, masksFromOutside, policy, within, variables } = options
  const isWritable = (path: string) =>
    layout.roots.some((root) => isWithin(path, root)) && !layout.readonly.some((one) => isWithin(path, one))
  const caches = layout.toolCache === undefined ? {} : ToolCache.variables(layout.toolCache, variables, isWritable)
  const pinsIn = (root: string) => layout.pins.flatMap((pin) => (isWithin(pin, root) ? [pin.slice(root.length)] : []))
  return [
    // Root is root in the sandbox too.
    ...(process.getuid?.() === 0 ? [] : ["--uid", String(process.getuid?.()), "--gid", String(process.getgid?.())]),
    ...isolation,
    ...system(policy.sharedMemory === undefined ? quarter(policy.memory) : policy.sharedMemory * MiB),
    ...temporary(layout),
    ...layout.roots.flatMap((root) => (layout.isReadOnly ? bindReadOnly(root) : writable(root, root, pinsIn(root)))),
    ...layout.readonly.flatMap(bindReadOnly),
    ...layout.openings.flatMap(({ granted, mask, opened }) => [
      ...hidden(mask.path),
      ...granted.flatMap((path) => (opened.includes(path) ? bind(path) : bindReadOnly(path)))
    ]),
    // The cache lies among Synapse's own files, which are hidden.
    ...(layout.toolCache === undefined ? [] : bind(layout.toolCache)),
    ...(masksFromOutside ? [] : layout.masks).flatMap((mask) => ["--ro-bind", sourceOf(directory, mask), mask.path]),
    ...(gate ? arriving(layout.sessions) : []),
    ...hidden(layout.sessions),
    ...bindReadOnly(layout.session),
    ...["--remount-ro", layout.sessions],
    ...layout.others.flatMap(hidden),
    ...(layout.kept === undefined ? [] : bind(layout.kept.path)),
    ...layout.others.flatMap((path) => ["--remount-ro", path]),
    ...layout.openings.flatMap(({ mask }) => ["--remount-ro", mask.path]),
    ...["--seccomp", String(descriptors.seccomp)],
    ...Object.entries({ ...within, ...caches }).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", layout.cwd]
  ]
}

/**
 * Writes the files that the launch reads: bubblewrap's arguments, the seccomp filter and the masks. Behind a gate, the
 * filter is the file `filter`, for a shell's printf, and the masks are a mount table, whose last mount signals that all
 * are mounted. `targets` lists the masked paths, in case one vanishes before the table is mounted.
 */
const write = (layout: Layout.Layout, options: PlanOptions): void => {
  const { directory, gate, machine, masksFromOutside, policy } = options
  const { masked, path, placeholders } = directory
  const put = (name: string, bytes: string | Uint8Array) =>
    Fs.writeFileSync(Path.join(path, name), typeof bytes === "string" ? BytePath.encode(bytes) : bytes, { mode: 0o600 })
  const unixSockets = policy.unixSockets !== undefined
  const seccomp = Seccomp.make(machine, { isRoot: process.getuid?.() === 0, unixSockets })
  put(
    "arguments",
    argumentsOf(layout, options)
      .map((argument) => `${argument}\0`)
      .join("")
  )
  if (!gate) return put("seccomp", seccomp)
  const masks = masksFromOutside ? layout.masks : []
  put("filter", `${Array.from(seccomp, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}\n`)
  put("masks", maskTable(directory, masks, masks.length > 0) + toLine(placeholders.directory, masked, "bind"))
  put("targets", masks.map((mask) => `${sourceOf(directory, mask)}\0${mask.path}\0`).join(""))
}

/**
 * Walks the directories that a policy names, and writes the plan. Fails if the sandbox can't be built as the policy
 * says.
 */
export const make = (options: PlanOptions): Effect.Effect<Layout.Layout, ExecutionFailed> =>
  Effect.gen(function* () {
    const { policy, temporary } = options
    const layout = yield* NoSandbox.attemptPromise("its directories could not be searched", () =>
      Layout.make(policy, {
        session: options.session,
        needed: [options.program],
        places: options.places,
        toolCache: ToolCache.find(policy),
        kept: temporary?.path
      })
    )
    const flaw = Layout.unworkable(policy, layout)
    if (flaw !== undefined) return yield* NoSandbox.because(`no sandbox: ${flaw}`)
    yield* NoSandbox.attempt("its directory for temporary files could not be prepared", () => {
      for (const { inside, kind } of Layout.mountPoints(layout)) temporary?.point(inside, kind)
    })
    yield* NoSandbox.attempt("its plan could not be written", () => write(layout, options))
    return layout
  })
