/** Tells of a sandbox that is off, where a file says so and not whoever runs the program, and of one that is open to the network. */
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

type Given = Pick<SessionOptions.Given, "allowNetwork" | "noSandbox">

/** Prints one line to stderr where `sandbox.json` switches the sandbox off, and where commands reach any host. */
export const tellOf = ({
  allowNetwork,
  noSandbox
}: Given): Effect.Effect<void, never, SandboxConfig.SandboxConfig | Stdio> =>
  noSandbox
    ? Effect.void
    : Effect.flatMap(SandboxConfig.SandboxConfig, ({ file, peek }) => {
        const config = peek()
        return Either.isLeft(config) || config.right.enabled
          ? tellOfNetwork(allowNetwork)
          : print("stderr", `synapse: commands run without a sandbox: ${file} switches it off`)
      })

export const tellOfNetwork = (allowNetwork: boolean): Effect.Effect<void, never, Stdio> =>
  allowNetwork
    ? print("stderr", "synapse: --allow-network: commands reach any public host, and can send it what they read")
    : Effect.void

/** Does the same, and reads the file itself. */
export const tell = (given: Given): Effect.Effect<void, ConfigError, Stdio> =>
  Effect.provide(
    tellOf(given),
    SandboxConfig.layer.pipe(Layer.provide(SandboxSettings.layerFromEnv()), Layer.provide(NodeFileSystem.layer))
  )
