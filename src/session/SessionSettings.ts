/**
 * The settings of a persistent shell.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"

/**
 * How a session starts its shells, and how much it lets a command take and put out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The command line that starts the shell; the protocol's options are appended (`SYNAPSE_SHELL`). */
  readonly shellCommand: string
  /** The directory the first shell starts in; the process's own where it is undefined. */
  readonly cwd: string | undefined
  /** Variables over the process's own environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Milliseconds that a command may take where its call names none (`SYNAPSE_COMMAND_TIMEOUT`). */
  readonly timeout: number
  /** Characters of each stream that a result keeps: a head and a tail (`SYNAPSE_OUTPUT_LIMIT`). */
  readonly outputLimit: number
  /** Bytes that the file with all of a stream's output may grow to; 0 for no such file (`SYNAPSE_OUTPUT_FILE_LIMIT`). */
  readonly outputFileLimit: number
  /** Whether the files with all of an output stay when the session ends. */
  readonly keepOutputFiles: boolean
}

/**
 * The settings where nothing else is given.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defaults: Settings = {
  shellCommand: "/bin/bash",
  cwd: undefined,
  environment: {},
  timeout: 120_000,
  outputLimit: 30_000,
  outputFileLimit: 256 * 1024 ** 2,
  keepOutputFiles: false
}

/**
 * The settings that a session is made with.
 *
 * @since 0.1.0
 * @category tags
 */
export class SessionSettings extends Context.Tag("synapse/SessionSettings")<SessionSettings, Settings>() {}

/**
 * The defaults, with the given settings over them. Does not look at the environment.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Partial<Settings> = {}): Layer.Layer<SessionSettings> =>
  Layer.succeed(SessionSettings, { ...defaults, ...settings })

const wholeNumber = (name: string, fallback: number, least: 0 | 1) =>
  Config.string(name).pipe(
    Config.mapOrFail((text) => {
      const value = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN
      if (Number.isSafeInteger(value) && value >= least) return Either.right(value)
      const kind = least === 0 ? "a whole number, 0 or more" : "a positive whole number"
      return Either.left(ConfigError.InvalidData([], `${name}=${text}: must be ${kind}`))
    }),
    Config.withDefault(fallback)
  )

/**
 * The settings from the environment, with `overrides` above them. Fails where a variable is set to what it can't be.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFromEnv = (
  overrides: Partial<Settings> = {}
): Layer.Layer<SessionSettings, ConfigError.ConfigError> =>
  Layer.effect(
    SessionSettings,
    Effect.map(
      Config.all({
        shellCommand: Config.nonEmptyString("SYNAPSE_SHELL").pipe(Config.withDefault(defaults.shellCommand)),
        timeout: wholeNumber("SYNAPSE_COMMAND_TIMEOUT", defaults.timeout, 1),
        outputLimit: wholeNumber("SYNAPSE_OUTPUT_LIMIT", defaults.outputLimit, 1),
        outputFileLimit: wholeNumber("SYNAPSE_OUTPUT_FILE_LIMIT", defaults.outputFileLimit, 0)
      }),
      (fromEnv) => ({ ...defaults, ...fromEnv, ...overrides })
    )
  )
