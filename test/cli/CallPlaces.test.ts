import { assert, describe, it } from "@effect/vitest"
import { CallPlaces } from "../../src/cli/CallAction.js"

const call = (id: string, text = "true") => ({ id, name: "Bash", arguments: text })

describe("the places of calls", () => {
  it("starts calls in the order of their coming, but for those that were removed", () => {
    const started: Array<string> = []
    const ends: Array<() => void> = []
    const places = new CallPlaces(({ id }, ended) => {
      started.push(id)
      ends.push(ended)
    })
    for (let id = 0; id < 3000; id++) places.add(call(String(id)))
    assert.isTrue(places.isWaiting("2500"))
    assert.strictEqual(places.remove("2500")?.id, "2500")
    assert.isUndefined(places.remove("2500"))
    places.add(call("2500"))
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) end()
    const ids = Array.from({ length: 3000 }, (_, id) => String(id))
    assert.deepStrictEqual(started, [...ids.filter((id) => id !== "2500"), "2500"])
  })

  it("starts a hundred thousand calls that end at once, without piling up", () => {
    let count = 0
    const held: Array<() => void> = []
    const places = new CallPlaces((_, ended) => {
      // Those that wait for them start by their end.
      if (count++ < 1000) held.push(ended)
      else ended()
    })
    for (let id = 0; id < 100_000; id++) places.add(call(String(id)))
    assert.strictEqual(count, 1000)
    for (const end of held) end()
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
    assert.isFalse(["1", "5"].some((id) => places.isRunning(id) || places.isWaiting(id)))
  })
})
