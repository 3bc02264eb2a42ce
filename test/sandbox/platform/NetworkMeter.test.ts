import { assert, describe, it } from "@effect/vitest"
import * as NetworkMeter from "../../../src/sandbox/platform/NetworkMeter.js"

/** A meter over a counter that `send` raises. */
const metered = () => {
  let count = 7
  const meter = NetworkMeter.make({ read: () => count, close: () => {} })
  return {
    ...meter,
    send: (packets = 1) => {
      count += packets
    }
  }
}

describe("what found no route", () => {
  it("is the command's that ran since the last reading", () => {
    const { send, settle } = metered()
    send(2)
    assert.deepStrictEqual(settle(), { surely: 2, perhaps: 0 })
    assert.deepStrictEqual(settle(), { surely: 0, perhaps: 0 })
  })

  it("is not the next command's where there was time for a reading", () => {
    const { note, pass, send, settle } = metered()
    send()
    pass()
    note(true)
    assert.deepStrictEqual(settle(), { surely: 0, perhaps: 0 })
  })

  it("may be another command's where there was none", () => {
    const { pass, send, settle } = metered()
    send()
    pass()
    send()
    assert.deepStrictEqual(settle(), { surely: 0, perhaps: 2 })
    send()
    assert.deepStrictEqual(settle(), { surely: 1, perhaps: 0 })
  })

  it("is divided by a reading that is taken while a command runs", () => {
    const { note, pass, send, settle } = metered()
    send()
    pass()
    send()
    note(false)
    send(4)
    assert.deepStrictEqual(settle(), { surely: 4, perhaps: 2 })
  })

  it("is nothing where the network is gone", () => {
    const { settle } = NetworkMeter.make({ read: () => undefined, close: () => {} })
    assert.deepStrictEqual(settle(), { surely: 0, perhaps: 0 })
  })
})
