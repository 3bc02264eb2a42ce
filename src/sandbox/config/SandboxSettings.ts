/**
 * The settings that the sandbox's policy depends on, besides `sandbox.json`.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Url from "node:url"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Attempt from "../../domain/Attempt.js"
import { UserEnvironment } from "../../domain/UserEnvironment.js"
import * as Account from "../../files/Account.js"
import type { Published } from "../policy/SandboxPolicy.js"
import * as TaintedPaths from "./TaintedPaths.js"

/** The most homes that are protected; each adds several rules. */
const most = 64

/** Returns the user's home in the system's list of accounts. */
const ofAccount = (): ReadonlyArray<string> => [Account.home() ?? []].flat()

/**
 * Returns the homes of people in a list of accounts, and other homes in the directories that hold people's.
 *
 * @since 0.1.0
 * @category reading
 */
export const inPasswd = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => {
    const [, , uid = "", , , home = ""] = line.split(":")
    const isPersons = (Number(uid) >= 1000 && Number(uid) < 65_534) || /^\/(?:home|Users)\//.test(home)
    return isPersons && /^\/[^/]+\/./.test(home) ? [home] : []
  })

const ofOthers = (): ReadonlyArray<string> =>
  Attempt.orElse(() => (process.getuid?.() === 0 ? inPasswd(Fs.readFileSync("/etc/passwd", "utf8")) : []), [])

/**
 * Finds other homes to protect: the account's own if HOME differs and, for root, everyone's, because file modes do not
 * keep root out.
 *
 * @since 0.1.0
 * @category looking
 */
export const find = (userHome: string): ReadonlyArray<string> =>
  [...new Set([...ofAccount(), ...ofOthers()].map((home) => home.replace(/\/+$/, "")))]
    .filter((home) => home !== "" && home !== userHome && Fs.existsSync(home))
    .slice(0, most)

/**
 * The choices for commands' temporary directory: a private one, or the machine's.
 *
 * @since 0.1.0
 * @category models
 */
export const temporaryFiles = ["private", "host"] as const

/**
 * A choice of the temporary directory.
 *
 * @since 0.1.0
 * @category models
 */
export type TemporaryFiles = (typeof temporaryFiles)[number]

/**
 * The settings of the sandbox, from the program or its environment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The directory of Synapse's own files (`SYNAPSE_HOME`, or `.synapse` in the user's home directory). */
  readonly home: string
  /** Other directories of Synapse's own files, protected from commands like `home`. */
  readonly otherHomes: ReadonlyArray<string>
  /** The directory for `~` in rules. */
  readonly userHome: string
  /** Other home directories, whose secrets are denied like those of `userHome`. */
  readonly homes: ReadonlyArray<string>
  /** The values for `$NAME` in rules: the environment. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** The system's temporary directory, in which every policy allows writing. */
  readonly temporary: string
  /** The program's own directory and the node that runs it, which no policy allows writing. */
  readonly program: ReadonlyArray<string>
  /** Enables or disables the sandbox; if undefined, `sandbox.json` decides. */
  readonly enabled: boolean | undefined
  /** Entries added to the whitelist of `sandbox.json`. */
  readonly whitelist: ReadonlyArray<string>
  /** Paths to read despite built-in rules, added to those of `sandbox.json`. */
  readonly readable: ReadonlyArray<string>
  /** Entries added to the blacklist of `sandbox.json`. */
  readonly blacklist: ReadonlyArray<string>
  /** Variables that commands get, secret or not, added to those of `sandbox.json`. */
  readonly env: ReadonlyArray<string>
  /** Lets commands use all unix sockets, only their own, or none; if undefined, `sandbox.json` decides. */
  readonly unixSockets: boolean | "own" | undefined
  /** Outside programs' unix sockets that commands may use, added to those of `sandbox.json`. */
  readonly sockets: ReadonlyArray<string>
  /** Hosts that commands may reach, added to those of `sandbox.json`. */
  readonly allowedHosts: ReadonlyArray<string>
  /** Lets commands reach any host with public addresses, by name. */
  readonly allowNetwork: boolean
  /** Ports of servers in the sandbox to open on the machine's localhost. */
  readonly published: ReadonlyArray<Published>
  /** Gives commands a directory for tools' caches; if undefined, `sandbox.json` decides. */
  readonly toolCache: boolean | undefined
  /**
   * `host` shows commands the machine's `/tmp`, `private` gives them their own; if undefined, `sandbox.json` decides.
   */
  readonly temporaryFiles: TemporaryFiles | undefined
}

/**
 * Returns the directory below the package's root that holds this module (`dist` in the published package). In a bundle,
 * the module lies in another program's file, and that directory is not Synapse's own.
 */
const ownPlace = (): ReadonlyArray<string> =>
  // A bundle does not always know where it lies.
  Attempt.orElse(() => {
    const file = Url.fileURLToPath(import.meta.url)
    let directory = Path.dirname(file)
    for (let parent = Path.dirname(directory); parent !== directory; parent = Path.dirname(directory)) {
      const described = Path.join(parent, "package.json")
      if (Fs.existsSync(described)) {
        return [JSON.parse(Fs.readFileSync(described, "utf8")).name === "synapse-shell" ? directory : file]
      }
      directory = parent
    }
    return [file]
  }, [])

/**
 * Returns the user's home directory, or the account's if `HOME` is relative. `/` for a user unknown to the system, as
 * in containers.
 */
const findUserHome = (): string =>
  [Attempt.orUndefined(Os.homedir), Account.home()].find((path) => path !== undefined && Path.isAbsolute(path)) ?? "/"

/**
 * Fills in the defaults of settings.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (settings: Partial<Settings> = {}): Settings => {
  const userHome = settings.userHome ?? findUserHome()
  return {
    home: Path.join(userHome, ".synapse"),
    otherHomes: [],
    userHome,
    homes: [],
    variables: { HOME: userHome },
    temporary: Os.tmpdir(),
    program: [...ownPlace(), process.execPath],
    enabled: undefined,
    whitelist: [],
    readable: [],
    blacklist: [],
    env: [],
    unixSockets: undefined,
    sockets: [],
    allowedHosts: [],
    allowNetwork: false,
    published: [],
    toolCache: undefined,
    temporaryFiles: undefined,
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
 * A layer of the given settings and the defaults.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<SandboxSettings> =>
  Layer.sync(SandboxSettings, () => make(settings))

const variables = Config.all({
  home: Config.string("SYNAPSE_HOME").pipe(Config.withDefault("")),
  trusted: Config.string("SYNAPSE_TRUSTED_HOME").pipe(Config.withDefault("")),
  temporaryFiles: Config.literal(...temporaryFiles)("SYNAPSE_TEMPORARY").pipe(Config.withDefault(undefined))
})

/**
 * Refuses a home whose files a command may have written: they could switch the sandbox off, start servers, or redirect
 * models' addresses.
 */
const refuse = (home: string, place: string) =>
  Effect.fail(
    ConfigError.InvalidData(
      ["SYNAPSE_HOME"],
      `${home} can't be used: commands of an earlier session could write ${place}, and may have written it. ` +
        `Name another, in a place where no session works, or, if you know all that it holds, set SYNAPSE_TRUSTED_HOME=${home}`
    )
  )

/**
 * Reads the settings from the environment, as `layerFromEnv` does.
 *
 * @param cwd the working directory of the session
 * @since 0.1.0
 * @internal
 */
export const fromEnv = (
  overrides: Partial<Settings> = {},
  cwd: string | undefined = Attempt.orUndefined(process.cwd)
): Effect.Effect<Settings, ConfigError.ConfigError> =>
  Effect.flatMap(Effect.all([variables, UserEnvironment]), ([{ home, temporaryFiles, trusted }, origin]) => {
    const { userHome = findUserHome() } = overrides
    const expand = (path: string) => Path.resolve(path.replace(/^~(?=\/|$)/, () => userHome))
    const settings = make({
      ...(home === "" ? {} : { home: expand(home) }),
      // Only needed to build policies.
      ...(overrides.enabled === false ? {} : { otherHomes: TaintedPaths.homes(), homes: find(userHome) }),
      variables: { HOME: userHome, ...origin.variables },
      temporaryFiles,
      ...overrides
    })
    const written = TaintedPaths.writtenAround(settings.home, overrides.home === undefined ? cwd : undefined)
    if (written === undefined) return Effect.succeed(settings)
    if (trusted === "" || expand(trusted) !== settings.home) return refuse(settings.home, written)
    TaintedPaths.claim(settings.home)
    return Effect.succeed(settings)
  })

/**
 * A layer which reads the settings from the environment (`SYNAPSE_HOME`, `SYNAPSE_TRUSTED_HOME`, `SYNAPSE_TEMPORARY`,
 * and all variables for rules). `overrides` take precedence.
 *
 * @param cwd the working directory of the session
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv = (
  overrides: Partial<Settings> = {},
  cwd?: string
): Layer.Layer<SandboxSettings, ConfigError.ConfigError> => Layer.effect(SandboxSettings, fromEnv(overrides, cwd))
