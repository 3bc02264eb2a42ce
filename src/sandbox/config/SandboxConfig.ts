/**
 * Reads and edits `sandbox.json`, the user's permanent configuration of the sandbox. A file that can't be read or is
 * invalid is an error wherever it is needed: it never disables the sandbox or empties the blacklist, and it is never
 * overwritten.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { InvalidUsage } from "../../domain/CommandError.js"
import * as HostPath from "../policy/HostPath.js"
import * as PathEntry from "../policy/PathEntry.js"
import * as PathGlob from "../policy/PathGlob.js"
import * as PathRule from "../policy/PathRule.js"
import * as RealPath from "../policy/RealPath.js"
import type { SandboxPolicy } from "../policy/SandboxPolicy.js"
import type { SandboxConfigError } from "./SandboxConfigError.js"
import * as SandboxFile from "./SandboxFile.js"
import { SandboxSettings, type Settings } from "./SandboxSettings.js"
import * as SandboxStore from "./SandboxStore.js"
import * as WrittenPlaces from "./WrittenPlaces.js"

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
    /** Reads the file anew, and adds the defaults; returns the defaults alone where there is no file. */
    readonly load: Effect.Effect<SandboxFile.SandboxFile, SandboxConfigError>
    /** Reads the file at once, as `load` does. */
    readonly peek: () => Either.Either<SandboxFile.SandboxFile, SandboxConfigError>
    /**
     * Creates the directory of the file where it is missing and the policy lets commands create it. A failure is
     * ignored: where this process can't create it, no command can.
     */
    readonly claim: (policy: SandboxPolicy) => Effect.Effect<void>
    /**
     * Remembers real paths that commands can write from now on: later sessions follow no link out of them. A failure is
     * ignored.
     */
    readonly remember: (places: Iterable<string>) => Effect.Effect<void>
    /**
     * Allows writing to an absolute path permanently: to its real path, and what lies below it. No character in it has
     * a special meaning. Returns whether the entry is new. Fails with InvalidUsage for a path that no whitelist may
     * hold.
     */
    readonly addWhitelist: (path: string) => Effect.Effect<boolean, InvalidUsage | SandboxConfigError>
    /**
     * Denies a path or a pattern permanently; the entry is kept as it is written. Returns whether the entry is new.
     * Fails with InvalidUsage for an entry that no blacklist may hold.
     */
    readonly addBlacklist: (entry: string) => Effect.Effect<boolean, InvalidUsage | SandboxConfigError>
    /**
     * Removes the entries that are written like this one, or mean the same when read from `cwd`. Returns the removed
     * entries.
     */
    readonly forget: (entry: string, cwd: string) => Effect.Effect<ReadonlyArray<SandboxFile.Entry>, SandboxConfigError>
  }
>() {}

/** Makes the service over a store, be it a file or memory. */
const over = (
  { change, file, load, make, peek }: SandboxStore.SandboxStore,
  settings: Settings,
  remember: Context.Tag.Service<SandboxConfig>["remember"]
): Context.Tag.Service<SandboxConfig> => {
  const add = (list: SandboxFile.List, entry: string, cwd: string) =>
    Either.match(PathEntry.parse(entry, { ...settings, cwd }, list), {
      onLeft: (reason): Effect.Effect<boolean, InvalidUsage | SandboxConfigError> =>
        new InvalidUsage({ reason: `${JSON.stringify(entry)} can't be on the ${list}: ${reason}.` }),
      onRight: () => change(SandboxFile.add(list, entry))
    })

  return {
    file,
    load,
    peek,
    claim: ({ whitelist }) =>
      Effect.suspend(() => {
        const { real } = RealPath.follow(settings.home)
        const isOpen = HostPath.isMissing(real) && PathRule.make(whitelist).find(real) !== undefined
        return isOpen ? Effect.ignore(make) : Effect.void
      }),
    remember,
    addWhitelist: (path) =>
      Path.isAbsolute(path)
        ? Effect.suspend(() => {
            const doubt = WrittenPlaces.doubt(settings.home, path)
            return doubt === undefined
              ? add("whitelist", PathGlob.escape(RealPath.follow(path).real), "/")
              : new InvalidUsage({
                  reason: `${WrittenPlaces.describe(doubt)}. If that is what is meant, allow ${doubt.real}`
                })
          })
        : new InvalidUsage({ reason: `${JSON.stringify(path)} can't be on the whitelist: it is not absolute.` }),
    addBlacklist: (entry) => add("blacklist", entry, "/"),
    forget: Effect.fn("SandboxConfig.forget")(function* (entry, cwd) {
      const isSame = PathEntry.sameAs(entry, { ...settings, cwd })
      const gone: Array<SandboxFile.Entry> = []
      yield* change(SandboxFile.remove((found) => isSame(found.entry) && gone.push(found) > 0))
      return gone
    })
  }
}

/**
 * A layer which keeps the configuration in `sandbox.json`, in the home directory of the settings.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SandboxConfig, never, FileSystem.FileSystem | SandboxSettings> = Layer.effect(
  SandboxConfig,
  Effect.gen(function* () {
    const settings = yield* SandboxSettings
    return over(SandboxStore.make(yield* FileSystem.FileSystem, settings.home), settings, (places) =>
      Effect.ignore(Effect.try(() => WrittenPlaces.remember(settings.home, places)))
    )
  })
)

/**
 * A layer which keeps the configuration in memory, for as long as the layer lasts. This is useful for testing.
 *
 * @param remember remembers the places that commands can write; by default, nothing does
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
      let config: SandboxFile.SandboxFile = { ...SandboxFile.defaults, ...initial }
      const change = (toChanged: SandboxFile.Change) =>
        Effect.sync(() => {
          const lists = toChanged(config)
          if (lists === undefined) return false
          config = { ...config, policy: { ...config.policy, filesystem: { ...config.policy.filesystem, ...lists } } }
          return true
        })
      return over(
        {
          file: Path.join(settings.home, SandboxStore.fileName),
          load: Effect.sync(() => config),
          peek: () => Either.right(config),
          change,
          make: Effect.void
        },
        settings,
        remember
      )
    })
  )
