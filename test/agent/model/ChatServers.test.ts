/** What servers of chat completions do that the protocol does not say: the rows of docs/models.md. */
import * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Endpoint } from "../../../src/agent/model/internal/Endpoint.js"
import * as OpenAiWire from "../../../src/agent/model/internal/OpenAiWire.js"
import * as Wire from "../../../src/agent/model/internal/Wire.js"
import * as Turn from "../../../src/agent/model/Turn.js"

const endpoint: Endpoint = {
  provider: "compatible",
  kind: "compatible",
  baseUrl: "http://one.example/v1",
  model: "m",
  key: undefined,
  keySetting: "",
  urlSetting: "",
  headers: {},
  maxOutput: undefined,
  timeout: 1000,
  retry: { most: 0 } as never
}

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] })
const call = (fields: object) => delta({ tool_calls: [fields] })
const bash = (id: string, command: string, index = 0) =>
  call({ index, id, type: "function", function: { name: "Bash", arguments: JSON.stringify({ command }) } })

/** Reads events: the text, the thoughts, and the calls. */
const read = (...events: ReadonlyArray<object>) => {
  const reader = OpenAiWire.chat.reader(new Wire.Calls(new Set(["Bash"])), endpoint)
  const parts = [...events.flatMap((event) => reader.event(event)), ...reader.end(true)]
  const textOf = (type: "text-delta" | "reasoning-delta") =>
    parts.map((part) => (part.type === type ? part.delta : "")).join("")
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
  return {
    text: textOf("text-delta"),
    thoughts: textOf("reasoning-delta"),
    calls: calls.map(({ params }) => (params as { command: string }).command)
  }
}

describe("a server of chat completions", () => {
  it("may give several calls one index, in parts, and one call its id twice", () => {
    const part = (text: string, fields: object = {}) => call({ index: 0, ...fields, function: { arguments: text } })
    assert.deepStrictEqual(read(bash("a", "one"), bash("b", "two"), bash("c", "three")).calls, ["one", "two", "three"])
    const begin = (id: string) => call({ index: 0, id, type: "function", function: { name: "Bash", arguments: "" } })
    assert.deepStrictEqual(
      read(begin("a"), part('{"command":"one"}'), begin("b"), part('{"command":'), part('"two"}')).calls,
      ["one", "two"]
    )
    assert.deepStrictEqual(read(begin("a"), part('{"command":', { id: "a" }), part('"one"}', { id: "a" })).calls, [
      "one"
    ])
  })

  it("may name a channel with a tool", () => {
    const name = "Bash<|channel|>commentary"
    assert.deepStrictEqual(read(call({ index: 0, id: "a", function: { name, arguments: '{"command":"ls"}' } })).calls, [
      "ls"
    ])
  })

  it("may write its content as a list of parts", () => {
    const thinking = [{ type: "text", text: "hm" }]
    const { text, thoughts } = read(
      delta({ content: [{ type: "thinking", thinking }] }),
      delta({ content: [{ type: "text", text: "final " }] }),
      delta({ content: "text" })
    )
    assert.deepStrictEqual([text, thoughts], ["final text", "hm"])
  })

  it("may think within its text: that is no part of the answer, however it comes", () => {
    const whole = "<think>\nlet me <b>see</b></think>\n\nDone."
    for (const size of [1, 3, 8, 100]) {
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        delta({ content: whole.slice(at * size, (at + 1) * size) })
      )
      const { text, thoughts } = read(...pieces)
      assert.deepStrictEqual([text, thoughts], ["Done.", "\nlet me <b>see</b>"])
    }
    assert.strictEqual(read(delta({ content: "a <think>b</think>" })).text, "a <think>b</think>")
  })

  it("may end thoughts that its template began", () => {
    const turn = (...pieces: ReadonlyArray<string>) => {
      const reader = OpenAiWire.chat.reader(new Wire.Calls(new Set(["Bash"])), endpoint)
      const recorder = new Turn.TurnRecorder(Prompt.empty)
      const parts = [...pieces.flatMap((content) => reader.event(delta({ content }))), ...reader.end(true)]
      const told = parts.flatMap((part) => Effect.runSync(recorder.accept({ metadata: {}, ...part } as never)))
      const { message, text } = told.flatMap((part) => (part._tag === "Finished" ? [part] : []))[0] as Turn.Finished
      return [text, message?.content.map(({ type }) => type)]
    }
    assert.deepStrictEqual(turn("let me see.\n</thi", "nk>\n\nDone."), ["Done.", ["reasoning", "text"]])
    assert.deepStrictEqual(turn("hm</think>\n\n"), ["", ["reasoning"]])
    for (const text of ["End it with `</think>`, then\nanswer.", "```\n</think>\n```\n", "<a>\n<think>\n</think>\nb"])
      assert.deepStrictEqual(turn(text), [text, ["text"]])
    assert.strictEqual(turn("<think>a</think>b </think>\nc")[0], "b </think>\nc")
    assert.strictEqual(read(delta({ content: "<thin" })).text, "<thin")
  })

  it("may write a call as text: it runs where it is the whole answer, of a tool that there is", () => {
    const json = '{"name": "Bash", "arguments": {"command": "ls"}}'
    for (const text of [
      json,
      `\n${json}\n`,
      '{"name":"Bash","parameters":{"command":"ls"}}',
      `<tool_call>\n${json}\n</tool_call>`,
      "<tool_call>\n<function=Bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
      "<function=Bash><parameter=command>ls</parameter></function>",
      '<function=Bash>{"command": "ls"}</function>',
      `<tool_call>\n${json}`
    ]) {
      const pieces = [...text].map((content) => delta({ content }))
      assert.deepInclude(read(...pieces), { text: "(The call was written as text.)", calls: ["ls"] }, text)
    }
    const written = "<function=Bash>\n<parameter=command>\nls\n</parameter>\n</function>"
    for (const two of [
      `<tool_call>${json}</tool_call>\n<tool_call>${json}</tool_call>`,
      `${written}\n${written}`,
      `[\n  ${json},\n  ${json}\n]`
    ])
      assert.deepStrictEqual(read(delta({ content: two })).calls, ["ls", "ls"], two)
    // The tags may be a part of the command.
    assert.deepStrictEqual(read(delta({ content: written.replace("ls", "cat <<E\n</parameter>\nE") })).calls, [
      "cat <<E\n</parameter>\nE"
    ])
    for (const text of [
      `Like this: ${json}`,
      `${json} is a call.`,
      `<tool_call>${json}</tool_call> is a call.`,
      `Use <tool_call>${json}</tool_call>.`,
      `\`\`\`json\n${json}\n\`\`\``,
      '<function=Bash>{"command": "ls"}</function> is a call.',
      "<function=Bash><parameter=command>ls</parameter></function> is a call.",
      `[${json}, 1]`,
      '{"name": "Other", "arguments": {}}',
      '{"name": "Bash"}',
      '{"name": "Bash", "arguments": {"command": "ls"}, "version": "1.0"}',
      "<tool_call>no</tool_call>",
      '{"name": "x'
    ])
      assert.deepInclude(read(delta({ content: text })), { text, calls: [] }, text)
  })
})
