/**
 * Finds files whose exact content git holds: anyone can read them with `git show`, so hiding them protects nothing.
 *
 * Content that was held once stays visible in that sandbox: a command may edit its project's fixture, and git must be
 * able to read it. Only hashes count. A command can write an index, but not the hash of a content that it can neither
 * read nor guess. git is not run, because a repository's configuration names programs that git runs.
 */
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../../domain/Attempt.js"
import * as GitDirectory from "./GitDirectory.js"

/** The largest index that is read and the largest file that is hashed, in bytes. */
const largestIndex = 256 * 1024 ** 2
const largestFile = 1024 ** 2

interface Repository {
  /** The directory that paths in the index are relative to. */
  readonly root: string
  readonly index: string
  readonly algorithm: "sha1" | "sha256"
}

const repositoryOf = (directory: string): Repository | undefined => {
  for (const root of GitDirectory.upwards(directory)) {
    const git = GitDirectory.ofTree(root)
    if (git === undefined) continue
    const config = GitDirectory.readFile(`${GitDirectory.commonOf(git)}/config`, largestFile) ?? ""
    const algorithm = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? "sha256" : "sha1"
    return { root, index: `${git}/index`, algorithm }
  }
  return undefined
}

/** Reads a variable-length number. Version 4 of the index stores shared path prefixes with it. */
const readOffset = (bytes: Buffer, start: number): readonly [value: number, next: number] => {
  let at = start
  let byte = bytes[at++] ?? 0
  let value = byte & 127
  while (byte & 128) {
    byte = bytes[at++] ?? 0
    value = (value + 1) * 128 + (byte & 127)
  }
  return [value, at]
}

interface Entries {
  /** Hashes by path, without paths in conflict (stages 1 to 3). */
  readonly hashes: Map<string, string>
  /** Paths that git assumes unchanged (`assumed`) or leaves alone (`skipped`). */
  readonly passedOver: Map<string, "assumed" | "skipped">
}

const noEntries = (): Entries => ({ hashes: new Map(), passedOver: new Map() })

const parseIndex = (bytes: Buffer, hashLength: number): Entries => {
  const found = noEntries()
  const version = bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "DIRC" ? 0 : bytes.readUInt32BE(4)
  if (version < 2 || version > 4) return found
  let at = 12
  let path = Buffer.alloc(0)
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at
    const flagsAt = start + 40 + hashLength
    if (flagsAt + 4 > bytes.length) return found
    const flags = bytes.readUInt16BE(flagsAt)
    at = flagsAt + ((flags & 0x4000) === 0 ? 2 : 4)
    let kept = Buffer.alloc(0)
    if (version === 4) {
      const [removed, next] = readOffset(bytes, at)
      kept = path.subarray(0, Math.max(0, path.length - removed))
      at = next
    }
    const end = bytes.indexOf(0, at)
    if (end < 0) return found
    path = Buffer.concat([kept, bytes.subarray(at, end)])
    // Entries of versions 2 and 3 are padded with NULs to a multiple of 8.
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8
    const mode = bytes.readUInt32BE(start + 24)
    const isFile = (mode & 0o170000) === 0o100000
    const stage = (flags >> 12) & 3
    if (!isFile || stage !== 0) continue
    found.hashes.set(path.toString(), bytes.toString("hex", start + 40, flagsAt))
    const isSkipped = (flags & 0x4000) !== 0 && (bytes.readUInt16BE(flagsAt + 2) & 0x4000) !== 0
    if (isSkipped) found.passedOver.set(path.toString(), "skipped")
    else if ((flags & 0x8000) !== 0) found.passedOver.set(path.toString(), "assumed")
  }
  return found
}

/** One per policy: findings last as long as the policy's sandbox. */
const all = GlobalValue.globalValue("synapse/GitHeld", () => new WeakMap<object, GitHeld>())

interface Index extends Entries {
  readonly stamp: string
}

/** Returns undefined if the file is gone or this user may not look. */
const look = (path: string): Fs.BigIntStats | undefined =>
  Attempt.orUndefined(() => Fs.lstatSync(path, { throwIfNoEntry: false, bigint: true }))

const stampOf = ({ ctimeNs, ino, mtimeNs, size }: Fs.BigIntStats): string => [ctimeNs, ino, mtimeNs, size].join(" ")

/** Decides on files. Caches what it has read of indexes and files until they change. */
export class GitHeld {
  private readonly repositories = new Map<string, Repository | undefined>()
  private readonly indexes = new Map<string, Index>()
  private readonly others = new Map<string, string>()
  private readonly held = new Set<string>()

  /** Returns the instance of a policy, by the policy's identity. */
  static of(policy: object): GitHeld {
    const known = all.get(policy) ?? new GitHeld()
    all.set(policy, known)
    return known
  }

  /**
   * Tests whether the index of the file's repository has the file's content, or had it before; git removes a file
   * before rewriting it. Links, hard links and files over 1 MiB are not considered.
   *
   * @param path real and absolute
   */
  has(path: string): boolean {
    const stats = look(path)
    if (stats === undefined) return this.held.has(path)
    if (!stats.isFile() || stats.nlink !== 1n || stats.size > BigInt(largestFile)) return false
    if (this.held.has(path)) return true
    const repository = this.repositoryOf(Path.dirname(path))
    if (repository === undefined) return false
    const hash = this.read(repository).hashes.get(Path.relative(repository.root, path))
    if (hash === undefined) return false
    const stamp = `${stampOf(stats)} ${hash}`
    if (this.others.get(path) === stamp) return false
    const content = GitDirectory.readBytes(path, largestFile)
    const isHeld =
      content !== undefined &&
      Crypto.createHash(repository.algorithm).update(`blob ${content.length}\0`).update(content).digest("hex") === hash
    if (isHeld) this.held.add(path)
    else this.others.set(path, stamp)
    return isHeld
  }

  /** Tests whether the repository's index lists the file. */
  isTracked(path: string): boolean {
    const repository = this.repositoryOf(Path.dirname(path))
    return repository !== undefined && this.read(repository).hashes.has(Path.relative(repository.root, path))
  }

  /** Tests whether git compares a file with its index, and would report it as changed if it can't read it. */
  isCompared(path: string): boolean {
    const repository = this.repositoryOf(Path.dirname(path))
    if (repository === undefined) return false
    const { hashes, passedOver } = this.read(repository)
    const name = Path.relative(repository.root, path)
    return hashes.has(name) && !passedOver.has(name)
  }

  /** Returns the files in a working tree's index that git writes, relative to its top. */
  written(top: string): ReadonlyArray<string> {
    const repository = this.repositoryOf(top)
    if (repository?.root !== top) return []
    const { hashes, passedOver } = this.read(repository)
    return [...hashes.keys()].filter((name) => passedOver.get(name) !== "skipped")
  }

  /** Returns the index that decides on a file; undefined outside of repositories. */
  indexOf(path: string): string | undefined {
    return this.repositoryOf(Path.dirname(path))?.index
  }

  private repositoryOf(directory: string): Repository | undefined {
    if (!this.repositories.has(directory)) this.repositories.set(directory, repositoryOf(directory))
    return this.repositories.get(directory)
  }

  private read({ algorithm, index }: Repository): Entries {
    const stats = look(index)
    const stamp = stats === undefined ? "" : stampOf(stats)
    const known = this.indexes.get(index)
    if (known?.stamp === stamp) return known
    const bytes = GitDirectory.readBytes(index, largestIndex)
    const entries = bytes === undefined ? noEntries() : parseIndex(bytes, algorithm === "sha1" ? 20 : 32)
    this.indexes.set(index, { stamp, ...entries })
    return entries
  }
}
