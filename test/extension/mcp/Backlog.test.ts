import { assert, describe, it } from "@effect/vitest"
import * as Wire from "../../../src/extension/mcp/internal/Wire.js"

/** A promise that is settled from outside. */
const pending = () => {
  let settle = (_isTaken: boolean) => {}
  const promise = new Promise<void>((resolve, reject) => {
    settle = (isTaken) => (isTaken ? resolve() : reject(new Error("not taken")))
  })
  return { promise, settle }
}

describe("Backlog", () => {
  it("has room until there is too much, and again when it is taken or can't be", async () => {
    for (const isTaken of [true, false]) {
      const backlog = Wire.makeBacklog(10)
      const [first, second] = [pending(), pending()]
      backlog.add(9, first.promise)
      assert.isUndefined(backlog.room())
      backlog.add(9, second.promise)
      const room = backlog.room()
      assert.isDefined(room)
      first.settle(isTaken)
      await room
      assert.isUndefined(backlog.room())
    }
  })

  it("holds up nobody once it is released", async () => {
    const backlog = Wire.makeBacklog(1)
    backlog.add(5, new Promise(() => {}))
    const room = backlog.room()
    backlog.release()
    await room
    assert.isUndefined(backlog.room())
  })
})
