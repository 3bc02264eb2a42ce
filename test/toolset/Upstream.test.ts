import { assert, describe, it } from "@effect/vitest"
import * as Upstream from "../../src/toolset/Upstream.js"

describe("who failed before the end of a pipeline", () => {
  for (const [command, pipeline, remark] of [
    ["pytest | tail -3", [1, 0], "[pytest exited 1]"],
    ["make 2>&1 | ./filter | tail", [2, 3, 0], "[make exited 2, ./filter exited 3]"],
    ["(cd x && make) | tail", [2, 0], "[part 1 of the pipeline exited 2]"],
    ["yes | head -1", [141, 0], undefined],
    ["grep x f | wc -l", [1, 0], undefined],
    ["/usr/bin/diff a b | head", [1, 0], undefined],
    ["grep x nosuch | wc -l", [2, 0], "[grep exited 2]"],
    ["true | false", [0, 1], undefined],
    // The exit codes are of another pipeline than the one that the text ends with.
    ["a | b | c", [1, 0], undefined],
    ["f", [1, 0], undefined],
    ["f", undefined, undefined]
  ] as const) {
    it(`${command}: ${JSON.stringify(pipeline)}`, () => {
      assert.strictEqual(Upstream.remark(command, pipeline === undefined ? {} : { pipeline }), remark)
    })
  }
})
