/** Writes a layout as bubblewrap's arguments. */

import { isWithin } from "../../../policy/HostPath.js"
import * as Layout from "./Layout.js"
import type { PlanDirectory } from "./PlanDirectory.js"
import * as WriteRoots from "./WriteRoots.js"

/** The descriptors that bubblewrap reads its input from. */
export const descriptors = { gate: 7, arguments: 8, seccomp: 9 } as const

/** The options of `make`. */
export interface PlanOptions {
  readonly layout: Layout.Layout
  /** True where the masks are mounted by the launcher (`Launch`), because bubblewrap takes quadratic time for them. */
  readonly masksFromOutside: boolean
  /** True where bubblewrap has to signal when the masks can be mounted (`Launch`). */
  readonly gate: boolean
  readonly directory: Pick<PlanDirectory, "placeholders">
  /** The user and the group of the commands; the launcher's own where it is not given. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Variables that only the commands may have, not bubblewrap itself. */
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
  // This name needs no look-up, which would count as an attempt to reach the network.
  ...["--hostname", "localhost"]
]

/** The directories in `/run` that hold NixOS's programs. */
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

const bind = (path: string, at = path): ReadonlyArray<string> => ["--bind", path, at]
const bindReadOnly = (path: string): ReadonlyArray<string> => ["--ro-bind", path, path]

/**
 * Binds a root writable, with pins: a directory that something is mounted on can't be renamed. Then the root is bound
 * once more and covers its pins, which hold all the same; a file can so be moved from one directory to another without
 * crossing a mount.
 */
const writable = (root: string, pins: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own = pins.filter((pin) => isWithin(pin, root))
  return own.length === 0 ? bind(root) : [...bind(root), ...own.flatMap((pin) => bind(pin)), ...bind(root)]
}

/**
 * Makes the directories for temporary files. In the one that is kept, what lies on the way to a mount point is pinned as
 * it is in a root.
 */
const temporary = (layout: Layout.Layout): ReadonlyArray<string> => {
  const { kept } = layout
  const points = Layout.mountPoints(layout)
  return layout.temporary.flatMap((place) => {
    if (kept?.at.includes(place) !== true) return tmpfs(place, 256 * MiB, "1777")
    const pins = new Set(
      points.flatMap((point) => (point.place === place ? WriteRoots.between("/", `/${point.inside}`) : []))
    )
    const whole = bind(kept.path, place)
    const sorted = [...pins].sort((a, b) => a.length - b.length)
    return sorted.length === 0
      ? whole
      : [...whole, ...sorted.flatMap((pin) => bind(`${kept.path}${pin}`, `${place}${pin}`)), ...whole]
  })
}

const opening = ({ granted, mask }: Layout.Layout["openings"][number]): ReadonlyArray<string> => [
  ...tmpfs(mask.path, MiB, "0711"),
  ...granted.flatMap(bindReadOnly)
]

/**
 * Makes bubblewrap read from the gate, which signals that all mounts below the masks are made. The next mount covers
 * the file that this needs: a place of its own would make bubblewrap read the mount table twice more.
 */
const arriving = (sessions: string): ReadonlyArray<string> => [
  ...hidden(sessions),
  ...["--file", String(descriptors.gate), `${sessions}/gate`]
]

/** Makes bubblewrap's arguments, without the program that it runs. */
export const make = (options: PlanOptions): ReadonlyArray<string> => {
  const { gate, layout, masksFromOutside, directory, user } = options
  const masks = masksFromOutside ? [] : layout.masks
  return [
    ...(user === undefined ? [] : ["--uid", String(user.uid), "--gid", String(user.gid)]),
    ...isolation,
    ...system,
    ...temporary(layout),
    ...layout.roots.flatMap((root) => (layout.isReadOnly ? bindReadOnly(root) : writable(root, layout.pins))),
    ...layout.readonly.flatMap(bindReadOnly),
    // Among the read-only files of Synapse's own, so that it comes after them.
    ...(layout.toolCache === undefined ? [] : bind(layout.toolCache)),
    ...masks.flatMap(({ kind, path }) => ["--ro-bind", directory.placeholders[kind], path]),
    ...layout.openings.flatMap(opening),
    ...(gate ? arriving(layout.sessions) : []),
    ...hidden(layout.sessions),
    ...bindReadOnly(layout.session),
    ...["--remount-ro", layout.sessions],
    ...layout.others.flatMap(hidden),
    ...(layout.kept === undefined ? [] : bind(layout.kept.path)),
    ...layout.others.flatMap((path) => ["--remount-ro", path]),
    ...layout.openings.flatMap(({ mask }) => ["--remount-ro", mask.path]),
    ...["--seccomp", String(descriptors.seccomp)],
    ...Object.entries(options.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", layout.cwd]
  ]
}
