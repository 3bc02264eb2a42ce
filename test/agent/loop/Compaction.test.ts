import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as History from "../../../src/agent/loop/History.js"
import * as Conversation from "../../../src/agent/loop/internal/Conversation.js"

const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const turn = (id: string, ...lengths: ReadonlyArray<number>): ReadonlyArray<Prompt.Message> => {
  const calls = lengths.map((length, at) => ({ id: `${id}.${at}`, name: "Bash", length }))
  return [
    Prompt.assistantMessage({
      content: calls.map((call) => Prompt.toolCallPart({ ...call, params: { command: "ls" }, providerExecuted: false }))
    }),
    History.toolMessage(
      calls.map((call) => ({ call, result: { isError: false, output: `${call.id}\n`.padEnd(call.length, "x") } }))
    )
  ]
}
const turns = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => turn(String(at), length)).flat()

const bytesOf = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.reduce((sum, message) => sum + Conversation.sizeOf(message), 0)
const shorten = (messages: ReadonlyArray<Prompt.Message>, needed: number, wanted = needed) =>
  Conversation.shorten(messages, { needed, wanted }, (id) => `lines 1 to 2 of /tmp/${id} hold it`)
const compact = (...args: Parameters<typeof shorten>) => shorten(...args).messages
const resultsOf = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.flatMap((message) => (message.role === "tool" ? message.content : []))
/** The ids of the outputs that are replaced. */
const replacedIn = (messages: ReadonlyArray<Prompt.Message>, needed: number, wanted?: number) => {
  const before = new Map(resultsOf(messages).map(({ id, result }) => [id, result]))
  const { messages: shorter, replaced } = shorten(messages, needed, wanted)
  const ids = resultsOf(shorter).flatMap(({ id, result }) => (result === before.get(id) ? [] : [id]))
  assert.strictEqual(ids.length, replaced)
  return ids
}

describe("Compaction", () => {
  it("replaces the oldest outputs, in a batch of what is wanted", () => {
    const messages = [user("a"), ...turns(10, 10_000)]
    assert.deepStrictEqual(replacedIn(messages, 5000, 35_000), ["0.0", "1.0", "2.0", "3.0"])
    assert.deepStrictEqual(shorten(messages, 5000, 35_000).dropped, 0)
  })

  it("spares the newest outputs while older ones suffice for what is needed", () => {
    const messages = [user("a"), ...turns(6, 10_000)]
    assert.deepStrictEqual(replacedIn(messages, 15_000, 60_000), ["0.0", "1.0"])
    assert.deepStrictEqual(replacedIn(messages, 25_000, 60_000), ["0.0", "1.0", "2.0"])
  })

  it("of outputs that the model has not seen, an excerpt stays", () => {
    const messages = [user("a"), ...turn("0", 50_000, 700, 20_000)]
    assert.deepStrictEqual(replacedIn(messages, 40_000), ["0.0"])
    const [, , tool] = compact(messages, 40_000)
    const [first, second, third] = tool?.role === "tool" ? tool.content.map(({ result }) => String(result)) : []
    assert.match(
      first ?? "",
      /^0\.0\nx{100,}\n\[… \d+ characters left out.*lines 1 to 2 of \/tmp\/0\.0 hold it …\]\nx{100,}$/
    )
    assert.isBelow(first?.length ?? 0, 3500)
    assert.deepStrictEqual([second?.length, third?.length], [700, 20_000])
  })

  it("short outputs stay: a reference would save nothing", () => {
    assert.deepStrictEqual(replacedIn([user("a"), ...turns(20, 500)], 1), [])
  })

  it("where outputs do not suffice, leaves out the oldest messages, but none of users, and not the last turn", () => {
    const messages = [user("a"), ...turns(10, 500), user("b"), ...turns(3, 500)]
    const shorter = compact(messages, 3000)
    assert.deepStrictEqual(
      shorter.map(({ role }) => role),
      [
        "user",
        "user",
        ...Array.from({ length: (shorter.length - 3) / 2 - 3 }, () => ["assistant", "tool"]).flat(),
        "user"
      ].concat(Array.from({ length: 3 }, () => ["assistant", "tool"]).flat())
    )
    assert.include(JSON.stringify(shorter[1]), "messages were left out here, to save room]")
    assert.deepStrictEqual(
      compact(messages, 1_000_000).map(({ role }) => role),
      ["user", "user", "user", "assistant", "tool"]
    )
  })

  it("what is replaced is not replaced again", () => {
    const once = compact([user("a"), ...turns(10, 10_000)], 35_000)
    assert.deepStrictEqual(replacedIn(once, 1, 10_000), ["4.0", "5.0"])
  })

  it("the conversation stays in order, gets shorter by what is needed, and the new outputs keep their beginning", () => {
    const lengths = FastCheck.array(FastCheck.integer({ min: 10, max: 20_000 }), { minLength: 1, maxLength: 4 })
    const conversation = FastCheck.array(lengths, { minLength: 1, maxLength: 12 }).map((all) => [
      user("the task"),
      ...all.flatMap((one, at) => turn(String(at), ...one))
    ])
    FastCheck.assert(
      FastCheck.property(conversation, FastCheck.double({ min: 0, max: 1, noNaN: true }), (messages, share) => {
        const before = bytesOf(messages)
        const shorter = compact(messages, before * share)
        assert.deepStrictEqual(History.repair(shorter), shorter)
        assert.deepStrictEqual(shorter[0], messages[0])
        assert.isAtMost(bytesOf(shorter), before + 200)
        if (share < 0.5 && before > 50_000) assert.isBelow(bytesOf(shorter), before * (1 - share) + 20_000)
      })
    )
  })
})

describe("the size of a conversation", () => {
  const sizes = (window: number, messages: ReadonlyArray<Prompt.Message>) =>
    new Conversation.Conversation({
      system: "",
      history: messages,
      tools: [],
      contextWindow: window,
      takesImages: true
    })

  it("takes four bytes for a token until the provider has counted", () => {
    const counted = sizes(1000, [user("x".repeat(966))])
    assert.strictEqual(counted.tokens(), 250)
    counted.count(500)
    assert.strictEqual(counted.tokens(), 500)
    counted.count(1)
    assert.strictEqual(counted.tokens(), 125)
    counted.count(0)
    assert.strictEqual(counted.tokens(), 125)
  })

  it("counts bytes, not characters", () => {
    assert.strictEqual(Conversation.sizeOf(user("中".repeat(100))) - Conversation.sizeOf(user("")), 300)
  })
})
