/** Stores which files the user trusts, and with which content, in `$SYNAPSE_HOME/mcp/trust.json`. */

import * as Fs from "node:fs"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Attempt from "../../domain/Attempt.js"
import * as JsonText from "../../domain/JsonText.js"
import * as TrustedFiles from "../../sandbox/config/TrustedFiles.js"
import { printable } from "../../sandbox/permission/PermissionPrompt.js"
import * as RealPath from "../../sandbox/policy/RealPath.js"
import * as ConfigFile from "./ConfigFile.js"
import type { NamedFile } from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"
import type { Change } from "./ServerFile.js"

/** Why commands can still change a file. */
interface Looseness {
  /** A sentence without its subject. */
  readonly why: string
  /** True if a new session solves the problem. */
  readonly isLate: boolean
}

/** Returns why commands of the session can still change a file, if they can. */
export type HeldFiles = (path: string) => Looseness | undefined

/** The most path components and links that are followed. */
const mostNames = 10_000

interface Place {
  /** The real path, and the symbolic links on the way to it. */
  readonly ways: ReadonlyArray<string>
  readonly isAlone: boolean
  /** Identifies the file, and the links on the way to it. */
  readonly identity: string
}

const look = (path: string): Place | undefined =>
  Attempt.orUndefined(() => {
    const { links, real } = RealPath.follow(path, mostNames)
    const { birthtimeNs, dev, ino, nlink } = Fs.statSync(real, { bigint: true })
    const ways = [...links, real]
    return { ways, isAlone: nlink === 1n, identity: [dev, ino, birthtimeNs, ...ways].join("\0") }
  })

const shared: Looseness = {
  why: "has a second name (a hard link), by which commands can change it: put a copy in its place",
  isLate: false
}

const late: Looseness = {
  why: "was trusted or put there after this session began, whose commands can still write it: start a new session",
  isLate: true
}

/** Explains that commands can write the file or a link on the way to it. */
const writable = (way: string, { ways }: Place): Looseness => ({
  why:
    way === ways.at(-1)
      ? "can't be made read-only for commands, which can write it: put it elsewhere"
      : `is reached by a symbolic link, ${printable(way)}, which commands can lead to another file: name the file that it leads to`,
  isLate: false
})

/**
 * Records the trusted files at the beginning of a session. A file that is replaced later is loose.
 *
 * @param isWritable tests whether commands in a sandbox that starts now could write to a real path
 */
export const make = (trusted: Iterable<string>, isWritable: (path: string) => boolean): HeldFiles => {
  const known = new Map([...trusted].map((path) => [path, look(path)] as const))
  const loose = new Map([...known].map(([path, place]) => [path, place?.ways.find(isWritable)] as const))
  return (path) => {
    const now = look(path)
    if (now?.isAlone === false) return shared
    const before = known.get(path)
    if (before === undefined || before.identity !== now?.identity) return late
    const way = loose.get(path)
    return way === undefined ? undefined : writable(way, before)
  }
}

/** The SHA-256 of the trusted content, by path. */
export type Trusted = ReadonlyMap<string, string>

const Content = Schema.Struct({
  trusted: Schema.Record({ key: Schema.String, value: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)) })
})

export const pathIn: (home: string) => string = TrustedFiles.fileIn

const decode = (text = '{"trusted":{}}'): Either.Either<Trusted, string> =>
  JsonText.parse(text).pipe(
    Either.mapLeft(({ reason }) => reason),
    Either.flatMap((value) =>
      Either.mapLeft(Schema.decodeUnknownEither(Content)(value), () => "it is no list of paths and their hashes")
    ),
    Either.map(({ trusted }) => new Map(Object.entries(trusted)))
  )

const readOwn = (home: string): OwnFile.Found => ConfigFile.readOwn(pathIn(home), TrustedFiles.largest)

/** Reads the trusted files. The left side says why they can't be read; treat that as trusting nothing. */
export const read = (home: string): Either.Either<Trusted, string> =>
  Either.flatMap(OwnFile.textOf(readOwn(home)), decode)

const update = (
  home: string,
  change: (before: Trusted) => Trusted
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> =>
  ConfigFile.update(
    pathIn(home),
    () => readOwn(home),
    (text) =>
      Either.map(
        decode(text),
        (before) => `${JSON.stringify({ trusted: Object.fromEntries(change(before)) }, undefined, 2)}\n`
      )
  )

/** Trusts files with their current content. */
export const add = (
  home: string,
  files: ReadonlyArray<NamedFile>
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> =>
  update(home, (before) => new Map([...before, ...files.map(({ path, sha256 }) => [path, sha256] as const)]))

/** Stops trusting files. */
export const remove = (
  home: string,
  paths: ReadonlySet<string>
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> =>
  update(home, (before) => new Map([...before].filter(([path]) => !paths.has(path))))

/**
 * Trusts the new content of a file that Synapse changed, if the old content was trusted or the file did not exist.
 * Returns whether it did. Other changes to the file meanwhile are not trusted.
 */
export const keep = (
  home: string,
  path: string,
  { after, before }: Change
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> =>
  Effect.suspend(() => {
    const trusted = Either.getOrElse(read(home), (): Trusted => new Map())
    return before !== undefined && trusted.get(path) !== before
      ? Effect.succeed(false)
      : Effect.as(add(home, [{ path, sha256: after }]), true)
  })
