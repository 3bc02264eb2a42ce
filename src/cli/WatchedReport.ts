/**
 * Tells of a run of `synapse agent` where a person watches: the steps on stderr, as they come, and the answer on stdout.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { AgentEvent } from "../agent/loop/AgentEvent.js"
import { RunEvent } from "../terminal/RunEvent.js"
import { answer, interruption, type Report, Said } from "./AgentReport.js"
import * as AgentText from "./AgentText.js"
import type { Renderer } from "./Rendering.js"
import type { Stdio } from "./Stdio.js"

/**
 * Makes a report which renders the steps. Where stdout is the same terminal (`isShared`), the answer is rendered too, and
 * nothing is written to stdout.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ flush, print, take }: Renderer, isShared: boolean): Report => {
  const said = new Said()
  /** The text of the last turn that was rendered as it came. */
  let rendered = ""
  let isTurnRendered = false

  const render = (event: AgentEvent): Effect.Effect<void> => {
    switch (event._tag) {
      case "TurnStarted":
        isTurnRendered = false
        return Effect.void
      case "Text":
        isTurnRendered = true
        return isShared ? take(RunEvent.Text({ delta: event.delta })) : Effect.void
      case "TurnEnded":
        if (!isShared || event.text.trim() === "") return Effect.void
        rendered = event.text
        return Effect.zipRight(
          isTurnRendered ? Effect.void : take(RunEvent.Text({ delta: event.text })),
          take(RunEvent.TurnEnded())
        )
      case "Retrying":
        return take(RunEvent.Retrying({ reason: event.reason, delay: event.delay }))
      case "ToolStarted":
      case "ToolEnded":
        return take(event)
      default:
        return Effect.void
    }
  }
  /** The text of a turn that goes on with commands, where it has not been rendered: it is no answer. */
  const remark = (): Effect.Effect<void> => {
    const { isTold, whole } = said
    said.isTold = true
    return isTold || isShared || whole.trim() === "" ? Effect.void : print(AgentText.harmless(whole.trim(), true))
  }
  const end = (text: string): Effect.Effect<void, never, Stdio> =>
    Effect.zipRight(flush, isShared && text === rendered ? Effect.void : answer(text))

  return {
    take: (event) =>
      Effect.suspend(() => {
        const before = event._tag === "ToolStarted" ? remark() : Effect.void
        said.take(event)
        return Effect.zipRight(before, event._tag === "Ended" ? end(event.text) : render(event))
      }),
    interrupted: Effect.suspend(() => {
      const isPart = said.part !== ""
      const { text } = interruption(said)
      // What has come of a turn has been rendered, and ends here.
      const last = Effect.zipRight(
        isShared && isPart ? take(RunEvent.TurnEnded()) : Effect.void,
        take(RunEvent.Interrupted())
      )
      return Effect.zipRight(last, isShared && isPart ? flush : end(text))
    }),
    end: () => said.end
  }
}
