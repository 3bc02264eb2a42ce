import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { StubDialog } from "../../src/bridge/internal/StubDialog.js"
import * as Fifo from "../../src/session/Fifo.js"
import * as Directory from "../support/sandbox/Directory.js"

describe("StubDialog", () => {
  it.scopedLive("ends at its dismissal where the caller was killed before it opened its FIFO", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      const [ask, answer] = [Path.join(directory, "ask"), Path.join(directory, "answer")] as const
      yield* Effect.promise(() => Fifo.makeFifos([ask, answer]))
      const dialog = new StubDialog(ask, answer, { left: 1000 }, () => assert.fail("nobody has asked"))
      dialog.dismiss()
      yield* Effect.promise(() => dialog.ended)
      assert.isTrue(dialog.isGone)
    })
  )
})
