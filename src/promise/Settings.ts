/** The settings of `make`, in types that need no Effect, and their validation. */
import * as Timeout from "../domain/Timeout.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as Command from "./Command.js"
import * as Fields from "./Fields.js"

/**
 * The settings of `make`. Those that are not given come from the environment (`SYNAPSE_COMMAND_TIMEOUT` and the like),
 * then from the defaults.
 */
export interface Settings {
  /** The directory that the shell starts in; by default, that of the process. */
  readonly cwd?: string | undefined
  /** The time that a command may take, in milliseconds, where its call names none; by default, 120000. */
  readonly timeout?: number | undefined
  /** Variables which are set in addition to the process's environment, or in place of its own. */
  readonly environment?: { readonly [name: string]: string } | undefined
  /** The command line that starts the shell; by default, `/bin/bash`. */
  readonly shellCommand?: string | undefined
  /** The most characters of both streams that a model is shown, and of each that a result keeps; by default, 30000. */
  readonly outputLimit?: number | undefined
  /** The most bytes of the file with all of a longer output; by default, 256 MiB; 0 for no file. */
  readonly outputFileLimit?: number | undefined
  /** True to keep these files when the session ends. */
  readonly keepOutputFiles?: boolean | undefined
  /** The sandbox; `false` runs commands with all the rights of the process. */
  readonly sandbox?: boolean | Sandbox | undefined
  /** Asked when the policy denies something that a person may allow; without it, it stays denied. */
  readonly onPermission?: OnPermission | undefined
  /**
   * True to describe the commands of MCP servers and skills in the tool's description, in a line each as far as 2,000
   * bytes go; by default, it only tells how to find them.
   */
  readonly describeExtensions?: boolean | undefined
  /** The program's own commands. */
  readonly commands?: ReadonlyArray<Command.Command> | undefined
}

/** The settings of the sandbox, in addition to `sandbox.json`. */
export interface Sandbox {
  readonly enabled?: boolean | undefined
  /** Paths that commands may write to, besides the working directory. */
  readonly allow?: ReadonlyArray<string> | undefined
  /** Paths and patterns that commands may neither read nor write. */
  readonly deny?: ReadonlyArray<string> | undefined
  /** The same as `allow`. */
  readonly whitelist?: ReadonlyArray<string> | undefined
  /** The same as `deny`. */
  readonly blacklist?: ReadonlyArray<string> | undefined
  /** Names of variables that the sandbox would leave out, and that commands are to get. */
  readonly env?: ReadonlyArray<string> | undefined
  /**
   * Lets commands use unix sockets: with true all, by which they can have programs outside of the sandbox (tmux, an
   * ssh-agent, Docker) do anything; with `own` those that they make, on Linux.
   */
  readonly unixSockets?: boolean | "own" | undefined
  /** Unix sockets of programs outside that commands may use. */
  readonly sockets?: ReadonlyArray<string> | undefined
  /** Hosts that commands may reach: `host`, `*.host`, `host:port`, an address, `localhost:port`. */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /** False leaves commands without a directory for the caches of npm, pip and their like. */
  readonly toolCache?: boolean | undefined
  /** `host` shows commands the machine's `/tmp`; by default, they have their own, kept for the working directory. */
  readonly temporary?: "private" | "host" | undefined
  /** The directory of Synapse's own files: `$SYNAPSE_HOME`, or `~/.synapse`. */
  readonly home?: string | undefined
}

/** Answers a question for permission with one of `offered`. */
export type OnPermission = (
  request: PermissionRequest,
  offered: ReadonlyArray<PermissionAnswer>
) => Promise<PermissionAnswer>

/** A question for permission: the denied access, the rule that denies it, and the command. */
export interface PermissionRequest {
  /** A real path, or an address on the network. */
  readonly resource: string
  readonly access: "read" | "write" | "network"
  /** The rule that denies it, as it was written, and its source. */
  readonly rule: { readonly pattern: string; readonly source: string }
  /** The command line that was denied. */
  readonly command: string
  readonly reason: string
  /** The sub-agent that is asked for, by its type and what it does; undefined for the session itself. */
  readonly task?: { readonly type: string; readonly description: string } | undefined
}

/**
 * The answer to a question for permission: allow for this command, until the session ends, or permanently, in
 * `sandbox.json`.
 */
export type PermissionAnswer = "allow_once" | "allow_session" | "allow_permanent" | "deny"

const sandbox: Fields.Fields = {
  enabled: Fields.boolean,
  allow: Fields.texts,
  deny: Fields.texts,
  whitelist: Fields.texts,
  blacklist: Fields.texts,
  env: {
    ...Fields.texts,
    inside: (value, field) =>
      Fields.texts.inside?.(value, field) ??
      (value as ReadonlyArray<string>).map(ShellEnvironment.refusal).find((reason) => reason !== undefined)
  },
  unixSockets: Fields.field('true, false or "own"', (value) => typeof value === "boolean" || value === "own"),
  sockets: Fields.texts,
  allowedHosts: Fields.texts,
  toolCache: Fields.boolean,
  temporary: Fields.field('"private" or "host"', (value) => value === "private" || value === "host"),
  home: Fields.text
}

const fields: Fields.Fields = {
  cwd: Fields.text,
  timeout: Fields.wholeNumber(1, Timeout.longest, " of milliseconds"),
  environment: Fields.variables,
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
  describeExtensions: Fields.boolean,
  commands: {
    ...Fields.field("a list of commands", Array.isArray),
    inside: (value) =>
      Array.from(value as ArrayLike<unknown>, (command, at) =>
        Command.problemOf(command, `command ${at + 1} of the setting "commands"`)
      ).find((problem) => problem !== undefined)
  }
}

/** Returns all that is wrong with settings, a line each; undefined where nothing is. */
export const problemOf = (settings: unknown): string | undefined => Fields.problemOf("setting", settings, fields)
