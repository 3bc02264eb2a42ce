import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Running from "../../support/agent/Running.js"

describe("the stream of a run", () => {
  it.effect("interrupting it ends the request to the model", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { fake, stream } = yield* Running.streamOf([{ text: "I think", hangs: true }])
        const seen = yield* Deferred.make<void>()
        const fiber = yield* Effect.fork(
          Stream.runForEach(stream, ({ _tag }) => (_tag === "Text" ? Deferred.succeed(seen, undefined) : Effect.void))
        )
        yield* Deferred.await(seen)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
        assert.strictEqual(fake.interrupted(), 1)
      })
    )
  )

  it.effect("interrupting it ends the running command, and what was appended leaves the call without a result", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let ended = 0
        const { fake, stream, toolset } = yield* Running.streamOf([{ calls: ["echo a", "sleep 99"] }], {
          script: (command) =>
            command === "sleep 99"
              ? Effect.onInterrupt(Effect.never, () =>
                  Effect.sync(() => {
                    ended++
                  })
                )
              : { stdout: "a\n" }
        })
        const events: Array<string> = []
        const running = yield* Deferred.make<void>()
        const fiber = yield* Effect.fork(
          Stream.runForEach(stream, (event) => {
            events.push(event._tag === "Appended" ? `Appended ${event.messages[0]?.role}` : event._tag)
            return event._tag === "ToolStarted" && event.call.arguments.includes("sleep")
              ? Deferred.succeed(running, undefined)
              : Effect.void
          })
        )
        yield* Deferred.await(running)
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(ended, 1)
        assert.deepStrictEqual(
          events.filter((event) => event.startsWith("Appended")),
          ["Appended user", "Appended assistant", "Appended tool"]
        )
        assert.notInclude(events, "Ended")
        assert.strictEqual(fake.requests.length, 1)
        // The toolset is there for the next run.
        const again = yield* toolset.handle({ id: "next", name: "Bash", arguments: '{"command":"echo b"}' })
        assert.isFalse(again.isError)
      })
    )
  )

  it.effect("a message is taken by the consumer before the calls in it are run", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const log: Array<string> = []
        const { stream } = yield* Running.streamOf([{ calls: ["rm -r x"] }, { text: "Done." }], {
          script: (command) => {
            log.push(command)
            return {}
          }
        })
        yield* Stream.runForEach(stream, (event) =>
          event._tag === "Appended"
            ? Effect.repeatN(Effect.yieldNow(), 100).pipe(
                Effect.zipRight(Effect.sync(() => log.push(`written ${event.messages[0]?.role}`)))
              )
            : Effect.void
        )
        assert.deepStrictEqual(log, [
          "written user",
          "written assistant",
          "rm -r x",
          "written tool",
          "written assistant"
        ])
      })
    )
  )

  it.effect("a slow consumer holds up the model: no more events wait than a few", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let made = 0
        const text = Array.from({ length: 5000 }, (_, at) => `${at} `)
        const { stream } = yield* Running.streamOf(() => {
          made++
          return { text, calls: ["ls"] }
        })
        const [first] = yield* Stream.runCollect(Stream.take(stream, 10))
        assert.strictEqual(first?._tag, "Started")
        assert.strictEqual(made, 1)
      })
    )
  )

  it.effect("a consumer that takes no more ends the run", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { fake, stream } = yield* Running.streamOf(() => ({ calls: ["ls"] }))
        yield* Stream.runDrain(Stream.takeUntil(stream, ({ _tag }) => _tag === "ToolStarted"))
        const asked = fake.requests.length
        yield* Effect.repeatN(Effect.yieldNow(), 200)
        assert.strictEqual(fake.requests.length, asked)
      })
    )
  )

  it.effect("the same stream run twice is two runs", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { fake, stream } = yield* Running.streamOf(() => ({ text: "Done." }))
        yield* Effect.all([Stream.runDrain(stream), Stream.runDrain(stream)], { concurrency: 2 })
        assert.deepStrictEqual(
          fake.requests.map(({ length }) => length),
          [2, 2]
        )
      })
    )
  )
})
