/** The output beside the tasks of a command. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LiveTasks from "../../src/cli/LiveTasks.js"
import { Stdio } from "../../src/cli/Stdio.js"
import * as SubAgentEvent from "../../src/domain/SubAgentEvent.js"

const step = (step: SubAgentEvent.SubAgentStep): SubAgentEvent.SubAgentEvent => ({
  id: "1",
  type: "general",
  description: "find it",
  step
})

describe("live tasks", () => {
  it.live("keep what was heard, though its bytes are another's after the call", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let written = ""
        const tasks = yield* Effect.provideService(LiveTasks.make, Stdio, {
          write: (stream, chunk) => {
            if (stream === "stdout") written += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString()
          },
          read: Effect.sync(() => undefined),
          pull: async () => undefined,
          hasInput: () => false,
          isTerminal: () => false
        })
        const { onOutput, onSubAgent } = tasks.listener
        onSubAgent(step(SubAgentEvent.SubAgentStep.Started()))
        // As the session reads into one buffer again and again.
        const shared = Buffer.from("before")
        const taken = onOutput("stdout", shared)
        shared.write("after!")
        yield* Effect.promise(async () => taken)
        yield* tasks.end
        assert.strictEqual(written, "before")
      })
    )
  )
})
