/** Stores `sandbox.json`: decodes it strictly, and applies one edit at a time, also between processes. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as JsonText from "../../domain/JsonText.js"
import * as Directories from "../../files/Directories.js"
import * as HostPath from "../policy/HostPath.js"
import * as AtomicFile from "./AtomicFile.js"
import { SandboxConfigError } from "./SandboxConfigError.js"
import * as SandboxFile from "./SandboxFile.js"

/** A place where the sandbox's configuration is stored. */
export interface SandboxStore {
  /** The path of the file, whether or not it exists. */
  readonly file: string
  /** Reads and decodes the file; returns the defaults where there is none. */
  readonly load: Effect.Effect<SandboxFile.SandboxFile, SandboxConfigError>
  /** Reads and decodes the file at once, as `load` does. */
  readonly peek: () => Either.Either<SandboxFile.SandboxFile, SandboxConfigError>
  /** Creates the directory of the file. */
  readonly make: Effect.Effect<void, PlatformError>
  /** Applies a change; returns whether there was something to change. */
  readonly change: (toChanged: SandboxFile.Change) => Effect.Effect<boolean, SandboxConfigError>
}

/** The file's name in Synapse's home directory. */
export const fileName = "sandbox.json"

/** The most bytes that the file may have; a longer one is not read. */
const largest = 16 * 1024 ** 2

const mend = "Nothing runs until that is put right: correct the file, or move it away to have the defaults."
const unwritten = "Nothing was written."

/** Returns a file system's error message without the path, which the message around it names already. */
const describe = (error: PlatformError): string =>
  (error._tag === "SystemError" ? error.description : undefined) ?? error.message

/**
 * Makes a store for `sandbox.json`.
 *
 * @param home the directory of the file, whether or not it exists
 */
export const make = (files: FileSystem.FileSystem, home: string): SandboxStore => {
  const file = Path.join(home, fileName)
  const flaw = (reason: string, path = "") => new SandboxConfigError({ origin: file, path, reason, remedy: mend })
  const unwritable = (reason: string) => new SandboxConfigError({ origin: file, path: "", reason, remedy: unwritten })
  const isMissing = (error: PlatformError) => error._tag === "SystemError" && error.reason === "NotFound"

  /** Finds the real path of the file; none where it is missing. */
  const find: Effect.Effect<Option.Option<string>, SandboxConfigError> = files.realPath(file).pipe(
    Effect.asSome,
    Effect.catchIf(isMissing, () =>
      // A symbolic link whose target is missing is an error: its target may come back.
      Effect.matchEffect(files.readLink(file), {
        onFailure: () => Effect.succeedNone,
        onSuccess: (target) => flaw(`it is a symbolic link to ${target}, where nothing is`)
      })
    ),
    Effect.catchTags({
      SystemError: (error) => flaw(`it can't be read: ${describe(error)}`),
      BadArgument: (error) => flaw(`it can't be read: ${describe(error)}`)
    })
  )

  const read = Effect.fnUntraced(
    function* (path: string) {
      const info = yield* files.stat(path)
      if (info.type !== "File") return yield* flaw(`it is no file: ${info.type}`)
      if (info.size > largest) return yield* flaw(`it is larger than ${largest} bytes`)
      const bytes = yield* files.readFile(path)
      return yield* Effect.try({
        try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
        catch: () => flaw("it is not UTF-8")
      })
    },
    Effect.catchTags({
      SystemError: (error) => flaw(`it can't be read: ${describe(error)}`),
      BadArgument: (error) => flaw(`it can't be read: ${describe(error)}`)
    })
  )

  const parse = (text: string): Either.Either<unknown, SandboxConfigError> =>
    Either.mapLeft(JsonText.parse(text), ({ path, reason }) => flaw(reason, path))

  const decode = (value: unknown): Either.Either<SandboxFile.SandboxFile, SandboxConfigError> =>
    Either.mapLeft(SandboxFile.decode(value), ({ path, reason }) => flaw(reason, path))

  const check = (text: string) => Either.flatMap(parse(text), decode)

  const load = Effect.gen(function* () {
    const path = yield* find
    return Option.isNone(path) ? SandboxFile.defaults : yield* check(yield* read(path.value))
  })

  const peek = () => {
    let text: string
    try {
      text = Fs.readFileSync(file, "utf8")
    } catch (error) {
      if (HostPath.isMissing(file)) return Either.right(SandboxFile.defaults)
      return Either.left(flaw(`it can't be read: ${error instanceof Error ? error.message : error}`))
    }
    return check(text)
  }

  const makeHome = Directories.makeEffect(home)

  /**
   * Returns the file's real path; for a file that is missing, creates the directory and returns the path to write to.
   * Fails for an existing file that is invalid.
   */
  const target = Effect.gen(function* () {
    const path = yield* find
    if (Option.isSome(path)) {
      // An invalid file is refused before anything is written beside it.
      yield* check(yield* read(path.value))
      return path.value
    }
    yield* makeHome
    return Path.join(yield* files.realPath(home), Path.basename(file))
  })

  /** Reads the file, edits its text, and checks the result; none where there is nothing to change. */
  const edited = Effect.fnUntraced(function* (path: string, toChanged: SandboxFile.Change) {
    const text = Option.isNone(yield* find) ? "{}\n" : yield* read(path)
    const value = yield* parse(text)
    const lists = toChanged(yield* decode(value))
    if (lists === undefined) return Option.none()
    const changed = JsonText.edit(text, SandboxFile.editsFor(value, lists))
    yield* check(changed)
    return Option.some(changed)
  })

  const change = (toChanged: SandboxFile.Change) =>
    Effect.flatMap(target, (path) => AtomicFile.update(path, edited(path, toChanged))).pipe(
      Effect.catchTags({
        SystemError: (error) => unwritable(`it can't be written: ${describe(error)}`),
        BadArgument: (error) => unwritable(`it can't be written: ${describe(error)}`),
        Locked: (error) => unwritable(`it can't be written: ${error.message}`)
      }),
      Effect.provideService(FileSystem.FileSystem, files)
    )

  return { change, file, load, peek, make: makeHome }
}
