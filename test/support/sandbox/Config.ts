/** `sandbox.json` in a directory of its own, with the configuration that reads it. */
import * as Fs from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SandboxConfig from "../../../src/sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as Directory from "./Directory.js"

/** A configuration of its own, as another process would have it. */
export const open = (home: string): Effect.Effect<Context.Tag.Service<SandboxConfig.SandboxConfig>> =>
  Effect.provide(
    SandboxConfig.SandboxConfig,
    SandboxConfig.layer.pipe(
      Layer.provide(NodeFileSystem.layer),
      Layer.provide(SandboxSettings.layer({ home, userHome: "/home/ada", variables: { DATA: "/data" } }))
    )
  )

export interface Home {
  readonly home: string
  readonly file: string
  readonly config: Context.Tag.Service<SandboxConfig.SandboxConfig>
  readonly text: () => string
}

/** With that text in the file; without a file where there is no text. */
export const make = (text?: string | Uint8Array): Effect.Effect<Home, never, Scope.Scope> =>
  Effect.gen(function* () {
    const home = yield* Directory.make
    const file = `${home}/sandbox.json`
    if (text !== undefined) Fs.writeFileSync(file, text)
    return { home, file, config: yield* open(home), text: () => Fs.readFileSync(file, "utf8") }
  })

/** What an effect fails with, as a person reads it. */
export const messageOf = <A, R>(
  effect: Effect.Effect<A, { readonly message: string }, R>
): Effect.Effect<string, A, R> => Effect.map(Effect.flip(effect), ({ message }) => message)
