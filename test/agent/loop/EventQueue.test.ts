import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { AgentEvent } from "../../../src/agent/loop/AgentEvent.js"
import * as EventQueue from "../../../src/agent/loop/internal/EventQueue.js"

const text = (at: number) => AgentEvent.Text({ delta: String(at) })

describe("EventQueue", () => {
  it.effect("hands over every event, in order, whatever the number", () =>
    Effect.gen(function* () {
      const events = yield* Stream.runCollect(
        EventQueue.stream((emit) =>
          Effect.forEach(
            Array.from({ length: 300 }, (_, at) => at),
            (at) => emit(text(at)),
            { discard: true }
          )
        )
      )
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(events).map((event) => (event._tag === "Text" ? Number(event.delta) : -1)),
        Array.from({ length: 300 }, (_, at) => at)
      )
    })
  )

  it.effect("no event waits for the consumer besides the one that it gets next", () =>
    Effect.gen(function* () {
      let emitted = 0
      const stream = EventQueue.stream((emit) =>
        Effect.forever(Effect.suspend(() => Effect.tap(emit(text(emitted)), () => Effect.sync(() => emitted++))))
      )
      yield* Stream.runForEach(Stream.take(stream, 3), () => Effect.repeatN(Effect.yieldNow(), 100))
      assert.isAtMost(emitted, 3)
    })
  )

  it.effect("waits with what is emitted until the consumer asks for more", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const note = (what: string) => Effect.sync(() => log.push(what))
      yield* Stream.runForEach(
        EventQueue.stream((emit) =>
          Effect.all([emit(text(1)), note("taken 1"), emit(text(2)), note("taken 2")], {
            discard: true
          })
        ),
        (event) =>
          Effect.zipRight(
            Effect.repeatN(Effect.yieldNow(), 50),
            note(`consumed ${event._tag === "Text" ? event.delta : ""}`)
          )
      )
      assert.deepStrictEqual(log, ["consumed 1", "taken 1", "consumed 2", "taken 2"])
    })
  )

  it.effect("several that emit at once are both let go", () =>
    Effect.gen(function* () {
      const events = yield* Stream.runCollect(
        EventQueue.stream((emit) =>
          Effect.forEach([1, 2, 3, 4, 5], (at) => emit(text(at)), { concurrency: 5, discard: true })
        )
      )
      assert.strictEqual(events.length, 5)
    })
  )

  it.effect("a defect of the run is one of the stream, after its events", () =>
    Effect.gen(function* () {
      const seen: Array<AgentEvent> = []
      const exit = yield* Effect.exit(
        Stream.runForEach(
          EventQueue.stream((emit) => Effect.zipRight(emit(text(1)), Effect.dieMessage("boom"))),
          (event) => Effect.sync(() => seen.push(event))
        )
      )
      assert.deepStrictEqual(seen, [text(1)])
      assert.isTrue(Exit.isFailure(exit) && exit.cause._tag === "Die")
    })
  )
})
