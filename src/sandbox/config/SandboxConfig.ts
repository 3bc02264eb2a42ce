/**
 * Reads and edits `sandbox.json`, the user's permanent configuration of the sandbox. An unreadable or invalid file is
 * an error wherever it is needed. It never disables the sandbox or empties the blacklist, and is never overwritten.
 *
 * @since 0.1.0
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { InvalidUsage } from "../../domain/CommandError.js"
import * as JsonText from "../../domain/JsonText.js"
import * as Directories from "../../files/Directories.js"
import * as RegularFile from "../../files/RegularFile.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PathGlob from "../policy/PathGlob.js"
import * as PathRule from "../policy/PathRule.js"
import * as RealPath from "../policy/RealPath.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import * as AtomicFile from "./AtomicFile.js"
import * as PlainFile from "./PlainFile.js"
import { SandboxConfigError } from "./SandboxConfigError.js"
import { defaults } from "./SandboxDefaults.js"
import * as SandboxFile from "./SandboxFile.js"
import { SandboxSettings, type Settings } from "./SandboxSettings.js"
import * as TaintedPaths from "./TaintedPaths.js"

/** Where the sandbox's configuration is stored. */
interface SandboxStore {
  /** Reads and decodes the configuration, or returns the defaults if nothing is stored. */
  readonly load: Effect.Effect<SandboxFile.SandboxFile, SandboxConfigError>
  /** Creates the file's directory. */
  readonly make: Effect.Effect<void, PlatformError>
  /** Applies a change. Returns whether anything changed. */
  readonly change: (toChanged: SandboxFile.Change) => Effect.Effect<boolean, SandboxConfigError>
}

/**
 * The file's name in Synapse's home directory.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fileName = "sandbox.json"

/** The largest file that is read, in bytes. */
const largest = 16 * 1024 ** 2

const mend = "Nothing runs until that is put right: correct the file, or move it away to have the defaults."

/** Returns a system error's message without the path, which the surrounding message already names. */
const describe = (error: unknown): string =>
  error instanceof Error ? (error.message.split(", ")[0] ?? "") : String(error)

const makeStore = (files: FileSystem.FileSystem, file: string): SandboxStore => {
  const flaw = ({ path = "", reason }: Partial<JsonText.Flaw>) =>
    new SandboxConfigError({ origin: file, path, reason: reason ?? "", remedy: mend })

  const read = (): Either.Either<string | undefined, SandboxConfigError> => {
    try {
      const found = RegularFile.read(file, { mayBeLink: true, most: largest }, (stats) => {
        if (!stats.isFile()) return flaw({ reason: "it is no file" })
        return stats.size > largest ? flaw({ reason: `it is larger than ${largest} bytes` }) : undefined
      })
      return Either.flatMap(found, ({ bytes }) =>
        Either.try({
          try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
          catch: () => flaw({ reason: "it is not UTF-8" })
        })
      )
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        return Either.left(flaw({ reason: `it can't be read: ${describe(error)}` }))
      }
      // A dangling symbolic link is an error, because its target may come back.
      return HostPath.isLink(file, "/")
        ? Either.left(flaw({ reason: `it is a symbolic link to ${Fs.readlinkSync(file)}, where nothing is` }))
        : Either.right(undefined)
    }
  }

  const parse = (text: string) => Either.mapLeft(JsonText.parse(text), flaw)
  const decode = (value: unknown) => {
    const plain = PlainFile.read(value)
    return plain === undefined ? Either.mapLeft(SandboxFile.decode(value), flaw) : Either.right(plain)
  }

  const load = Effect.suspend(() =>
    Either.flatMap(read(), (text) =>
      text === undefined ? Either.right<SandboxFile.SandboxFile>(defaults) : Either.flatMap(parse(text), decode)
    )
  )

  const make = Directories.makeEffect(Path.dirname(file))

  /** Reads the file, edits its text and checks the result; none if there is nothing to change. */
  const edited = (toChanged: SandboxFile.Change) =>
    Either.gen(function* () {
      const text = (yield* read()) ?? "{}\n"
      const value = yield* parse(text)
      const lists = toChanged(yield* decode(value))
      if (lists === undefined) return Option.none()
      const changed = JsonText.edit(text, SandboxFile.editsFor(value, lists))
      yield* Either.flatMap(parse(changed), decode)
      return Option.some(changed)
    })

  return {
    load,
    make,
    change: (toChanged) =>
      // Loaded first, so that an invalid file is refused before anything is written beside it.
      load.pipe(
        Effect.zipRight(make),
        Effect.flatMap(() =>
          AtomicFile.update(
            RealPath.follow(file).real,
            Effect.suspend(() => edited(toChanged))
          )
        ),
        Effect.mapError((error) =>
          error._tag === "SandboxConfigError"
            ? error
            : new SandboxConfigError({
                origin: file,
                path: "",
                reason: `it can't be written: ${(error._tag === "SystemError" ? error.description : undefined) ?? error.message}`,
                remedy: "Nothing was written.",
                isReadOnly: (error.cause as NodeJS.ErrnoException | undefined)?.code === "EROFS"
              })
        ),
        Effect.provideService(FileSystem.FileSystem, files)
      )
  }
}

/**
 * Reads and edits `sandbox.json`.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxConfig extends Context.Tag("synapse/SandboxConfig")<
  SandboxConfig,
  {
    /** The path of the file, whether or not it exists. */
    readonly file: string
    /** Reads the file and fills in the defaults. Returns the defaults if there is no file. */
    readonly load: Effect.Effect<SandboxFile.SandboxFile, SandboxConfigError>
    /**
     * Creates the file's directory if it is missing and the policy lets commands create it. Failures are ignored: if
     * this process can't create it, no command can.
     */
    readonly claim: (policy: SandboxPolicy) => Effect.Effect<void>
    /**
     * Remembers real paths that commands can write from now on, so that later sessions follow no link out of them.
     * Failures are ignored.
     */
    readonly remember: (places: Iterable<string>) => Effect.Effect<void>
    /**
     * Allows writing permanently to an absolute path's real path and everything below it. No character is special.
     * Returns whether the entry is new. Fails with InvalidUsage if no whitelist may hold the path.
     */
    readonly addWhitelist: (path: string) => Effect.Effect<boolean, InvalidUsage | SandboxConfigError>
    /**
     * Allows reading an absolute path permanently although a built-in rule hides it, as `addWhitelist` does for
     * writing.
     */
    readonly addReadable: (path: string) => Effect.Effect<boolean, InvalidUsage | SandboxConfigError>
    /**
     * Denies a path or a pattern permanently, and keeps the entry as written. Returns whether it is new. Fails with
     * InvalidUsage if no blacklist may hold the entry.
     */
    readonly addBlacklist: (entry: string) => Effect.Effect<boolean, InvalidUsage | SandboxConfigError>
    /**
     * Adds an entry to a list of hosts permanently. Returns whether it is new. Fails with InvalidUsage if it names no
     * host.
     */
    readonly addHost: (
      list: SandboxFile.HostList,
      entry: string
    ) => Effect.Effect<boolean, InvalidUsage | SandboxConfigError>
    /**
     * Removes the entries that are written like this one, or that mean the same when read from `cwd`. Returns the
     * removed entries.
     */
    readonly forget: (entry: string, cwd: string) => Effect.Effect<ReadonlyArray<SandboxFile.Entry>, SandboxConfigError>
  }
>() {}

/** Makes the service over a store in a file or in memory. */
const over = (
  { change, load, make }: SandboxStore,
  file: string,
  settings: Settings,
  remember: Context.Tag.Service<SandboxConfig>["remember"]
): Context.Tag.Service<SandboxConfig> => {
  const addAs = (
    list: SandboxFile.List | SandboxFile.HostList,
    entry: string,
    parsed: Either.Either<unknown, string>,
    name: string
  ): Effect.Effect<boolean, InvalidUsage | SandboxConfigError> =>
    Either.isLeft(parsed)
      ? new InvalidUsage({ reason: `${Name.ofEntry(entry)} can't be on the ${name}: ${parsed.left}.` })
      : change(SandboxFile.add(list, entry))
  const add = (list: SandboxFile.List, entry: string, cwd: string) =>
    addAs(list, entry, PathEntry.parse(entry, { ...settings, cwd }, list), list)

  const allow = (path: string, list: "whitelist" | "readable") =>
    Path.isAbsolute(path)
      ? Effect.suspend(() => {
          const doubt = TaintedPaths.doubt(settings.home, path)
          return doubt === undefined
            ? add(list, PathGlob.escape(RealPath.follow(path).real), "/")
            : new InvalidUsage({
                reason: `${TaintedPaths.describe(doubt)}. If that is what is meant, allow ${doubt.real}`
              })
        })
      : new InvalidUsage({ reason: `${Name.ofEntry(path)} can't be on the ${list}: it is not absolute.` })

  return {
    file,
    load,
    claim: ({ whitelist }) =>
      Effect.suspend(() => {
        const { real } = RealPath.follow(settings.home)
        const isOpen = HostPath.isMissing(real) && PathRule.make(whitelist).find(real) !== undefined
        return isOpen ? Effect.ignore(make) : Effect.void
      }),
    remember,
    addWhitelist: (path) => allow(path, "whitelist"),
    addReadable: (path) => allow(path, "readable"),
    addBlacklist: (entry) => add("blacklist", entry, "/"),
    addHost: (list, entry) =>
      addAs(list, entry, HostEntry.parse(entry, list === "allowedHosts" ? "allowed" : "denied"), "list of hosts"),
    forget: Effect.fn("SandboxConfig.forget")(function* (entry, cwd) {
      const isSame = PathEntry.sameAs(entry, { ...settings, cwd })
      const isToGo = (found: SandboxFile.Entry) =>
        SandboxFile.placeOf(found.list) === "network" ? HostEntry.isSame(entry, found.entry) : isSame(found.entry)
      const gone: Array<SandboxFile.Entry> = []
      yield* change(SandboxFile.remove((found) => isToGo(found) && gone.push(found) > 0))
      return gone
    })
  }
}

/**
 * Keeps the configuration in `sandbox.json`, as `layer` does.
 *
 * @since 0.1.0
 * @internal
 */
export const make = (files: FileSystem.FileSystem, settings: Settings): Context.Tag.Service<SandboxConfig> => {
  const file = Path.join(settings.home, fileName)
  return over(makeStore(files, file), file, settings, (places) =>
    Effect.ignore(Effect.try(() => TaintedPaths.remember(settings.home, places)))
  )
}

/**
 * A layer which keeps the configuration in `sandbox.json`, in the home directory of the settings.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SandboxConfig, never, FileSystem.FileSystem | SandboxSettings> = Layer.effect(
  SandboxConfig,
  Effect.zipWith(FileSystem.FileSystem, SandboxSettings, make)
)

/**
 * A layer which keeps the configuration in memory while the layer lasts. This is useful for testing.
 *
 * @param remember remembers the places that commands can write; does nothing by default
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (
  initial: Partial<SandboxFile.SandboxFile> = {},
  remember: Context.Tag.Service<SandboxConfig>["remember"] = () => Effect.void
): Layer.Layer<SandboxConfig, never, SandboxSettings> =>
  Layer.effect(
    SandboxConfig,
    Effect.map(SandboxSettings, (settings) => {
      let config: SandboxFile.SandboxFile = { ...defaults, ...initial }
      const change = (toChanged: SandboxFile.Change) =>
        Effect.sync(() => {
          const lists = toChanged(config)
          if (lists === undefined) return false
          for (const [list, entries] of Object.entries(lists)) {
            const place = SandboxFile.placeOf(list as SandboxFile.List | SandboxFile.HostList)
            config = { ...config, policy: { ...config.policy, [place]: { ...config.policy[place], [list]: entries } } }
          }
          return true
        })
      return over(
        { load: Effect.sync(() => config), change, make: Effect.void },
        Path.join(settings.home, fileName),
        settings,
        remember
      )
    })
  )
