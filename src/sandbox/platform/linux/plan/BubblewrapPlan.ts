/**
 * What bubblewrap is told: a layout as its arguments.
 *
 * @since 0.1.0
 */

import type { Layout } from "./Layout.js"
import { isWithin } from "./MountTable.js"
import type { PlanDirectory } from "./PlanDirectory.js"

/**
 * The numbers of the descriptors that bubblewrap reads from.
 *
 * @since 0.1.0
 */
export const descriptors = { gate: 7, arguments: 8, seccomp: 9 } as const

/**
 * What the arguments are made from.
 *
 * @since 0.1.0
 * @category models
 */
export interface PlanOptions {
  readonly layout: Layout
  /** Whether the masks are mounted from without (`Launch`): bubblewrap's own way takes quadratic time. */
  readonly masksFromOutside: boolean
  /** Whether there is a gate that has to be told when to mount the masks (`Launch`). */
  readonly gate: boolean
  readonly directory: Pick<PlanDirectory, "placeholders">
  /** Who the commands are; the launcher itself where it is not given. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Variables that only the commands may have. */
  readonly environment: Readonly<Record<string, string>>
}

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
  // A name that is known without a look-up, which would count as a try to reach the network.
  ...["--hostname", "localhost"]
]

/** NixOS keeps its programs here. */
const programsInRun = ["/run/current-system", "/run/booted-system", "/run/opengl-driver"]

const system: ReadonlyArray<string> = [
  ...["--ro-bind", "/", "/"],
  ...["--dev", "/dev"],
  ...tmpfs("/dev/shm", 64 * MiB, "1777"),
  ...["--remount-ro", "/dev"],
  ...["--proc", "/proc"],
  ...["--ro-bind", "/proc/sys", "/proc/sys"],
  ...tmpfs("/run", 16 * MiB, "0755"),
  ...programsInRun.flatMap((path) => ["--ro-bind-try", path, path])
]

const hidden = (sessions: string) => tmpfs(sessions, MiB, "0711")

const bind = (path: string): ReadonlyArray<string> => ["--bind", path, path]
const bindReadOnly = (path: string): ReadonlyArray<string> => ["--ro-bind", path, path]

/**
 * What is mounted upon can't be renamed. Bound once more, the root hides its pins: they hold all the same, and nothing that
 * is moved crosses them.
 */
const writable = (root: string, pins: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own = pins.filter((pin) => isWithin(pin, root))
  return own.length === 0 ? bind(root) : [...bind(root), ...own.flatMap(bind), ...bind(root)]
}

const opening = (
  { granted, mask }: Layout["openings"][number],
  roots: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...tmpfs(mask.path, MiB, "0711"),
  ...granted.flatMap((path) => (roots.some((root) => isWithin(path, root)) ? bind(path) : bindReadOnly(path))),
  ...["--remount-ro", mask.path]
]

/**
 * What is read here tells the gate that all mounts are made that a mask may lie upon. The file is covered by the next mount:
 * a file of its own would cost bubblewrap two looks at the table of mounts.
 */
const arriving = (sessions: string): ReadonlyArray<string> => [
  ...hidden(sessions),
  ...["--file", String(descriptors.gate), `${sessions}/gate`]
]

/**
 * The arguments, without the program that is run.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: PlanOptions): ReadonlyArray<string> => {
  const { gate, layout, masksFromOutside, directory, user } = options
  const masks = masksFromOutside ? [] : layout.masks
  return [
    ...(user === undefined ? [] : ["--uid", String(user.uid), "--gid", String(user.gid)]),
    ...isolation,
    ...system,
    ...layout.temporary.flatMap((path) => tmpfs(path, 256 * MiB, "1777")),
    ...layout.roots.flatMap((root) => writable(root, layout.pins)),
    ...layout.readonly.flatMap(bindReadOnly),
    ...masks.flatMap(({ kind, path }) => ["--ro-bind", directory.placeholders[kind], path]),
    ...layout.openings.flatMap((one) => opening(one, layout.roots)),
    ...(gate ? arriving(layout.sessions) : []),
    ...hidden(layout.sessions),
    ...bindReadOnly(layout.session),
    ...["--remount-ro", layout.sessions],
    ...["--seccomp", String(descriptors.seccomp)],
    ...Object.entries(options.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", layout.cwd]
  ]
}
