/**
 * What `make` takes, in types that need no Effect, and what is wrong with it.
 *
 * @since 0.1.0
 */
import * as Timeout from "../domain/Timeout.js"
import * as Command from "./Command.js"
import * as Fields from "./Fields.js"

/**
 * Settings that are not given come from the environment (`SYNAPSE_COMMAND_TIMEOUT` and its like), then from the defaults.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The directory that the shell starts in; the process's own where it is not given. */
  readonly cwd?: string | undefined
  /** Milliseconds that a command may take where its call names none: 120000. */
  readonly timeout?: number | undefined
  /** Variables over the process's own environment. */
  readonly environment?: { readonly [name: string]: string } | undefined
  /** The command line that starts the shell: `/bin/bash`. */
  readonly shellCommand?: string | undefined
  /** Characters of each stream that a result keeps: 30000. */
  readonly outputLimit?: number | undefined
  /** Bytes that the file with all of a longer output may grow to: 256 MiB; 0 for no such file. */
  readonly outputFileLimit?: number | undefined
  /** Whether the files with all of an output stay when the session ends. */
  readonly keepOutputFiles?: boolean | undefined
  /** The sandbox; `false` runs commands with all the rights of the process. */
  readonly sandbox?: boolean | Sandbox | undefined
  /** Asked when the policy denies something that a person may allow; without it, it stays denied. */
  readonly onPermission?: OnPermission | undefined
  /** Commands of the program's own. */
  readonly commands?: ReadonlyArray<Command.Command> | undefined
}

/**
 * What the sandbox allows, over `sandbox.json`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sandbox {
  readonly enabled?: boolean | undefined
  /** Paths that commands may write, beside the working directory. */
  readonly allow?: ReadonlyArray<string> | undefined
  /** Paths and patterns that commands may neither read nor write. */
  readonly deny?: ReadonlyArray<string> | undefined
  /** The same as `allow`. */
  readonly whitelist?: ReadonlyArray<string> | undefined
  /** The same as `deny`. */
  readonly blacklist?: ReadonlyArray<string> | undefined
  /** The directory of Synapse's own files: `$SYNAPSE_HOME`, or `~/.synapse`. */
  readonly home?: string | undefined
}

/**
 * Answers what is to be done about a denial, with one of `offered`.
 *
 * @since 0.1.0
 * @category models
 */
export type OnPermission = (
  request: PermissionRequest,
  offered: ReadonlyArray<PermissionAnswer>
) => Promise<PermissionAnswer>

/**
 * What was denied.
 *
 * @since 0.1.0
 * @category models
 */
export interface PermissionRequest {
  /** A real path, or the address of something on the network. */
  readonly resource: string
  readonly access: "read" | "write" | "network"
  /** The rule that denied it: as it was written, and where. */
  readonly rule: { readonly pattern: string; readonly source: string }
  /** What the model wants to run. */
  readonly command: string
  readonly reason: string
}

/**
 * For this command, until the session ends, or for good, in `sandbox.json`.
 *
 * @since 0.1.0
 * @category models
 */
export type PermissionAnswer = "allow_once" | "allow_session" | "allow_permanent" | "deny"

const sandbox: Fields.Fields = {
  enabled: Fields.boolean,
  allow: Fields.texts,
  deny: Fields.texts,
  whitelist: Fields.texts,
  blacklist: Fields.texts,
  home: Fields.text
}

const isVariable = ([name, value]: [string, unknown]): boolean =>
  /^[^=\0]+$/.test(name) && typeof value === "string" && !value.includes("\0")

const fields: Fields.Fields = {
  cwd: Fields.text,
  timeout: Fields.wholeNumber(1, Timeout.longest, " of milliseconds"),
  environment: Fields.field(
    "an object of texts by name",
    (value) => Fields.isObject(value) && Object.entries(value).every(isVariable)
  ),
  shellCommand: Fields.text,
  outputLimit: Fields.wholeNumber(1),
  outputFileLimit: Fields.wholeNumber(0),
  keepOutputFiles: Fields.boolean,
  sandbox: {
    ...Fields.field("true, false, or an object", (value) => typeof value === "boolean" || Fields.isObject(value)),
    inside: (value) =>
      typeof value === "boolean" ? undefined : Fields.problemOf("setting", value, sandbox, [], "sandbox.")
  },
  onPermission: Fields.callback,
  commands: {
    ...Fields.field("a list of commands", Array.isArray),
    inside: (value) =>
      (Array.isArray(value) ? value : []).map(Command.problemOf).find((problem) => problem !== undefined)
  }
}

/**
 * All that is wrong with settings, a line each; undefined where nothing is.
 *
 * @since 0.1.0
 */
export const problemOf = (settings: unknown): string | undefined => Fields.problemOf("setting", settings, fields)
