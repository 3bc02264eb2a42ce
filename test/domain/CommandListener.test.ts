import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../src/domain/CallContext.js"
import * as CommandListener from "../../src/domain/CommandListener.js"
import * as CommandResult from "../../src/domain/CommandResult.js"

describe("CallContext.tell", () => {
  it.effect("gives both streams to the listener, and waits for it", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      yield* CallContext.tell(CommandResult.make({ stdout: "out ü", stderr: "err" })).pipe(
        CallContext.locally({
          listener: {
            onOutput: async (stream, chunk) => {
              await Promise.resolve()
              heard.push(`${stream}: ${new TextDecoder().decode(chunk)}`)
            }
          }
        })
      )
      assert.deepStrictEqual(heard, ["stdout: out ü", "stderr: err"])
    })
  )

  it.effect("says nothing of an empty stream", () =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      yield* CallContext.tell(CommandResult.make()).pipe(
        CallContext.locally({ listener: { onOutput: (stream) => void heard.push(stream) } })
      )
      assert.deepStrictEqual(heard, [])
    })
  )
})

describe("CommandListener.ofProgress", () => {
  it("keeps what a Synapse command hears, and nothing of the shell's", () => {
    const account = { hasBudget: false, add: () => {}, reached: () => undefined }
    const onProgress = () => {}
    assert.deepStrictEqual(CommandListener.ofProgress({ account, onProgress, onOutput: () => {}, takesAll: true }), {
      account,
      onProgress
    })
    assert.deepStrictEqual(CommandListener.ofProgress({ onInterrupted: () => {} }), {})
  })
})
