import { assert, describe, it } from "@effect/vitest"
import * as SignalName from "../../src/bash/SignalName.js"

describe("the name of a signal", () => {
  it("is that of the exit code which bash gives it", () => {
    assert.deepStrictEqual([134, 137, 139, 143].map(SignalName.ofExitCode), [
      "Aborted",
      "Killed (SIGKILL)",
      "Segmentation fault",
      "Terminated (SIGTERM)"
    ])
  })

  it("is unknown where programs use the code themselves", () => {
    for (const code of [0, 1, 127, 128, 129, 130, 255]) assert.isUndefined(SignalName.ofExitCode(code), `${code}`)
  })
})
