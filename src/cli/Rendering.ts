/** Makes the renderer on stderr, and loads its modules only when needed. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Terminal } from "../terminal/Terminal.js"
import type { TerminalRenderer } from "../terminal/TerminalRenderer.js"
import { wrongSettings } from "./Invocation.js"

export type Renderer = Context.Tag.Service<TerminalRenderer>

/**
 * Makes the renderer, which lives as long as the scope. If its setting is invalid, it says so and uses the default.
 */
export const make: Effect.Effect<Renderer, never, Scope.Scope> = Effect.gen(function* () {
  const [{ layer, layerFromEnv, TerminalRenderer }, { layerNode }] = yield* Effect.promise(() =>
    Promise.all([import("../terminal/TerminalRenderer.js"), import("../terminal/Terminal.js")])
  )
  const terminal = layerNode("stderr")
  const build = <E>(renderer: Layer.Layer<TerminalRenderer, E, Terminal>) =>
    Effect.map(Layer.build(Layer.provide(renderer, terminal)), Context.get(TerminalRenderer))
  return yield* Effect.catchAll(build(layerFromEnv), (error) =>
    Effect.tap(build(layer), (renderer) => renderer.print(wrongSettings(error)))
  )
})

/** Tests whether stdout and stderr are the same terminal, where text written to both appears twice. */
export const isShared: Effect.Effect<boolean> = Effect.promise(async () =>
  (await import("../terminal/Terminal.js")).isShared()
)
