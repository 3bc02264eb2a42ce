import { assert, describe, it } from "@effect/vitest"
import { CallPlaces, CallQueue } from "../../src/cli/CallAction.js"

const call = (id: string, text = "true") => ({ id, name: "Bash", arguments: text })

describe("the places of calls", () => {
  it("starts calls in the order of their coming, and those that were cancelled never", () => {
    const started: Array<string> = []
    const ends: Array<() => void> = []
    const places = new CallPlaces(({ id }, ended) => {
      started.push(id)
      ends.push(ended)
    })
    for (let id = 0; id < 300; id++) places.add(call(String(id)))
    assert.isTrue(places.isWaiting("250"))
    assert.strictEqual(places.cancel("250")?.id, "250")
    assert.isUndefined(places.cancel("250"))
    assert.isTrue(places.wasAnswered("250"))
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) end()
    assert.deepStrictEqual(
      started,
      Array.from({ length: 300 }, (_, id) => String(id)).filter((id) => id !== "250")
    )
    assert.isTrue(places.isIdle)
  })

  it("starts a hundred thousand calls that end at once, without piling up", async () => {
    let count = 0
    const held: Array<() => void> = []
    const places = new CallPlaces((_, ended) => {
      // Those that wait for them start by their end.
      if (count++ < 100) held.push(ended)
      else ended()
    })
    const idle = new Promise<void>((resolve) => {
      places.onIdle = resolve
    })
    for (let id = 0; id < 100_000; id++) places.add(call(String(id)))
    assert.strictEqual(count, 100)
    for (const end of held) end()
    await idle
    assert.strictEqual(count, 100_000)
  })

  it("runs large calls one at a time, and says when there is room again", () => {
    const ends: Array<() => void> = []
    const places = new CallPlaces((_, ended) => ends.push(ended))
    const large = "x".repeat(40 * 1024 ** 2)
    for (const id of ["1", "2", "3", "4", "5"]) places.add(call(id, large))
    assert.strictEqual(ends.length, 2)
    assert.isFalse(places.hasRoom)
    let room = 0
    places.onRoom = () => room++
    ends.shift()?.()
    ends.shift()?.()
    assert.isAbove(room, 0)
    assert.isTrue(places.hasRoom)
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) end()
    assert.isTrue(places.isIdle)
  })
})

describe("a queue of calls", () => {
  it("keeps the order, whatever is removed and comes again", () => {
    const queue = new CallQueue(10_000)
    for (const id of ["a", "b", "c", "d"]) queue.add(call(id))
    assert.strictEqual(queue.shift()?.id, "a")
    queue.remove("c")
    queue.add(call("a"))
    queue.add(call("c"))
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4].map(() => queue.shift()?.id),
      ["b", "d", "a", "c", undefined]
    )
    queue.add(call("e"))
    assert.strictEqual(queue.shift()?.id, "e")
    assert.isFalse(queue.isFull)
  })
})
