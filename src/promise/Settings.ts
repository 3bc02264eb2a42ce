/** The settings of `make` and their validation. Their types do not need Effect. */
import * as Schema from "effect/Schema"
import * as Timeout from "../domain/Timeout.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import type * as Command from "./Command.js"
import * as Fields from "./Fields.js"

/**
 * The settings of `make`. Missing ones come from the environment (such as `SYNAPSE_COMMAND_TIMEOUT`), then from the
 * defaults.
 */
export interface Settings {
  /** The directory that the shell starts in; by default, the process's own. */
  readonly cwd?: string | undefined
  /** The time limit of commands in milliseconds, unless a call sets another; by default, 120000. */
  readonly timeout?: number | undefined
  /** Variables that are added to the process's environment, or replace its own. */
  readonly environment?: { readonly [name: string]: string } | undefined
  /** The command line that starts the shell; by default, `/bin/bash`. */
  readonly shellCommand?: string | undefined
  /** The most characters of both streams that a model sees, and of each stream in a result; by default, 30000. */
  readonly outputLimit?: number | undefined
  /** The largest file with a longer output, in bytes; by default, 256 MiB; 0 for no file. */
  readonly outputFileLimit?: number | undefined
  /** True to keep these files after the session. */
  readonly keepOutputFiles?: boolean | undefined
  /** The sandbox; `false` runs commands with all rights of the process. */
  readonly sandbox?: boolean | Sandbox | undefined
  /** Asks a person when the policy denies something that a person may allow. Without it, it stays denied. */
  readonly onPermission?: OnPermission | undefined
  /**
   * True to list MCP commands and skills in the tool's description, one line each, up to 2,000 bytes. By default, the
   * description only tells how to find them.
   */
  readonly describeExtensions?: boolean | undefined
  /** The program's own commands. */
  readonly commands?: ReadonlyArray<Command.Command> | undefined
}

/** The settings of the sandbox, in addition to `sandbox.json`. */
export interface Sandbox {
  readonly enabled?: boolean | undefined
  /** Paths that commands may write, besides the working directory. */
  readonly allow?: ReadonlyArray<string> | undefined
  /** Paths and patterns that commands may neither read nor write. */
  readonly deny?: ReadonlyArray<string> | undefined
  /** Names of variables that commands get although the sandbox would remove them. */
  readonly env?: ReadonlyArray<string> | undefined
  /**
   * Lets commands use unix sockets. With true, they can use all of them, and so make programs outside the sandbox
   * (tmux, an ssh-agent, Docker) do anything. With `own`, they can use those that they create, on Linux only.
   */
  readonly unixSockets?: boolean | "own" | undefined
  /** Unix sockets of outside programs that commands may use. */
  readonly sockets?: ReadonlyArray<string> | undefined
  /** Hosts that commands may reach: `host`, `*.host`, `host:port`, an address, `localhost:port`. */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /** False leaves commands without a cache directory for npm, pip and similar tools. */
  readonly toolCache?: boolean | undefined
  /**
   * `host` shows commands the machine's `/tmp`. By default, commands have a private `/tmp`, which is kept for the
   * working directory.
   */
  readonly temporary?: "private" | "host" | undefined
  /** The directory of Synapse's own files: `$SYNAPSE_HOME`, or `~/.synapse`. */
  readonly home?: string | undefined
}

/** Answers a permission question with one of `offered`. */
export type OnPermission = (
  request: PermissionRequest,
  offered: ReadonlyArray<PermissionAnswer>
) => Promise<PermissionAnswer>

/** A permission question: the denied access, the rule that denies it, and the command. */
export interface PermissionRequest {
  /** A real path or a network address. */
  readonly resource: string
  readonly access: "read" | "write" | "network" | "open"
  /** The rule that denies it, as written, and its source. */
  readonly rule: { readonly pattern: string; readonly source: string }
  /** The denied command line. */
  readonly command: string
  readonly reason: string
  /** The sub-agent that needs the permission, by type and task; undefined for the session itself. */
  readonly task?: { readonly type: string; readonly description: string } | undefined
}

/**
 * The answer to a permission question: allow for this command, until the session ends, or permanently in
 * `sandbox.json`.
 */
export type PermissionAnswer = "allow_once" | "allow_session" | "allow_permanent" | "deny"

const sandbox = Fields.optional({
  enabled: Fields.boolean,
  allow: Fields.texts,
  deny: Fields.texts,
  env: Schema.Array(
    Fields.text.pipe(Schema.filter((name) => Fields.refusal(ShellEnvironment.refusal(name))))
  ).annotations(Fields.must("a list of texts", false)),
  unixSockets: Schema.Literal(true, false, "own").annotations(Fields.must('true, false or "own"')),
  sockets: Fields.texts,
  allowedHosts: Fields.texts,
  toolCache: Fields.boolean,
  temporary: Schema.Literal("private", "host").annotations(Fields.must('"private" or "host"')),
  home: Fields.text
})

const fields = {
  cwd: Fields.text,
  timeout: Fields.wholeNumber(1, Timeout.longest),
  environment: Schema.Record({
    key: Schema.String,
    value: Schema.String.pipe(Schema.filter((value) => !value.includes("\0"))).annotations(
      Fields.must("a text without a NUL character")
    )
  })
    .annotations(Fields.must("an object of texts by name", false))
    .pipe(
      Schema.filter(
        (variables) =>
          Object.keys(variables).every((name) => /^[^=\0]+$/.test(name)) ||
          "must have names that have neither = nor NUL"
      )
    ),
  shellCommand: Fields.text,
  outputLimit: Fields.wholeNumber(1),
  outputFileLimit: Fields.wholeNumber(0),
  keepOutputFiles: Fields.boolean,
  onPermission: Fields.callback,
  describeExtensions: Fields.boolean,
  commands: Schema.Array(Fields.command).annotations(Fields.must("a list of commands", false))
}

const isOn = Schema.Boolean.annotations(Fields.must("true, false, or an object"))

/** Returns all problems with settings, one per line, or undefined. */
export const problemOf = (settings: unknown): string | undefined => {
  const own = Fields.isObject(settings) ? Fields.withoutUndefined(settings["sandbox"]) : undefined
  const given = own === undefined ? settings : { ...(settings as object), sandbox: own }
  return Fields.problemOf(
    "setting",
    given,
    Fields.optional({ ...fields, sandbox: Fields.isObject(own) ? sandbox : isOn })
  )
}
