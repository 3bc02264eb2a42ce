/**
 * What the sandbox's policy depends on, besides `sandbox.json`.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Url from "node:url"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * What a program or its environment says of the sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The directory of Synapse's own files (`SYNAPSE_HOME`, or `.synapse` in the user's home directory). */
  readonly home: string
  /** What `~` stands for in rules. */
  readonly userHome: string
  /** What `$NAME` stands for in rules: the environment. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** The system's directory for temporary files, which every policy allows to write. */
  readonly temporary: string
  /** The program itself, which no policy allows to write: its directory, and the node that runs it. */
  readonly program: ReadonlyArray<string>
  /** Whether there is a sandbox; as `sandbox.json` says where it is undefined. */
  readonly enabled: boolean | undefined
  /** Entries over those of `sandbox.json`. */
  readonly whitelist: ReadonlyArray<string>
  /** Entries over those of `sandbox.json`. */
  readonly blacklist: ReadonlyArray<string>
}

/** The directory of the package that this module was built into (`dist`), wherever in it the module lies. */
const ownDirectory = (): string => {
  let directory = Path.dirname(Url.fileURLToPath(import.meta.url))
  for (let parent = Path.dirname(directory); parent !== directory; parent = Path.dirname(directory)) {
    if (Fs.existsSync(Path.join(parent, "package.json"))) return directory
    directory = parent
  }
  return Path.dirname(Url.fileURLToPath(import.meta.url))
}

/** The root, as containers have it, for a user whom the system does not know. */
const findUserHome = (): string => {
  try {
    return Os.homedir() || Os.userInfo().homedir
  } catch {
    return "/"
  }
}

/**
 * Makes settings, with the defaults for what is left out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (settings: Partial<Settings> = {}): Settings => {
  const userHome = settings.userHome ?? findUserHome()
  return {
    home: Path.join(userHome, ".synapse"),
    userHome,
    variables: { HOME: userHome },
    temporary: Os.tmpdir(),
    program: [ownDirectory(), process.execPath],
    enabled: undefined,
    whitelist: [],
    blacklist: [],
    ...settings
  }
}

/**
 * The settings of the sandbox.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxSettings extends Context.Tag("synapse/SandboxSettings")<SandboxSettings, Settings>() {}

/**
 * A layer which gives the settings, with the defaults for what is left out.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<SandboxSettings> =>
  Layer.sync(SandboxSettings, () => make(settings))

/**
 * A layer which reads the settings from the environment, with `overrides` above them.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv = (overrides: Partial<Settings> = {}): Layer.Layer<SandboxSettings, ConfigError> =>
  Layer.effect(
    SandboxSettings,
    Effect.map(Config.string("SYNAPSE_HOME").pipe(Config.withDefault("")), (home) => {
      const { userHome } = make(overrides)
      return make({
        ...(home === "" ? {} : { home: Path.resolve(home.replace(/^~(?=\/|$)/, () => userHome)) }),
        variables: { HOME: userHome, ...process.env },
        ...overrides
      })
    })
  )
