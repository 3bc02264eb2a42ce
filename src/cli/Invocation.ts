/** The app that a subcommand runs in, and its messages on the standard streams. */
import type { FileSystem } from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as AgentTools from "../agent/AgentTools.js"
import type { CommandRegistry } from "../command/CommandRegistry.js"
import type { CommandError } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import type { McpClient } from "../extension/mcp/McpClient.js"
import type { TodoStore } from "../extension/TodoStore.js"
import type { SandboxConfig } from "../sandbox/config/SandboxConfig.js"
import type * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import type { Permission } from "../sandbox/permission/Permission.js"
import type { SandboxManager } from "../sandbox/SandboxManager.js"
import type * as NamedSessions from "../serve/NamedSessions.js"
import type { Jobs } from "../session/Jobs.js"
import type { SessionJobs } from "../session/JobTable.js"
import type { Settings } from "../session/SessionSettings.js"
import type { Toolset } from "../toolset/Toolset.js"
import { Stdio } from "./Stdio.js"

/** The error for a wrong call of the program, which prints the reason and the usage and exits with code 2. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{
  readonly message: string
  /** True if the words have the right form, so that the usage would tell nothing. */
  readonly hasForm?: true
}> {}

/** Lists the wrong settings, one line each. */
export const wrongSettings = (error: ConfigError): string =>
  [...reasons(error)].map((reason) => `synapse: ${reason}`).join("\n")

const reasons = (error: ConfigError): ReadonlySet<string> =>
  error._op === "And" || error._op === "Or"
    ? new Set([...reasons(error.left), ...reasons(error.right)])
    : new Set([error.message])

export type AppServices = CommandRegistry | Jobs | McpClient | SandboxManager | TodoStore | Toolset

/** Loads the modules of the app that a subcommand runs in, and makes its layer. */
export type MakeApp = (
  settings: Partial<Settings>,
  sandbox: Partial<SandboxSettings.Settings>,
  /** Asks a person when the policy denies something. By default, nobody is asked. */
  permission?: Layer.Layer<Permission>
) => Layer.Layer<AppServices, ConfigError>

/** Makes the tools of an agent that only reads. */
type MakeReading = (...settings: Parameters<MakeApp>) => Layer.Layer<AgentTools.Services, CommandError | ConfigError>

/** Makes the shell alone. It loads Synapse commands when one is called. */
type MakeShell = (
  ...settings: Parameters<MakeApp>
) => Layer.Layer<SandboxConfig | SandboxManager | SessionJobs, ConfigError, FileSystem>

/** The sessions of the daemon, for one of its clients. */
export interface Sessions extends Omit<Named, "use"> {
  /** Runs an effect in the session of that name, which it opens if necessary. */
  readonly use: <A>(
    name: string,
    request: Omit<NamedSessions.Request<AppServices, ConfigError>, "within">,
    effect: Effect.Effect<A, ConfigError, AppServices>
  ) => Effect.Effect<A, ConfigError | NamedSessions.Refused>
  /** Ends the shells that are kept ready for programs without a session. */
  readonly clear: Effect.Effect<void>
}

type Named = NamedSessions.NamedSessions<AppServices, ConfigError>

/** Makes the app that a subcommand runs in. */
export class App extends Context.Tag("synapse/App")<
  App,
  {
    readonly layer: MakeApp
    readonly reading: MakeReading
    readonly shell: MakeShell
    /** Undefined outside of the daemon. */
    readonly sessions?: Sessions
  }
>() {}

export const write = (stream: "stdout" | "stderr", text: string): Effect.Effect<void, never, Stdio> =>
  Effect.flatMap(Stdio, ({ write }) => Effect.promise(async () => write(stream, text)))

export const print = (stream: "stdout" | "stderr", text: string): Effect.Effect<void, never, Stdio> =>
  write(stream, `${text}\n`)

/** Prints the reason for a failure to stderr, and returns exit code 1. */
export const complain = (reason: string): Effect.Effect<number, never, Stdio> =>
  Effect.as(print("stderr", `synapse: ${reason}`), ExitCode.failure)

/** Prints a successful result, and returns exit code 0. */
export const succeed = (text: string): Effect.Effect<number, never, Stdio> =>
  Effect.as(print("stdout", text), ExitCode.success)
