/**
 * Synapse for programs without Effect: `import { make } from "synapse-shell/promise"`. The package includes every
 * dependency.
 *
 * @since 0.1.0
 */
import * as PromiseSynapse from "./PromiseSynapse.js"
import * as Client from "./promise/Client.js"
import { InvalidUsage } from "./promise/Command.js"
import * as Fields from "./promise/Fields.js"
import * as Settings from "./promise/Settings.js"
import type { Synapse } from "./promise/Synapse.js"
import * as HostPath from "./sandbox/policy/HostPath.js"

export {
  type Client,
  type ClientSettings,
  DaemonError,
  type OpenSession,
  type RunOptions,
  type Session,
  type SessionOptions
} from "./promise/Client.js"
export {
  type Answer,
  type Command,
  type CommandCall,
  type CommandSignal,
  defineCommand,
  InvalidUsage
} from "./promise/Command.js"
export type { Diagnostic, Extras, FailureCategory, Image, Job, Result } from "./promise/Result.js"
export type {
  OnPermission,
  PermissionAnswer,
  PermissionRequest,
  Sandbox,
  Settings
} from "./promise/Settings.js"
export type {
  Call,
  HandleOptions,
  Output,
  Pending,
  Signal,
  Synapse,
  Todo,
  Todos,
  ToolDefinition,
  ToolFormats
} from "./promise/Synapse.js"

/**
 * Makes a Synapse with its own shell, which starts with the first command. Rejects with InvalidUsage if a setting is
 * wrong.
 *
 * @example
 * ```ts
 * import { make } from "synapse-shell/promise"
 *
 * await using synapse = await make({ cwd: "/tmp", timeout: 10_000 })
 * const result = await synapse.handle({ id: "1", name: "Bash", arguments: { command: "ls" } })
 * console.log(result.output)
 * ```
 * @since 0.1.0
 * @category constructors
 */
export const make = async (unchecked: Settings.Settings = {}): Promise<Synapse> => {
  const settings = copyOf(unchecked)
  const problem = Settings.problemOf(settings) ?? problemOfDirectory(settings)
  if (problem !== undefined) throw new InvalidUsage(problem)
  return PromiseSynapse.make(settings)
}

/**
 * Makes a client of the daemon that keeps the sessions of `synapse exec --session`. Rejects with InvalidUsage if a
 * setting is wrong.
 *
 * @example
 * ```ts
 * import { connect } from "synapse-shell/promise"
 *
 * const client = await connect()
 * const session = client.session("work")
 * await session.run("cd src")
 * for await (const { text } of session.run("ls")) console.log(text)
 * ```
 * @since 0.1.0
 * @category constructors
 */
export const connect = async (settings: Client.ClientSettings = {}): Promise<Client.Client> => {
  const problem = Client.problemOf("setting", settings)
  if (problem !== undefined) throw new InvalidUsage(problem)
  return PromiseSynapse.connect(settings)
}

/** Copies own properties, so that a getter can't give other values after the check. */
const copyOf = (settings: Settings.Settings): Settings.Settings => {
  if (!Fields.isObject(settings)) return settings
  const own: Settings.Settings = { ...settings }
  return Fields.isObject(own.sandbox) ? { ...own, sandbox: { ...own.sandbox } } : own
}

const problemOfDirectory = ({ cwd }: Settings.Settings): string | undefined =>
  cwd === undefined || HostPath.isDirectory(cwd)
    ? undefined
    : `the setting "cwd" must be a directory, and ${cwd} is none`
