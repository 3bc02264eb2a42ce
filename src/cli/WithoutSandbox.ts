/** Tells that commands run without a sandbox where a file has switched it off, and not whoever runs the program. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import { print } from "./Answer.js"
import type * as SessionOptions from "./SessionOptions.js"
import type { Stdio } from "./Stdio.js"

const layer = SandboxConfig.layer.pipe(
  Layer.provide(SandboxSettings.layerFromEnv()),
  Layer.provide(NodeFileSystem.layer)
)

/** Prints one line to stderr where `sandbox.json` switches the sandbox off. */
export const tell = ({
  noSandbox
}: Pick<SessionOptions.Given, "noSandbox">): Effect.Effect<void, ConfigError, Stdio> =>
  noSandbox
    ? Effect.void
    : Effect.gen(function* () {
        const { file, peek } = yield* SandboxConfig.SandboxConfig
        const config = peek()
        if (Either.isLeft(config) || config.right.enabled) return
        yield* print("stderr", `synapse: commands run without a sandbox: ${file} switches it off`)
      }).pipe(Effect.provide(layer))
