/**
 * The settings of a persistent shell.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as KeptOutput from "../domain/KeptOutput.js"
import * as Setting from "../domain/Setting.js"
import type { ShellTerminal } from "./ShellTerminal.js"

/**
 * The settings of a session: how it starts its shells, and the limits on a command's time and output.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The command line that starts the shell. The session appends its own options (`SYNAPSE_SHELL`). */
  readonly shellCommand: string
  /** The directory that the first shell starts in; this process's directory if undefined. */
  readonly cwd: string | undefined
  /** Variables added to this process's environment, or overriding its values. */
  readonly environment: Readonly<Record<string, string>>
  /** The default time limit of a command, in milliseconds (`SYNAPSE_COMMAND_TIMEOUT`). */
  readonly timeout: number
  /**
   * The most characters of output that a model is shown, of both streams together. A result keeps as many of each
   * stream, as a head and a tail (`SYNAPSE_OUTPUT_LIMIT`).
   */
  readonly outputLimit: number
  /** The largest file with a stream's full output, in bytes; 0 for no file (`SYNAPSE_OUTPUT_FILE_LIMIT`). */
  readonly outputFileLimit: number
  /**
   * Milliseconds after which a call returns although its program still runs, which then becomes a job; 0 for never.
   * The tool uses it for calls that set no value of their own (`SYNAPSE_YIELD`).
   */
  readonly yield: number
  /**
   * The most jobs that may run at the same time (`SYNAPSE_MAX_JOBS`). With 0, the job that a command leaves is `lost`:
   * its processes are ended.
   */
  readonly maxJobs: number
  /** True to keep the output files when the session ends. */
  readonly keepOutputFiles: boolean
  /** Candidate places for private directories, in order; `PrivateDirectory.places` if undefined. */
  readonly privateDirectories: ReadonlyArray<string> | undefined
  /**
   * The terminal of the session's shells, if they have one.
   *
   * @internal
   */
  readonly terminal?: ShellTerminal | undefined
  /**
   * Called at the session's end when no process of it can run any more, possibly before its files are removed.
   *
   * @internal
   */
  readonly onQuiet?: (() => void) | undefined
}

/**
 * The default settings.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaults: Settings = {
  shellCommand: "/bin/bash",
  cwd: undefined,
  environment: {},
  timeout: 120_000,
  outputLimit: KeptOutput.defaultLimit,
  outputFileLimit: 256 * 1024 ** 2,
  yield: 0,
  maxJobs: 64,
  keepOutputFiles: false,
  privateDirectories: undefined
}

/**
 * The settings that sessions are made with.
 *
 * @since 0.1.0
 * @category tags
 */
export class SessionSettings extends Context.Tag("synapse/SessionSettings")<SessionSettings, Settings>() {}

/**
 * A layer of the given settings over the defaults, without reading the environment. Dies if a setting is invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<SessionSettings> =>
  Layer.orDie(
    Layer.effect(
      SessionSettings,
      Effect.suspend(() => checked({ ...defaults, ...settings }))
    )
  )

/**
 * Returns the runtime directory of the user's login (`XDG_RUNTIME_DIR`), or undefined if it is not set.
 *
 * @since 0.1.0
 */
export const runtimeDirectory = (): string | undefined => process.env["XDG_RUNTIME_DIR"]

/**
 * Returns the settings of an agent's session. Calls return after 30 seconds unless `SYNAPSE_YIELD` is set, so that a
 * program in the foreground does not use up the agent's turn.
 *
 * @since 0.1.0
 */
export const ofAgent = (): Partial<Settings> => (process.env["SYNAPSE_YIELD"] === undefined ? { yield: 30_000 } : {})

const wholeNumber = (name: string, fallback: number, least: 0 | 1) =>
  Setting.wholeNumber(name, least).pipe(Config.withDefault(fallback))

/**
 * Reads the settings from the environment, as `layerFromEnv` does.
 *
 * @since 0.1.0
 * @internal
 */
export const fromEnv = (overrides: Partial<Settings> = {}): Effect.Effect<Settings, ConfigError> =>
  Effect.flatMap(
    Config.all({
      shellCommand: Config.nonEmptyString("SYNAPSE_SHELL").pipe(Config.withDefault(defaults.shellCommand)),
      timeout: wholeNumber("SYNAPSE_COMMAND_TIMEOUT", defaults.timeout, 1),
      outputLimit: wholeNumber("SYNAPSE_OUTPUT_LIMIT", defaults.outputLimit, 1),
      outputFileLimit: wholeNumber("SYNAPSE_OUTPUT_FILE_LIMIT", defaults.outputFileLimit, 0),
      yield: wholeNumber("SYNAPSE_YIELD", defaults.yield, 0),
      maxJobs: wholeNumber("SYNAPSE_MAX_JOBS", defaults.maxJobs, 1)
    }),
    (found) => checked({ ...defaults, ...found, ...overrides })
  )

/**
 * A layer that reads the settings from the environment; `overrides` take precedence. Fails if a variable or an
 * override has an invalid value.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv = (overrides: Partial<Settings> = {}): Layer.Layer<SessionSettings, ConfigError> =>
  Layer.effect(SessionSettings, fromEnv(overrides))

/** Fails for an invalid number or a missing start directory, which would otherwise break every command. */
const checked = (settings: Settings): Either.Either<Settings, ConfigError> =>
  Either.map(
    Either.all([
      Setting.checkWholeNumber("timeout", settings.timeout, 1),
      Setting.checkWholeNumber("outputLimit", settings.outputLimit, 1),
      Setting.checkWholeNumber("outputFileLimit", settings.outputFileLimit, 0),
      Setting.checkWholeNumber("yield", settings.yield, 0),
      Setting.checkWholeNumber("maxJobs", settings.maxJobs, 0),
      settings.cwd !== undefined && Path.isAbsolute(settings.cwd) ? Either.void : Setting.currentDirectory()
    ]),
    () => settings
  )
