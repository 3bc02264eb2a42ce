/**
 * Tells that a model is asked again, of a run and of sub-agents, where no terminal shows what they do.
 *
 * @since 0.1.0
 */
import * as ForeignText from "../domain/ForeignText.js"
import type { SubAgentEvent } from "../domain/SubAgentEvent.js"

/**
 * Words that a request is tried again after so many milliseconds.
 *
 * @since 0.1.0
 */
export const retrying = ({ delay, reason }: { readonly delay: number; readonly reason: string }): string =>
  `trying again${delay === 0 ? "" : ` in ${Math.ceil(delay / 1000)} s`}: ${ForeignText.line(reason, 300)}`

/**
 * Makes a listener that writes a line on standard error for each request of a sub-agent that is tried again.
 *
 * @since 0.1.0
 */
export const listener =
  (write: (stream: "stderr", text: string) => unknown) =>
  ({ description, step, type }: SubAgentEvent): void => {
    if (step._tag !== "Retrying") return
    write(
      "stderr",
      `synapse: task:${ForeignText.word(type)} (${ForeignText.line(description, 80)}): ${retrying(step)}\n`
    )
  }
