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

type Given = Pick<SessionOptions.Given, "noSandbox">

/** Prints one line to stderr where `sandbox.json` switches the sandbox off. */
export const tellOf = ({ noSandbox }: Given): Effect.Effect<void, never, SandboxConfig.SandboxConfig | Stdio> =>
  noSandbox
    ? Effect.void
    : Effect.flatMap(SandboxConfig.SandboxConfig, ({ file, peek }) => {
        const config = peek()
        return Either.isLeft(config) || config.right.enabled
          ? Effect.void
          : print("stderr", `synapse: commands run without a sandbox: ${file} switches it off`)
      })

/** Does the same, and reads the file itself. */
export const tell = (given: Given): Effect.Effect<void, ConfigError, Stdio> =>
  Effect.provide(
    tellOf(given),
    SandboxConfig.layer.pipe(Layer.provide(SandboxSettings.layerFromEnv()), Layer.provide(NodeFileSystem.layer))
  )
