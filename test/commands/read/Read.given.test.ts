import { assert, describe, it } from "@effect/vitest"
import * as Read from "../../../src/commands/read/Read.js"

const calls: Readonly<Record<string, string | undefined>> = {
  "f --lines 5-10": "read f:5-10",
  "f --lines=5:10": "read f:5-10",
  "f --lines 5": "read f --limit 5",
  "f --line-range 2,3": "read f:2-3",
  "f --range 7": "read f:7-7",
  "f --range 7-": "read f:7-",
  "--start 5 --end 9 f": "read f:5-9",
  "f --start-line=5": "read f:5-",
  "f --end_line 9": "read f:1-9",
  "f --start 5 -n 3": "read f:5-7",
  "f -n 5": "read f --limit 5",
  "f --head 5": "read f --limit 5",
  "f g -n 5": undefined,
  "f --limit 5": undefined,
  "f -n x": undefined,
  "f -n": undefined,
  "f --frob 5": undefined,
  "f --lines 5-10 --start 2": undefined,
  "f --end 9 -n 2": undefined,
  "-n 5": undefined,
  f: undefined
}

describe("the options of other programs", () => {
  it("are answered with the right call of the values given, or left to be refused", () => {
    for (const [line, right] of Object.entries(calls)) {
      assert.strictEqual(Read.ofOptions(line.split(" ")), right, line)
    }
    assert.strictEqual(Read.ofOptions(["a b", "-n", "5"]), "read 'a b' --limit 5")
  })
})
