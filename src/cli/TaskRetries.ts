/** Tells that a sub-agent's model is asked again, where no terminal shows what they do. */
import * as ForeignText from "../domain/ForeignText.js"
import * as SubAgentEvent from "../domain/SubAgentEvent.js"

/** Makes a listener that writes a line on standard error for each request of a sub-agent that is tried again. */
export const listener =
  (write: (stream: "stderr", text: string) => unknown) =>
  ({ description, step, type }: SubAgentEvent.SubAgentEvent): void => {
    if (step._tag !== "Retrying") return
    write(
      "stderr",
      `synapse: task:${ForeignText.word(type)} (${ForeignText.line(description, 80)}): ${SubAgentEvent.describeRetrying(step)}\n`
    )
  }
