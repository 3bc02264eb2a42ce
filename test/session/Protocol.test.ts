import { assert, describe, it } from "@effect/vitest"
import * as Protocol from "../../src/session/Protocol.js"

describe("restoration", () => {
  const state = (parts: ReadonlyArray<string>) => `${parts.join("\0")}\0`

  it("is there only where the state is whole", () => {
    assert.strictEqual(Protocol.restoration("", []), undefined)
    assert.strictEqual(Protocol.restoration("a\0b\0c\0", []), undefined)
    assert.strictEqual(Protocol.restoration("a\0b\0c\0d", []), undefined)
    assert.strictEqual(Protocol.restoration("a\0b\0c\0d\0e\0", []), undefined)
  })

  it("unsets what the environment has and the old shell had not, and leaves out options that would harm", () => {
    const options = ["errexit", "noexec", "onecmd", "history", "monitor", "vi", "pipefail"].map(
      (name) => `set -o ${name}\n`
    )
    assert.strictEqual(
      Protocol.restoration(
        state(["builtin cd -- /\n", 'declare -x KEPT="1"\ndeclare -- GONE="2"\n', "f () { :; }\n", options.join("")]),
        ["KEPT", "GONE", "MISSING", "not a name"]
      ),
      "builtin cd -- /\n" +
        "\\builtin unset -v GONE MISSING\n" +
        'declare -x KEPT="1"\ndeclare -- GONE="2"\n' +
        "f () { :; }\n" +
        "set -o pipefail\n" +
        "\\builtin trap - DEBUG RETURN\n"
    )
  })
})
