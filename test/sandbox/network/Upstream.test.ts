import * as Os from "node:os"
import { assert, describe, it } from "@effect/vitest"
import * as Upstream from "../../../src/sandbox/network/Upstream.js"

describe("the machine's way to hosts", () => {
  it("leads to no address of the machine itself, private names or not", () => {
    const { isReachable } = Upstream.make()
    const own = Object.values(Os.networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
    for (const address of [...own, "127.0.0.1", "::1"])
      for (const isPrivate of [true, false]) assert.isFalse(isReachable(address, isPrivate), address)
    assert.isTrue(isReachable("192.0.2.77", true))
    assert.isFalse(isReachable("192.0.2.77", false))
  })
})
