import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PromiseSynapse from "../src/PromiseSynapse.js"
import * as TestSynapse from "../src/TestSynapse.js"

const call = (id: string, command: string) => ({ id, name: "Bash", arguments: JSON.stringify({ command }) })

const withSynapse = async (use: (synapse: PromiseSynapse.PromiseSynapse) => Promise<void>, onEnd = () => {}) => {
  const synapse = await PromiseSynapse.fromLayer(
    TestSynapse.layer((command) =>
      command === "hang" ? Effect.onInterrupt(Effect.never, () => Effect.sync(onEnd)) : { stdout: command }
    )
  )
  try {
    await use(synapse)
  } finally {
    await synapse.dispose()
  }
}

describe("PromiseSynapse", () => {
  it("answers calls, in parallel, and shows the tools", () =>
    withSynapse(async (synapse) => {
      assert.deepStrictEqual(
        synapse.tools.map(({ name }) => name),
        ["Bash"]
      )
      const results = await Promise.all([synapse.handle(call("1", "a")), synapse.handle(call("2", "b"))])
      assert.deepStrictEqual(
        results.map(({ output, toolCallId }) => ({ output, toolCallId })),
        [
          { output: "a", toolCallId: "1" },
          { output: "b", toolCallId: "2" }
        ]
      )
    }))

  it("S47 S48: cancels the tool beneath, once, keeps the id, and goes on", () => {
    let ended = 0
    return withSynapse(
      async (synapse) => {
        const pending = synapse.handle(call("1", "hang"))
        // A refused call of the same id cancels nothing but itself.
        const refused = synapse.handle(call("1", "a"))
        refused.cancel()
        assert.strictEqual((await refused).extras.failureCategory, "invalid_usage")
        assert.strictEqual(ended, 0)
        pending.cancel()
        pending.cancel()
        const { extras, toolCallId } = await pending
        assert.deepStrictEqual(
          { ended, toolCallId, exitCode: extras.exitCode },
          { ended: 1, toolCallId: "1", exitCode: 130 }
        )
        assert.strictEqual((await synapse.handle(call("1", "fine"))).output, "fine")
      },
      () => ended++
    )
  })

  it("answers what is no call, and takes arguments that are an object", () =>
    withSynapse(async (synapse) => {
      const handle = synapse.handle as (call: unknown) => PromiseSynapse.Pending
      const wrong = [undefined, null, {}, "ls", { id: 5, name: "Bash", arguments: "{}" }, { id: "7", name: "Bash" }]
      for (const given of wrong) {
        const pending = handle(given)
        pending.cancel()
        const { extras, isError, message, toolCallId } = await pending
        assert.deepStrictEqual(
          { isError, category: extras.failureCategory, toolCallId },
          { isError: true, category: "invalid_usage", toolCallId: given === wrong[5] ? "7" : "" }
        )
        assert.match(message, /^Invalid tool call: .*A call is \{ id, name, arguments \}/)
      }
      const given = { id: "1", name: "Bash", arguments: { command: "a" } }
      assert.strictEqual((await synapse.handle(given)).output, "a")
    }))

  it("says of a call after its end that it has ended", async () => {
    let synapse: PromiseSynapse.PromiseSynapse | undefined
    await withSynapse(async (made) => {
      synapse = made
    })
    assert.deepStrictEqual(await synapse?.handle(call("1", "a")), {
      toolCallId: "1",
      isError: true,
      output: "the session has ended",
      message: "the session has ended",
      extras: { exitCode: 1, failureCategory: "execution_error", error: "ExecutionFailed", stdout: "", stderr: "" }
    })
  })

  it("ends what runs when it is disposed of", () => {
    let ended = 0
    let last: PromiseSynapse.Pending | undefined
    return withSynapse(
      async (synapse) => {
        last = synapse.handle(call("1", "hang"))
      },
      () => ended++
    ).then(async () => {
      assert.strictEqual((await last)?.extras.exitCode, 130)
      assert.strictEqual(ended, 1)
    })
  })
})
