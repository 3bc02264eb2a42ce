/** Runs the actions of `synapse mcp` with the services that they need, and reports their errors. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidUsage } from "../domain/CommandError.js"
import * as WorkingDirectory from "../domain/WorkingDirectory.js"
import type { NotWritten } from "../extension/mcp/ConfigFile.js"
import * as FileMcpConfig from "../extension/mcp/FileMcpConfig.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as SessionSettings from "../session/SessionSettings.js"
import { complain, end } from "./Answer.js"
import { type Invocation, WrongUsage } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"

type Services = FileMcpConfig.McpReading | SandboxSettings.SandboxSettings

const layer: Layer.Layer<Services, ConfigError, FileSystem.FileSystem> = FileMcpConfig.layerReading.pipe(
  Layer.provide(PolicyBuilder.layer),
  Layer.provide(SandboxConfig.layer),
  Layer.provide(SessionSettings.layer()),
  Layer.provideMerge(SandboxSettings.layerFromEnv()),
  Layer.provide(Layer.effectDiscard(Effect.suspend(WorkingDirectory.current)))
)

/** Runs an action, which returns the program's exit code; reports its errors. */
export const run = <R>(
  action: Effect.Effect<number, InvalidUsage | NotWritten, R>
): Effect.Effect<void, ConfigError | WrongUsage, Exclude<R, Services> | FileSystem.FileSystem | Invocation | Stdio> =>
  action.pipe(
    Effect.catchTags({
      NotWritten: ({ message }) => complain(message),
      InvalidUsage: ({ message }) => new WrongUsage({ message })
    }),
    end,
    Effect.provide(layer)
  )
