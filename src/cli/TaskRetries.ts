import * as SubAgentEvent from "../domain/SubAgentEvent.js"
import * as UntrustedText from "../domain/UntrustedText.js"

/** Makes a listener that writes a line to standard error each time a sub-agent retries a request. */
export const listener =
  (write: (stream: "stderr", text: string) => unknown) =>
  ({ description, step, type }: SubAgentEvent.SubAgentEvent): void => {
    if (step._tag !== "Retrying") return
    write(
      "stderr",
      `synapse: task:${UntrustedText.word(type)} (${UntrustedText.line(description, 80)}): ${SubAgentEvent.describeRetrying(step)}\n`
    )
  }
