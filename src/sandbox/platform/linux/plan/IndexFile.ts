/**
 * Keeps directory indexes from one start to the next, in files that no sandbox can write.
 *
 * A file that is not as this user wrote it during this boot (another owner, open to others, cut off) is ignored: the
 * walk reads everything then.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Directories from "../../../../files/Directories.js"
import * as HostPath from "../../../policy/HostPath.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as RealPath from "../../../policy/RealPath.js"
import type { Rule } from "../../../policy/SandboxPolicy.js"
import { type Directory, DirectoryIndex } from "./internal/DirectoryIndex.js"

/** The version of the format; files of another version are ignored. */
const version = 2

/** The most bytes of a file: a longer one is neither read nor written. */
const longest = 32 * 1024 ** 2

/** The number of newly read entries from which a tree is written again: to read fewer takes next to no time. */
const fewest = 1000

/** The number of files that are kept; beyond that, the oldest is removed. */
const mostFiles = 64

const prefix = "walk-"

const digest = (bytes: string | Uint8Array): string => Crypto.createHash("sha256").update(bytes).digest("hex")

const read = (path: string): string => {
  try {
    return Fs.readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/**
 * Returns the digest of what the indexes depend on: the boot of the system, and the layers of its overlays, which can
 * change without a directory's ctime.
 */
const worldOf = (): string => {
  const overlays = read("/proc/self/mountinfo").match(/^.* - overlay .*$/gm) ?? []
  return digest(JSON.stringify([version, read("/proc/sys/kernel/random/boot_id"), overlays]))
}

/** Tests whether a file belongs to this user, and nobody else can read or write it. */
const isOurs = ({ mode, uid }: Fs.Stats): boolean => uid === process.geteuid?.() && (mode & 0o077) === 0

/** Tests whether a directory, given by its real path, is private to this user and lies in none of the roots. */
const isSafe = (real: string, roots: ReadonlyArray<string>): boolean => {
  const at = Fs.lstatSync(real)
  return at.isDirectory() && isOurs(at) && !roots.some((root) => isWithin(real, root))
}

/** Returns the real path of the directory for indexes, whether or not it exists; undefined where it is unsuitable. */
const locate = (directory: string, roots: ReadonlyArray<string>): string | undefined => {
  // A relative home (`HOME=.`) is nobody's own.
  if (!Path.isAbsolute(directory)) return undefined
  try {
    const { real } = RealPath.follow(directory)
    if (roots.some((root) => isWithin(real, root))) return undefined
    return HostPath.isMissing(real) || isSafe(real, roots) ? real : undefined
  } catch {
    return undefined
  }
}

/** Reads a file that is private to this user; undefined for any other. */
const readOwn = (path: string): Buffer | undefined => {
  let file: number | undefined
  try {
    file = Fs.openSync(path, Fs.constants.O_RDONLY | Fs.constants.O_NOFOLLOW | Fs.constants.O_NONBLOCK)
    const at = Fs.fstatSync(file)
    return at.isFile() && at.nlink === 1 && at.size <= longest && isOurs(at) ? Fs.readFileSync(file) : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) Fs.closeSync(file)
  }
}

/**
 * Returns when the system was started, by the current clock, in milliseconds. Where this changes during one boot, the
 * clock was set, and a directory may get a ctime again that it had before.
 */
const startOf = (): number => Date.now() - Number.parseFloat(read("/proc/uptime")) * 1000

/** Milliseconds by which two readings of the system's start may differ. */
const imprecise = 500

const isSameStart = (one: unknown, other: number): one is number =>
  typeof one === "number" && Math.abs(one - other) < imprecise

/**
 * Makes the first line of the file: the digest of `worldOf`, the system's start, the number of directories, and the
 * digest of the tree.
 */
const headOf = (world: string, start: number, count: number, body: Uint8Array): string =>
  JSON.stringify([world, start, count, digest(body)])

/** Parses a tree that was written during this boot; undefined for any other file. */
const parse = (bytes: Buffer, world: string, start: number): readonly [Directory, number] | undefined => {
  const end = bytes.indexOf("\n")
  const head = bytes.toString("latin1", 0, end)
  const body = bytes.subarray(end + 1)
  try {
    const [, written, count] = JSON.parse(head)
    return isSameStart(written, start) && typeof count === "number" && head === headOf(world, written, count, body)
      ? [JSON.parse(body.toString()) as Directory, count]
      : undefined
  } catch {
    return undefined
  }
}

/** Removes the oldest files beyond `mostFiles`, drafts of killed writers included. */
const sweep = (directory: string): void => {
  const files = Fs.readdirSync(directory).filter((name) => name.startsWith(prefix))
  if (files.length <= mostFiles) return
  const aged = files.map((name) => [Fs.statSync(Path.join(directory, name)).mtimeMs, name] as const)
  for (const [, name] of aged.sort(([a], [b]) => a - b).slice(0, -mostFiles)) {
    Fs.rmSync(Path.join(directory, name), { force: true })
  }
}

/** The indexes of all trees that a platform walks. */
export interface Indexes {
  /** Returns the index of a tree, for the globs among the rules. */
  readonly of: (root: string, rules: ReadonlyArray<Rule>) => DirectoryIndex
  /** Writes the indexes in which much is new. */
  readonly save: Effect.Effect<void>
}

/** Keeps indexes in memory alone. */
export const memory = (): Indexes => {
  const open = new Map<string, DirectoryIndex>()
  return {
    of: (root) => {
      const index = open.get(root) ?? new DirectoryIndex({ name: root })
      open.set(root, index)
      return index
    },
    save: Effect.void
  }
}

/**
 * Keeps indexes in a directory, which is created with the first of them; undefined where it is not private, or lies in
 * one of the roots, which commands may write.
 */
export const make = (directory: string, roots: ReadonlyArray<string>, clock?: () => number): Indexes | undefined => {
  const home = locate(directory, roots)
  if (home === undefined) return undefined
  const world = worldOf()
  const start = startOf()
  const open = new Map<string, DirectoryIndex>()
  return {
    of: (root, rules) => {
      const globs = rules.flatMap(({ kind, path, real }) => (kind === "glob" ? [[path, real]] : []))
      const path = Path.join(home, prefix + digest(JSON.stringify([root, globs])))
      const now = startOf()
      if (!isSameStart(start, now)) return new DirectoryIndex({ name: root }, 1, clock)
      const known = open.get(path)
      if (known !== undefined) return known
      const bytes = readOwn(path)
      const [tree, count] = (bytes && parse(bytes, world, now)) ?? [{ name: root }, 1]
      const index = new DirectoryIndex(tree, count, clock)
      open.set(path, index)
      return index
    },
    save: Effect.sync(() => {
      for (const [path, index] of open) {
        if (index.learned < fewest) continue
        index.learned = 0
        try {
          const body = Buffer.from(JSON.stringify(index.root))
          if (body.length > longest / 2) continue
          Directories.makeBoth(home)
          if (!isSafe(Fs.realpathSync.native(home), roots)) return
          const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
          const head = headOf(world, start, index.size, body)
          Fs.writeFileSync(draft, Buffer.concat([Buffer.from(`${head}\n`), body]), { flag: "wx", mode: 0o600 })
          Fs.renameSync(draft, path)
          sweep(home)
        } catch {
          // The next start reads everything once more.
        }
      }
    })
  }
}
