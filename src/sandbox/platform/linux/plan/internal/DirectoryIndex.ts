/**
 * Remembers the entries of a tree's directories, so that a walk reads only the directories that have changed since the
 * last one.
 *
 * The kernel sets a directory's ctime to the time of day whenever an entry of it is made, renamed or removed, and no
 * program can set it to anything else. A directory that still has the device, the inode and the ctime of when it was
 * read has the same entries. A directory for which this can't be relied on (`isSettled`) is not remembered, and is read
 * at every walk.
 */
import * as Fs from "node:fs"
import * as BytePath from "../../../../policy/BytePath.js"

/** The kind of a directory's entry. Whatever is neither a directory nor a symbolic link counts as a file. */
export type Kind = "file" | "directory" | "link"

/** The entries of one directory that matter to a walk. */
export interface Listing {
  /** Entries that a rule names, or that a rule may name the next time. */
  named?: ReadonlyArray<readonly [name: string, kind: Kind]> | undefined
  /** All other directories among the entries. */
  directories?: ReadonlyArray<Directory> | undefined
}

/** A directory of the index. */
export interface Directory extends Listing {
  readonly name: string
  /** The device, the inode and the ctime when it was read; missing where it has to be read at the next walk. */
  stamp?: readonly [device: number, inode: number, ctime: number] | undefined
}

/**
 * Reads a directory, which is reached by a second path, and counts its entries; undefined where it can't be read. `known`
 * has the directories that were in it at the last walk.
 */
export type Read = (
  path: string,
  at: string,
  known: ReadonlyMap<string, Directory> | undefined
) => (Listing & { readonly entries: number }) | undefined

/** Notes each directory whose entries have changed since a time in milliseconds. */
interface Changed {
  readonly since: number
  readonly note: () => void
}

/**
 * Milliseconds after a change during which a further change may leave the ctime the same, for the kernel's clock
 * advances in ticks.
 */
const unsettled = 1000

/** The file systems whose ctime this kernel sets as described: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and overlayfs. */
const trusted = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630])

/** The most directories that one index remembers. */
const mostDirectories = 100_000

const options = { throwIfNoEntry: false } as const

const stat = (path: string): Fs.Stats | undefined => {
  try {
    return Fs.lstatSync(BytePath.toHost(path), options)
  } catch {
    return undefined
  }
}

/** The index of one tree, for one set of rules. */
export class DirectoryIndex {
  /** The number of entries that were read since the index was made or written, and that the next walk need not read. */
  learned = 0
  private readonly devices = new Map<number, boolean>()

  /** `size` is the number of directories in `root`; `clock` returns the time of day in milliseconds. */
  constructor(
    readonly root: Directory,
    public size = 1,
    private readonly clock: () => number = Date.now
  ) {}

  /**
   * Returns the entries of a directory, from the index or by `read`; undefined where it can't be read. `path` is the
   * path of `directory`, and `reached` another one by which it is reached. Notes a directory that has changed since a
   * time in milliseconds.
   */
  list(path: string, directory: Directory, read: Read, changed?: Changed, reached = path): Listing | undefined {
    // Taken before it is read: a change meanwhile gives it another ctime.
    const at = stat(reached)
    if (changed !== undefined && at !== undefined && at.ctimeMs >= changed.since) changed.note()
    const { stamp } = directory
    if (stamp !== undefined && at?.ctimeMs === stamp[2] && at.ino === stamp[1] && at.dev === stamp[0]) return directory
    const before = directory.directories
    directory.stamp = undefined
    directory.named = undefined
    directory.directories = undefined
    const now = this.clock()
    // The directories below may be unchanged, even where this one has changed.
    const known = before && new Map(before.map((one) => [one.name, one]))
    const found = at?.isDirectory() === true ? read(path, reached, known) : undefined
    if (at === undefined || found === undefined) return undefined
    const directories = known ? found.directories?.map((one) => known.get(one.name) ?? one) : found.directories
    const listing = { named: found.named, directories }
    const more = (directories?.length ?? 0) - (before?.length ?? 0)
    if (this.size + more > mostDirectories) return listing
    this.size += more
    directory.directories = directories
    if (this.isSettled(reached, at, now)) {
      directory.named = found.named
      directory.stamp = [at.dev, at.ino, at.ctimeMs]
      this.learned += found.entries + 1
    }
    return listing
  }

  /** Tests whether any later change of a directory will give it another ctime. */
  private isSettled(path: string, { ctimeMs, dev, ino }: Fs.Stats, now: number): boolean {
    // Times in whole seconds can't tell two changes apart, and numbers that are too large can't tell two inodes apart.
    if (ctimeMs >= now - unsettled || ctimeMs % 1 === 0 || !Number.isSafeInteger(ino)) return false
    const known = this.devices.get(dev)
    if (known !== undefined) return known
    let isTrusted = false
    try {
      isTrusted = trusted.has(Fs.statfsSync(BytePath.toHost(path)).type)
    } catch {
      // It has gone.
    }
    this.devices.set(dev, isTrusted)
    return isTrusted
  }
}
