import { assert, describe, it } from "@effect/vitest"
import * as RunLimits from "../../../src/agent/loop/RunLimits.js"

describe("TokenUsage", () => {
  it("has the cost of the model's prices per million tokens", () => {
    const counted = { input: 1_000_000, output: 100_000, cached: 400_000 }
    assert.deepStrictEqual(RunLimits.of(counted, { input: 3, output: 15 }), { ...counted, cost: 4.5 })
    assert.deepStrictEqual(RunLimits.of(counted, { input: 3, output: 15, cached: 0 }), { ...counted, cost: 3.3 })
    assert.deepStrictEqual(RunLimits.of(counted, undefined), { ...counted, cost: undefined })
  })

  it("adds up; what has no price adds nothing to the cost", () => {
    const one = { input: 1, output: 2, cached: 3, cost: 4 }
    const free = { ...one, cost: undefined }
    assert.deepStrictEqual(RunLimits.add(one, free), { input: 2, output: 4, cached: 6, cost: 4 })
    assert.deepStrictEqual(RunLimits.add(free, one), { input: 2, output: 4, cached: 6, cost: 4 })
    assert.strictEqual(RunLimits.add(free, RunLimits.none).cost, undefined)
  })
})
