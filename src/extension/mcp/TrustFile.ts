/** Stores which files the user trusts, and with which content: `$SYNAPSE_HOME/mcp/trust.json`. */

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

/** A reason why commands can still change a file. */
interface Looseness {
  /** A sentence without its subject. */
  readonly why: string
  /** True where a new session puts an end to it. */
  readonly isLate: boolean
}

/** Tells of a file why commands of the session can still change it; undefined where they can't. */
export type HeldFiles = (path: string) => Looseness | undefined

/** The most names of a path, and of the links in it, that are followed. */
const mostNames = 10_000

interface Place {
  /** The real path, and the symbolic links on the way to it. */
  readonly ways: ReadonlyArray<string>
  readonly isAlone: boolean
  /** The same for as long as the same file is at the end of the same way. */
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

/** Says that commands can write one of the ways to a file, or the file itself. */
const writable = (way: string, { ways }: Place): Looseness => ({
  why:
    way === ways.at(-1)
      ? "can't be made read-only for commands, which can write it: put it elsewhere"
      : `is reached by a symbolic link, ${printable(way)}, which commands can lead to another file: name the file that it leads to`,
  isLate: false
})

/**
 * Looks at the trusted files as they are when a session is made.
 *
 * @param isWritable tests whether commands could write to a real path in a sandbox that starts now
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

/** The content that is trusted at each path. */
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

/**
 * Reads what is trusted: nothing where there is no file. On the left is the reason why that is not known, which has to
 * be taken for nothing as well.
 */
export const read = (home: string): Either.Either<Trusted, string> =>
  Either.flatMap(OwnFile.textOf(readOwn(home)), decode)

/** Replaces what is trusted by what `change` makes of it. */
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

/** Adds files with the content that they have now. */
export const add = (
  home: string,
  files: ReadonlyArray<NamedFile>
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> =>
  update(home, (before) => new Map([...before, ...files.map(({ path, sha256 }) => [path, sha256] as const)]))

/** Takes files out, whatever content they have now. */
export const remove = (
  home: string,
  paths: ReadonlySet<string>
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> =>
  update(home, (before) => new Map([...before].filter(([path]) => !paths.has(path))))

/**
 * Trusts the content that a change of a file has written, where the content that it edited was trusted or there was none.
 * Returns whether it did. Whatever else gets into the file meanwhile is not trusted.
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
