/** A renderer on a screen of the test's own. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunEvent } from "../../../src/terminal/RunEvent.js"
import * as TerminalRenderer from "../../../src/terminal/TerminalRenderer.js"
import type * as Screen from "./Screen.js"

export interface Rendered {
  readonly screen: Screen.Screen
  readonly take: (...events: ReadonlyArray<RunEvent>) => Effect.Effect<void>
  readonly print: (text: string) => Effect.Effect<void>
  readonly suspended: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly asking: Rendered["suspended"]
  readonly flush: Effect.Effect<void>
  /** Draws, and returns the lines that the terminal has; wrapped rows are one line. */
  readonly lines: Effect.Effect<ReadonlyArray<string>>
}

export const using = <A, E, R>(
  screen: Screen.Screen,
  use: (rendered: Rendered) => Effect.Effect<A, E, R>,
  settings: Partial<TerminalRenderer.Settings> = {}
): Effect.Effect<A, E, R> =>
  Effect.flatMap(TerminalRenderer.TerminalRenderer, ({ asking, flush, print, suspended, take }) =>
    use({
      screen,
      take: (...events) => Effect.forEach(events, take, { discard: true }),
      print,
      suspended,
      asking,
      flush,
      lines: Effect.zipRight(flush, Effect.promise(screen.lines))
    })
  ).pipe(Effect.provide(Layer.provide(TerminalRenderer.layerWith(settings), screen.layer)))
