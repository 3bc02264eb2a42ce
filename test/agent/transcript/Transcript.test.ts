import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as History from "../../../src/agent/loop/History.js"
import * as Turn from "../../../src/agent/model/Turn.js"
import * as Transcript from "../../../src/agent/transcript/Transcript.js"

const session: Transcript.Session = {
  type: "session",
  version: 1,
  id: "abcdefgh",
  time: "2026-11-23T07:00:00.000Z",
  cwd: "/work",
  prompt: "do it",
  synapse: "0.1.0"
}
const usage = { input: 3, output: 4, cached: 0 }
const text = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const call = (id: string) => Prompt.toolCallPart({ id, name: "Bash", params: { command: id }, providerExecuted: false })
const result = (id: string) =>
  Prompt.toolMessage({
    content: [
      Prompt.toolResultPart({ id, name: "Bash", isFailure: false, result: `of ${id}`, providerExecuted: false })
    ]
  })

const bytesOf = (...entries: ReadonlyArray<Transcript.Entry>) =>
  Buffer.concat(entries.map((entry) => Either.getOrThrow(Transcript.encode(entry))))

const read = (...entries: ReadonlyArray<Transcript.Entry>) => Transcript.read(bytesOf(...entries), session.id)

const message = (message: Prompt.Message): Transcript.Entry => ({ type: "message", message })

const conversation: ReadonlyArray<Transcript.Entry> = [
  session,
  { type: "run", time: session.time, provider: "anthropic", model: "m" },
  message(text("do it, ünïcode 🎉")),
  message(Prompt.assistantMessage({ content: [Prompt.textPart({ text: "two" }), call("1"), call("2")] })),
  message(result("2")),
  message(result("1")),
  { type: "turn", turns: 1, usage },
  message(Prompt.assistantMessage({ content: [call("3")] })),
  message(result("3")),
  { type: "turn", turns: 2, usage: { ...usage, cost: 0.5 } },
  message(Prompt.assistantMessage({ content: [Prompt.textPart({ text: "done" })] })),
  { type: "end", time: session.time, ending: "done", turns: 2, usage: { ...usage, cost: 0.5 } },
  { type: "run", time: session.time, provider: "openai", model: "n" },
  message(text("more"))
]

/** The ids of calls without a result right behind them, and of results without their call. */
const dangling = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.flatMap((message, at) => {
    const next = messages[at + 1]
    const calls = Turn.callsOf(message).map(({ id }) => id)
    const results = next?.role === "tool" ? next.content.map(({ id }) => id) : []
    return JSON.stringify(calls) === JSON.stringify(results) ? [] : [...calls, ...results]
  })

describe("Transcript", () => {
  it("tells what was written", () => {
    const { end, length, messages, model, turns, usage } = Either.getOrThrow(read(...conversation))
    assert.deepStrictEqual(
      { end, length, model, turns, usage },
      {
        end: undefined,
        length: bytesOf(...conversation).length,
        model: { provider: "openai", name: "n" },
        turns: 2,
        usage: { input: 3, output: 4, cached: 0, cost: 0.5 }
      }
    )
    assert.deepStrictEqual(
      messages,
      conversation.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
    )
  })

  it("is read wherever it was cut, and no call dangles", () => {
    const bytes = bytesOf(...conversation)
    const header = bytesOf(session).length
    for (let cut = 0; cut <= bytes.length; cut += cut < header ? 20 : 7) {
      const whole = Transcript.read(bytes.subarray(0, cut), session.id)
      if (cut < header) {
        assert.deepStrictEqual(whole, Either.left("it ends before its first line does"))
        continue
      }
      const { length, messages } = Either.getOrThrow(whole)
      assert.isAtMost(length, cut)
      assert.strictEqual(bytes[length - 1], 0x0a)
      assert.notInclude(bytes.subarray(length, cut).toString("latin1"), "\n")
      assert.deepStrictEqual(dangling(History.repair(messages)), [])
      const added = Buffer.concat([bytes.subarray(0, length), bytesOf(message(text("again")))])
      assert.strictEqual(Either.getOrThrow(Transcript.read(added, session.id)).messages.length, messages.length + 1)
    }
  })

  it("leaves no call dangling in any order of messages", () => {
    const id = FastCheck.constantFrom("1", "2", "3")
    const any = FastCheck.oneof(
      FastCheck.constant(text("x")),
      id.map(result),
      FastCheck.uniqueArray(id).map((ids) => Prompt.assistantMessage({ content: ids.map(call) }))
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(any, { maxLength: 12 }), (messages) => {
        const { messages: kept } = Either.getOrThrow(read(session, ...messages.map(message)))
        assert.deepStrictEqual(dangling(History.repair(kept)), [])
      })
    )
  })

  it("is refused where it is damaged before its end, with the line", () => {
    const after = bytesOf(message(text("x")))
    const damaged = (line: string | Uint8Array) =>
      Transcript.read(Buffer.concat([bytesOf(session), Buffer.from(line), Buffer.from("\n"), after]), session.id)
    const deep = `${'{"type":"message","message":'.padEnd(40)}${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    for (const [line, reason] of [
      ["", "line 2: it is empty, which is no JSON"],
      ["{}", "line 2: it is no line of a transcript"],
      ['{"type":"message","message":{"role":"user"}}', "line 2: it is no line of a transcript"],
      ['{"type":"turn","turns":-1,"usage":{}}', "line 2: it is no line of a transcript"],
      [deep, "line 2: it is nested deeper than 200 levels"],
      [Buffer.from([0x22, 0xff, 0x22]), "line 2: it is not UTF-8"],
      [Buffer.alloc(Transcript.longest + 1, 0x20), `line 2: it is longer than ${Transcript.longest} bytes`],
      [JSON.stringify(session), "line 2: a session begins in it once more"]
    ] as const) {
      assert.deepStrictEqual(damaged(line), Either.left(reason))
    }
    assert.match(Either.getOrThrow(Either.flip(damaged("\0\0\0"))), /^line 2: it is no JSON/)
  })

  it("is refused where its beginning is that of something else", () => {
    const begun = (entry: Transcript.Entry) => Either.getOrThrow(Either.flip(read(entry)))
    assert.strictEqual(begun(message(text("x"))), "it does not begin as a transcript")
    assert.strictEqual(begun({ ...session, version: 2 }), "a newer version of Synapse wrote it")
    assert.strictEqual(begun({ ...session, id: "hgfedcba" }), "it is the transcript of another session")
  })

  it("never fails otherwise, whatever the bytes", () => {
    const line = FastCheck.oneof(
      FastCheck.json(),
      FastCheck.constantFrom(...conversation).map((entry) => JSON.stringify(entry))
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(line), FastCheck.uint8Array(), (lines, bytes) => {
        const all = Buffer.concat([bytesOf(session), Buffer.from(lines.map((one) => `${one}\n`).join("")), bytes])
        Transcript.read(all, session.id)
      })
    )
  })

  it("of an older version, with lines of shortened conversations, is read without them", () => {
    const old = Buffer.concat([
      bytesOf(session),
      Buffer.from('{"type":"compacted","messages":[]}\n'),
      bytesOf(message(text("x")))
    ])
    assert.deepStrictEqual(Either.getOrThrow(Transcript.read(old, session.id)).messages, [text("x")])
  })
})

describe("Entry", () => {
  it("is one line of harmless characters, and gives every text back", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.fullUnicodeString(), (any) => {
        const given = `${any}\x1b[2J\x9b\r\n\u202e\u{e0041}\ud800`
        const bytes = bytesOf(message(text(given)))
        const line = bytes.toString()
        assert.strictEqual(line.indexOf("\n"), line.length - 1)
        assert.notMatch(line.slice(0, -1), /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028]/u)
        const read = Either.getOrThrow(Transcript.decode(bytes.subarray(0, -1)))
        assert.deepStrictEqual(read, message(text(given)))
      })
    )
  })

  it("is refused where it is too large to be read back", () => {
    const reason = `a message is larger than ${Transcript.longest} bytes`
    assert.deepStrictEqual(Transcript.encode(message(text("x".repeat(Transcript.longest)))), Either.left(reason))
  })
})
