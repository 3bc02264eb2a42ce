/** Tells that a sub-agent's model is asked again, where no terminal shows what they do. */

import * as SubAgentEvent from "../domain/SubAgentEvent.js"
import * as UntrustedText from "../domain/UntrustedText.js"

/** Makes a listener that writes a line on standard error for each request of a sub-agent that is tried again. */
export const listener =
  (write: (stream: "stderr", text: string) => unknown) =>
  ({ description, step, type }: SubAgentEvent.SubAgentEvent): void => {
    if (step._tag !== "Retrying") return
    write(
      "stderr",
      `synapse: task:${UntrustedText.word(type)} (${UntrustedText.line(description, 80)}): ${SubAgentEvent.describeRetrying(step)}\n`
    )
  }
