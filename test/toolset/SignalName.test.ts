import { assert, describe, it } from "@effect/vitest"
import * as Diagnosis from "../../src/toolset/internal/Diagnosis.js"

describe("the name of a signal", () => {
  it("is that of the exit code which bash gives it", () => {
    assert.deepStrictEqual([134, 137, 139, 143].map(Diagnosis.ofExitCode), [
      "Aborted",
      "Killed (SIGKILL)",
      "Segmentation fault",
      "Terminated (SIGTERM)"
    ])
  })

  it("is unknown where programs use the code themselves", () => {
    for (const code of [0, 1, 127, 128, 129, 130, 255]) assert.isUndefined(Diagnosis.ofExitCode(code), `${code}`)
  })
})
