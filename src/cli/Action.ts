/** Runs the actions of subcommands that show or change Synapse's files. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { NoSession } from "../agent/transcript/Sessions.js"
import * as Quote from "../bash/Quote.js"
import type { InvalidUsage } from "../domain/CommandError.js"
import * as Setting from "../domain/Setting.js"
import type { NotWritten } from "../extension/mcp/ConfigFile.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import type { SandboxConfigError } from "../sandbox/config/SandboxConfigError.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import { complain, WrongUsage } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"

type Services = PolicyBuilder.PolicyBuilder | SandboxConfig.SandboxConfig | SandboxSettings.SandboxSettings

/** A layer of the settings, of `sandbox.json`, and of the policies built from them. */
const layer: Layer.Layer<Services, ConfigError, FileSystem.FileSystem> = PolicyBuilder.layer.pipe(
  Layer.provideMerge(SandboxConfig.layer),
  Layer.provideMerge(SandboxSettings.layerFromEnv())
)

const layerHere = Layer.provide(layer, Layer.effectDiscard(Effect.suspend(Setting.currentDirectory)))

type Failure = ConfigError | InvalidUsage | NoSession | NotWritten | SandboxConfigError

/** Tells a sandboxed command that only the user can do this. */
const readOnly = (): string =>
  `Only the user can change the sandbox, outside of it: synapse ${process.argv.slice(2).map(Quote.word).join(" ")}`

/** Prints an action's errors. */
export const report = <R>(
  action: Effect.Effect<number, Failure, R>
): Effect.Effect<number, ConfigError | WrongUsage, R | Stdio> =>
  Effect.catchTags(action, {
    InvalidUsage: ({ message }) => new WrongUsage({ message, hasForm: true }),
    NoSession: ({ message }) => complain(message),
    NotWritten: ({ message }) => complain(message),
    SandboxConfigError: ({ isReadOnly, message }) => complain(isReadOnly === true ? readOnly() : message)
  })

/** Runs an action in the current directory, and prints its errors. */
export const run = <R>(
  action: Effect.Effect<number, Failure, R>
): Effect.Effect<number, ConfigError | WrongUsage, Exclude<R, Services> | FileSystem.FileSystem | Stdio> =>
  Effect.provide(report(action), layerHere)
