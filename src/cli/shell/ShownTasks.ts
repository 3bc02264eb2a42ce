/** The sub-agents that a terminal shows. Those in the background outlive the command that started them. */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SubAgentEvent } from "../../domain/SubAgentEvent.js"
import { RunEvent } from "../../terminal/RunEvent.js"
import type { TerminalRenderer } from "../../terminal/TerminalRenderer.js"

/** Shows sub-agents, and knows whether one is running. */
export class ShownTasks {
  private readonly running = new Set<string>()

  constructor(readonly renderer: Context.Tag.Service<TerminalRenderer>) {}

  /** True while live lines may be shown, so that other output has to go above them. */
  get isAny(): boolean {
    return this.running.size > 0
  }

  take(event: SubAgentEvent): Effect.Effect<void> {
    if (event.step._tag === "Started") this.running.add(event.id)
    if (event.step._tag === "Ended") this.running.delete(event.id)
    return this.renderer.take(RunEvent.SubAgent({ event }))
  }
}
