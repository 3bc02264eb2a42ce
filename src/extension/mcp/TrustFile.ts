/** Stores which files the user trusts, and with which content: `$SYNAPSE_HOME/mcp/trust.json`. */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as JsonText from "../../domain/JsonText.js"
import * as TrustedFiles from "../../sandbox/config/TrustedFiles.js"
import * as ConfigFile from "./ConfigFile.js"
import type { NamedFile } from "./NamedFiles.js"
import * as OwnFile from "./OwnFile.js"
import type { Change } from "./ServerEdit.js"

/** The content that is trusted at each path. */
export type Trusted = ReadonlyMap<string, string>

const Content = Schema.Struct({
  trusted: Schema.Record({ key: Schema.String, value: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)) })
})

/** Returns the path of the file. */
export const pathIn: (home: string) => string = TrustedFiles.fileIn

const decode = (text: string): Either.Either<Trusted, string> =>
  JsonText.parse(text).pipe(
    Either.mapLeft(({ reason }) => reason),
    Either.flatMap((value) =>
      Either.mapLeft(Schema.decodeUnknownEither(Content)(value), () => "it is no list of paths and their hashes")
    ),
    Either.map(({ trusted }) => new Map(Object.entries(trusted)))
  )

/**
 * Reads what is trusted: nothing where there is no file. On the left is the reason why that is not known, which has to
 * be taken for nothing as well.
 */
export const read = (home: string): Either.Either<Trusted, string> =>
  OwnFile.OwnFile.$match(ConfigFile.readOwn(pathIn(home), TrustedFiles.largest), {
    Missing: (): Either.Either<Trusted, string> => Either.right(new Map()),
    Refused: ({ reason }) => Either.left(reason),
    Content: ({ bytes }) => Either.flatMap(ConfigFile.toText(bytes), decode)
  })

/** Replaces what is trusted by what `change` makes of it. */
const update = (
  home: string,
  change: (before: Trusted) => Trusted
): Effect.Effect<boolean, ConfigFile.NotWritten, FileSystem.FileSystem> => {
  const path = pathIn(home)
  return ConfigFile.update(
    path,
    () => ConfigFile.readOwn(path, TrustedFiles.largest),
    (text) =>
      Either.map(
        text === undefined ? Either.right<Trusted>(new Map()) : decode(text),
        (before) => `${JSON.stringify({ trusted: Object.fromEntries(change(before)) }, undefined, 2)}\n`
      )
  )
}

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
