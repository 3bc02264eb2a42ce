import type * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ResultImage from "../../../src/agent/model/ResultImage.js"
import type { Image } from "../../../src/domain/CommandResult.js"
import * as FakeModel from "../../support/agent/FakeModel.js"
import * as Running from "../../support/agent/Running.js"

const image = (length = 8): Image => ({ path: "x.png", mediaType: "image/png", base64: "A".repeat(length) })

/** A shell whose commands read one image each. A command that is a number sets the image's length in characters. */
const script = (command: string) => ({
  stdout: `${command}: PNG\n`,
  images: [image(Number(command) || undefined)]
})

/** The results in messages: their text, and the number of their images. */
const results = (messages: ReadonlyArray<Prompt.Message> = []) =>
  messages.flatMap((message) =>
    message.role === "tool" ? message.content.map((part) => [part.result, ResultImage.of(part).length]) : []
  )

const turns = (...commands: ReadonlyArray<string>) => [
  ...commands.map((command) => ({ calls: [command] })),
  { text: "Done." }
]

const refusal = FakeModel.error("bad_request", "It takes no images.")

describe("images of results", () => {
  it.effect("go to the model with their result, again with each request, and to the transcript", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect(turns("read a", "ls"), { script })
      assert.strictEqual(ended.ending, "done")
      assert.deepStrictEqual(results(fake.requests[1]), [["read a: PNG\n", 1]])
      assert.deepStrictEqual(results(fake.requests[2]), [
        ["read a: PNG\n", 1],
        ["ls: PNG\n", 1]
      ])
      const kept = Running.only(events, "Appended").flatMap(({ messages }) => messages)
      assert.deepStrictEqual(results(kept), results(fake.requests[2]))
      const resumed = yield* Running.collect([{ text: "Again." }], { script, history: kept })
      assert.deepStrictEqual(results(resumed.fake.requests[0]), results(fake.requests[2]))
    })
  )

  it.effect("stay with the program where the settings say that the model takes none", () =>
    Effect.gen(function* () {
      const { fake } = yield* Running.collect(turns("read a"), { script, model: { takesImages: false } })
      assert.deepStrictEqual(results(fake.requests[1]), [
        ["read a: PNG\n[image left out: this model is set up to get none]\n", 0]
      ])
    })
  )

  it.effect("are left out where the provider refuses the request, and from the second refusal on, for good", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect(
        (messages, at) => {
          if (results(messages).some(([, count]) => count !== 0)) return { fails: refusal }
          return at > 7 ? { text: "Done." } : { calls: [`read ${at}`] }
        },
        { script }
      )
      assert.deepStrictEqual([ended.ending, ended.text], ["done", "Done."])
      assert.deepStrictEqual(
        Running.only(events, "Retrying").map(({ reason }) => reason),
        ["It takes no images.; now without images", "It takes no images.; now without images"]
      )
      const last = results(fake.requests.at(-1))
      assert.isAbove(last.length, 3)
      for (const [text, count] of last) {
        assert.match(String(text), /\[image left out: the provider refused it\]\n$/)
        assert.strictEqual(count, 0)
      }
    })
  )

  it.effect("a request that is refused for something else fails with the provider's words", () =>
    Effect.gen(function* () {
      const { ended, fake } = yield* Running.collect(
        (_, at) => (at === 0 ? { calls: ["read a"] } : { fails: FakeModel.error("bad_request", `No. ${at}`) }),
        { script }
      )
      assert.deepStrictEqual([ended.ending, ended.reason, fake.requests.length], ["failed", "No. 2", 3])
    })
  )

  it.effect("are bounded in size and in number: the oldest go, by halves", () =>
    Effect.gen(function* () {
      const large = yield* Running.collect(turns(String(5 * 1024 ** 2 + 1), String(5 * 1024 ** 2)), { script })
      assert.deepStrictEqual(results(large.fake.requests[2]), [
        ["5242881: PNG\n[image left out: it is larger than 3.75 MiB]\n", 0],
        ["5242880: PNG\n", 1]
      ])
      const mega = String(4 * 1024 ** 2)
      const heavy = yield* Running.collect(turns(mega, mega, mega, mega, mega, mega), { script })
      const counts = (messages?: ReadonlyArray<Prompt.Message>) => results(messages).map(([, count]) => count)
      assert.deepStrictEqual(counts(heavy.fake.requests[5]), [1, 1, 1, 1, 1])
      assert.deepStrictEqual(counts(heavy.fake.requests[6]), [0, 0, 0, 0, 1, 1])
      const many = yield* Running.collect(turns(...Array.from({ length: 21 }, (_, at) => `read ${at}`)), { script })
      assert.strictEqual(counts(many.fake.requests[20]).filter((count) => count === 1).length, 20)
      const after = results(many.fake.requests[21])
      assert.deepStrictEqual(
        after.map(([, count]) => count),
        [...Array(11).fill(0), ...Array(10).fill(1)]
      )
      assert.strictEqual(
        after[0]?.[0],
        "read 0: PNG\n[image left out: to save room; read it again where you need it]\n"
      )
    })
  )

  it.effect("those that the model has seen are the first to go where the window is full", () =>
    Effect.gen(function* () {
      const { ended, events, fake } = yield* Running.collect(turns("read a", "read b", "read c", "read d"), {
        script,
        model: { contextWindow: 9000 }
      })
      assert.strictEqual(ended.ending, "done")
      assert.isAbove(Running.only(events, "Compacted").length, 0)
      const counts = results(fake.requests.at(-1)).map(([, count]) => count)
      assert.strictEqual(counts[0], 0)
      assert.strictEqual(counts.at(-1), 1)
    })
  )

  it.effect("a transcript that somebody has edited sends nothing that is no image", () =>
    Effect.gen(function* () {
      const { events } = yield* Running.collect(turns("ls"), { script })
      const kept = Running.only(events, "Appended").flatMap(({ messages }) => messages)
      for (const images of ["x", [1], [{ mediaType: "text/html", base64: "AA" }], [{ mediaType: "image/png" }], null]) {
        const edited = JSON.parse(JSON.stringify(kept), (key, value) => (key === "images" ? images : value))
        const { fake } = yield* Running.collect([{ text: "Again." }], { script, history: edited })
        assert.deepStrictEqual(results(fake.requests[0]), [["ls: PNG\n", 0]])
      }
    })
  )
})
