/** OpenAI's Responses API, and the Chat Completions API that many servers support. */
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Attempt from "../../../domain/Attempt.js"
import * as JsonValue from "../../../domain/JsonValue.js"
import * as ResultImage from "../ResultImage.js"
import type { Endpoint } from "./Endpoint.js"
import * as Wire from "./Wire.js"

const headers: Wire.Wire["headers"] = (key) =>
  key === undefined ? {} : { authorization: `Bearer ${Redacted.value(key)}` }

/** Returns the fields of a body for its tools. `nested` places a function's fields as the protocol requires. */
const toolFields = (ask: Wire.Ask, nested: (fields: object) => object): object => {
  const tools = Wire.toolsOf(ask, (name, description, parameters) => ({
    type: "function",
    ...nested({ name, description, parameters })
  }))
  return tools.length === 0 ? {} : { tools, tool_choice: "auto" }
}

const argumentsOf = ({ params }: Prompt.ToolCallPart): string => JSON.stringify(params ?? {})

/** Reasoning models. They accept earlier thoughts only in encrypted form, which a request must ask for. */
const thinks = /^(?:o\d|gpt-[5-9](?!.*chat)|codex)/

const inputText = (text: string): object => ({ type: "input_text", text })

const outputOf = (part: Prompt.ToolResultPart): unknown => {
  const images = ResultImage.of(part).map((image) => ({ type: "input_image", image_url: ResultImage.urlOf(image) }))
  const text = Wire.resultOf(part)
  if (images.length === 0) return text
  return text === "" ? images : [inputText(text), ...images]
}

const assistantItems = (part: Prompt.AssistantMessagePart): ReadonlyArray<object> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ role: "assistant", content: [{ type: "output_text", text: part.text }] }]
    case "reasoning": {
      const encrypted = Wire.textAt(part.options, "openai", "encryptedContent")
      const id = Wire.textAt(part.options, "openai", "itemId")
      if (encrypted === "" || id === "") return []
      const summary = part.text === "" ? [] : [{ type: "summary_text", text: part.text }]
      return [{ type: "reasoning", id, summary, encrypted_content: encrypted }]
    }
    case "tool-call":
      return [{ type: "function_call", call_id: part.id, name: Wire.nameOf(part.name), arguments: argumentsOf(part) }]
    default:
      return []
  }
}

const inputOf = (message: Prompt.Message): ReadonlyArray<object> => {
  switch (message.role) {
    case "system":
      return []
    case "user":
      return [{ role: "user", content: message.content.map((part) => inputText(Wire.wordsOf(part))) }]
    case "tool":
      return message.content.map((part) => ({
        type: "function_call_output",
        call_id: part.id,
        output: outputOf(part)
      }))
    case "assistant":
      return message.content.flatMap(assistantItems)
  }
}

const responsesReader: Wire.Wire["reader"] = (calls) => {
  /** Items whose text came in parts. Their complete form repeats the text. */
  const told = new Set<string>()
  const done = new Set<number>()

  const said = (index: number, type: "text" | "reasoning", text: string): Wire.Parts => {
    told.add(`${type}/${index}`)
    return Wire.said(type, index, text)
  }
  const begun = (index: number, item: unknown): Wire.Parts =>
    Wire.textAt(item, "type") === "function_call"
      ? calls.add(index, { id: Wire.textAt(item, "call_id"), name: Wire.textAt(item, "name") })
      : []
  const wholeOf = (index: number, type: "text" | "reasoning", parts: ReadonlyArray<unknown>): Wire.Parts =>
    told.has(`${type}/${index}`)
      ? []
      : parts.flatMap((part) => said(index, type, Wire.textAt(part, "text") || Wire.textAt(part, "refusal")))
  const ended = (index: number, item: unknown): Wire.Parts => {
    if (done.has(index)) return []
    done.add(index)
    switch (Wire.textAt(item, "type")) {
      case "function_call":
        return [...begun(index, item), ...calls.end(index, Wire.textAt(item, "arguments"))]
      case "message":
        return wholeOf(index, "text", Wire.listAt(item, "content"))
      case "reasoning": {
        const summary = wholeOf(index, "reasoning", Wire.listAt(item, "summary"))
        const encryptedContent = Wire.textAt(item, "encrypted_content")
        const metadata = { openai: { itemId: Wire.textAt(item, "id"), encryptedContent } }
        return encryptedContent === "" ? summary : [...summary, { type: "reasoning-end", id: String(index), metadata }]
      }
      default:
        return []
    }
  }
  const reasonOf = (response: unknown): Response.FinishReason => {
    const cut = Wire.textAt(response, "incomplete_details", "reason")
    if (cut === "max_output_tokens") return "length"
    if (cut === "content_filter") return "content-filter"
    return calls.count > 0 ? "tool-calls" : "stop"
  }
  const finished = (response: unknown): Wire.Parts => [
    ...Wire.listAt(response, "output").flatMap((item, index) => ended(index, item)),
    ...calls.endAll(),
    Wire.finish(reasonOf(response), {
      input: Wire.countAt(response, "usage", "input_tokens"),
      cached: Wire.countAt(response, "usage", "input_tokens_details", "cached_tokens"),
      output: Wire.countAt(response, "usage", "output_tokens")
    })
  ]

  return {
    event: (event) => {
      const index = Wire.countAt(event, "output_index") ?? 0
      const delta = Wire.textAt(event, "delta")
      switch (Wire.textAt(event, "type")) {
        case "response.output_item.added":
          return begun(index, Wire.at(event, "item"))
        case "response.function_call_arguments.delta":
          return calls.add(index, { text: delta })
        case "response.output_text.delta":
        case "response.refusal.delta":
          return said(index, "text", delta)
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          return said(index, "reasoning", delta)
        case "response.output_item.done":
          return ended(index, Wire.at(event, "item"))
        case "response.completed":
        case "response.incomplete":
          return finished(Wire.at(event, "response"))
        case "response.failed":
          return [{ type: "error", error: Wire.at(event, "response", "error") }]
        case "error":
          return [{ type: "error", error: Wire.at(event, "error") ?? event }]
        default:
          return []
      }
    },
    end: () => []
  }
}

export const responses: Wire.Wire = {
  path: "/responses",
  headers,
  body: (ask, endpoint) => {
    const instructions = Wire.systemOf(ask).join("\n\n")
    return {
      model: endpoint.model,
      ...(instructions === "" ? {} : { instructions }),
      input: ask.prompt.content.flatMap(inputOf),
      ...toolFields(ask, (fields) => ({ ...fields, strict: false })),
      ...(endpoint.maxOutput === undefined ? {} : { max_output_tokens: endpoint.maxOutput }),
      ...(thinks.test(endpoint.model) ? { include: ["reasoning.encrypted_content"] } : {}),
      // Each request contains the whole conversation, so the provider need not store it.
      store: false,
      stream: true
    }
  },
  reader: responsesReader
}

/** Moves images into a message after the results, since a result may only contain text. */
const imagesOf = ({ content }: Prompt.ToolMessage): ReadonlyArray<object> => {
  const parts = content.flatMap((result) => {
    const images = ResultImage.of(result).map((image) => ({
      type: "image_url",
      image_url: { url: ResultImage.urlOf(image) }
    }))
    const said = `${images.length === 1 ? "The image" : "The images"} of the result of the call ${result.id}:`
    return images.length === 0 ? [] : [{ type: "text", text: said }, ...images]
  })
  return parts.length === 0 ? [] : [{ role: "user", content: parts }]
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => Predicate.isReadonlyRecord(value) && !Array.isArray(value)

/** The deepest nesting of a field that is sent back. A transcript's reader allows 200 levels in a whole line. */
const deepest = 50

/** Fields that each delta repeats whole; other texts come in parts. */
const whole = /^(?:type|id|format|name|role|index)$/

/** Joins a further part of a field to the earlier parts. */
const join = (key: string, old: unknown, more: unknown): unknown => {
  if (typeof old === "string" && typeof more === "string") return whole.test(key) ? more : old + more
  if (Array.isArray(old) && Array.isArray(more)) return more.reduce<ReadonlyArray<unknown>>(joinItem, old)
  return isFields(old) && isFields(more) ? joinFields(old, more) : more
}

/** Joins a delta's unknown fields, so that they can be sent back. */
const joinFields = (old: Fields, more: unknown, ...known: ReadonlyArray<string>): Fields => {
  if (!isFields(more)) return old
  const added = Object.entries(more).filter(
    ([key, value]) => !known.includes(key) && value !== null && !JsonValue.isDeeperThan(value, deepest)
  )
  return added.length === 0
    ? old
    : { ...old, ...Object.fromEntries(added.map(([key, value]) => [key, join(key, fieldOf(old, key), value)])) }
}

const fieldOf = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)

/** Joins an item to the one that it continues, by its index, or appends it. */
const joinItem = (items: ReadonlyArray<unknown>, item: unknown): ReadonlyArray<unknown> => {
  const last = items.at(-1)
  const continues =
    typeof Wire.at(item, "index") === "number" &&
    ["index", "type", "id"].every(
      (key) => Wire.at(item, key) === undefined || Wire.at(item, key) === Wire.at(last, key)
    )
  return continues && isFields(last) ? [...items.slice(0, -1), joinFields(last, item)] : [...items, item]
}

/** Labels fields with the server's address, since no other server may get them back. */
const backTo = (endpoint: Endpoint, fields: Fields): Wire.Metadata => ({
  compatible: { ...fields, from: endpoint.baseUrl }
})

/** Returns the fields that go back to this server with a part of its answer. */
const backOf = (part: Prompt.AssistantMessagePart, endpoint: Endpoint): unknown => {
  const kept = Wire.at(part.options, "compatible")
  return Wire.textAt(kept, "from") === endpoint.baseUrl ? kept : undefined
}

const fieldsAt = (json: unknown, key: string): Fields => joinFields({}, Wire.at(json, key))

/** Returns the fields that a server added to its message. Its reasoning goes back in the field that it came in. */
const addedFields = (part: Prompt.AssistantMessagePart, endpoint: Endpoint): ReadonlyArray<Fields> => {
  if (part.type !== "reasoning") return []
  const back = backOf(part, endpoint)
  const field = Wire.textAt(back, "reasoning")
  return [fieldsAt(back, "message"), field === "" ? {} : { [field]: part.text }]
}

const chatCall = (part: Prompt.ToolCallPart, endpoint: Endpoint): object => {
  const back = backOf(part, endpoint)
  return {
    ...fieldsAt(back, "call"),
    id: part.id,
    type: "function",
    function: { ...fieldsAt(back, "function"), name: Wire.nameOf(part.name), arguments: argumentsOf(part) }
  }
}

const chatMessages = (message: Prompt.Message, endpoint: Endpoint): ReadonlyArray<object> => {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }]
    case "user":
      // Many servers only accept text.
      return [{ role: "user", content: message.content.map(Wire.wordsOf).join("\n") }]
    case "tool": {
      const results = message.content.map((part) => ({
        role: "tool",
        tool_call_id: part.id,
        content: Wire.resultOf(part)
      }))
      return [...results, ...imagesOf(message)]
    }
    case "assistant": {
      const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
      const calls = message.content.filter((part) => part.type === "tool-call").map((part) => chatCall(part, endpoint))
      if (text === "" && calls.length === 0) return []
      const content = text === "" ? null : text
      const added = Object.assign({}, ...message.content.flatMap((part) => addedFields(part, endpoint))) as object
      return [{ ...added, role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }]
    }
  }
}

const reasons: Readonly<Record<string, Response.FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter"
}

/** The fields of a delta that hold the message itself; all others are sent back unchanged. */
const spoken = ["role", "content", "refusal", "tool_calls", "function_call", "audio"]

/** Returns the text of a content, which may be a list of parts. */
const contentOf = (content: unknown, type: "text" | "thinking"): string => {
  if (typeof content === "string") return type === "text" ? content : ""
  return Array.isArray(content)
    ? content.map((part) => (Wire.textAt(part, "type") === type ? contentOf(Wire.at(part, type), "text") : "")).join("")
    : Wire.textAt(content, "text")
}

/** How an answer begins that may be thoughts, or a call written as text. */
const begun = ["<think>", "<tool_call>", "<function=", '{"name"', '[{"name"', '{"tool"', '{"function"']
const mayBecome = (text: string): boolean => {
  const start = text.trimStart().replace(/^(\[?)\s*(\{?)\s*/, "$1$2")
  return begun.some((one) => one.startsWith(start) || start.startsWith(one))
}

interface TextCall {
  readonly name: string
  readonly text: string
}

/** The fields of a call that is written as JSON. With other fields, it may not be a call. */
const ofTextCall = new Set(["name", "arguments", "parameters", "function", "type", "id"])

const jsonCall = (call: unknown): TextCall | undefined => {
  const name = Wire.textAt(call, "name") || Wire.textAt(call, "function", "name")
  const given = Wire.at(call, "arguments") ?? Wire.at(call, "parameters") ?? Wire.at(call, "function", "arguments")
  const isCall = Predicate.isReadonlyRecord(call) && Object.keys(call).every((key) => ofTextCall.has(key))
  if (!isCall || name === "" || given === undefined) return undefined
  return { name, text: typeof given === "string" ? given : JSON.stringify(given) }
}

const functionCall = (text: string): TextCall | undefined => {
  const [, name = "", body = ""] = /^<function=([\w.-]+)>([\s\S]*?)(?:<\/function>)?$/.exec(text) ?? []
  if (name === "") return undefined
  if (parse(body) !== undefined) return { name, text: body.trim() }
  // A value may contain the tags itself, so it ends at the last one.
  const parts = body.trim().split(/(?<=<\/parameter>)\s*(?=<parameter=)/)
  const values = parts.map((part) => /^<parameter=([\w-]+)>\n?([\s\S]*?)\n?<\/parameter>$/.exec(part)?.slice(1, 3))
  return values.every((value) => value !== undefined)
    ? { name, text: JSON.stringify(Object.fromEntries(values)) }
    : undefined
}

const parse = (text: string): unknown => Attempt.orUndefined(() => JSON.parse(text))

/** Returns the calls that a text consists of, or an empty list if it contains anything else. */
const callsIn = (text: string): ReadonlyArray<TextCall> => {
  const whole = text.trim()
  const parts = whole.startsWith("<tool_call>")
    ? whole
        .replace(/<\/tool_call>$/, "")
        .split(/(?:<\/tool_call>\s*)?<tool_call>/)
        .slice(1)
    : whole.split(/(?<=<\/function>)\s*(?=<function=)/)
  const calls = parts.flatMap((part): ReadonlyArray<TextCall | undefined> => {
    const json = parse(part)
    return json === undefined ? [functionCall(part.trim())] : [json].flat().map(jsonCall)
  })
  return calls.every((call) => call !== undefined) ? calls : []
}

/**
 * Reads the text of an answer. Separates a leading `<think>…</think>`, and recognizes an answer that is only a call.
 */
class Text {
  /** The beginning of the answer while it may still be thoughts or a call; undefined once it is plain text. */
  private held: string | undefined = ""
  private isThinking = false
  /** True between the thoughts and the answer. */
  private isBlank = false
  private said = ""

  /** The length of thoughts that end in `</think>`, if the server's template began them, and the server did not. */
  get unbegun(): number {
    const [thoughts = ""] = /^(?:(?!<think>|```)[\s\S])*?<\/think>[ \t]*\n\s*/.exec(this.said) ?? []
    return thoughts.length
  }

  push(given: string): Wire.Parts {
    if (this.isThinking) return this.thought(given)
    const text = this.isBlank ? given.trimStart() : given
    if (text === "") return []
    this.isBlank = false
    if (this.held === undefined) return this.plain(text)
    this.held += text
    if (this.held.trimStart().startsWith("<think>")) {
      const rest = this.held.trimStart().slice("<think>".length)
      this.held = ""
      this.said = "<think>"
      this.isThinking = true
      return this.thought(rest)
    }
    if (mayBecome(this.held)) return []
    return this.end()
  }

  /** Ends the text, and returns what was held back. */
  end(): Wire.Parts {
    const { held = "", isThinking } = this
    this.held = undefined
    return isThinking ? Wire.said("reasoning", 0, held) : this.plain(held)
  }

  private plain(text: string): Wire.Parts {
    this.said += text
    return Wire.said("text", 0, text)
  }

  /** Takes the calls that the text consists of, if all their tools are known. */
  takeCalls(tools: (name: string) => boolean): ReadonlyArray<TextCall> {
    const calls = this.isThinking ? [] : callsIn(this.held ?? "")
    if (calls.length === 0 || !calls.every(({ name }) => tools(name))) return []
    this.held = undefined
    return calls
  }

  private thought(text: string): Wire.Parts {
    const all = (this.held ?? "") + text
    const end = all.indexOf("</think>")
    if (end < 0) {
      // The end tag may come in two parts.
      const keep = Math.max(all.length - "</think>".length + 1, 0)
      this.held = all.slice(keep)
      return Wire.said("reasoning", 0, all.slice(0, keep))
    }
    this.isThinking = false
    this.isBlank = true
    this.held = ""
    return [...Wire.said("reasoning", 0, all.slice(0, end)), ...this.push(all.slice(end + "</think>".length))]
  }
}

/** Says to the person that a call was written as text. The model does not get it, since it would imitate it. */
const note: Wire.Parts = [
  ...Wire.said("text", "note", "(The call was written as text.)"),
  { type: "text-end", id: "note", metadata: { compatible: { isNote: true } } }
]

const chatReader: Wire.Wire["reader"] = (calls, endpoint) => {
  /** The keys of calls by index, and by index and id, because some servers give several calls the same index. */
  const placed = new Map<string | number, string | number>()
  const text = new Text()
  let last: string | number = 0
  let reason = ""
  let usage: unknown
  let isBegun = false
  /** The field that the reasoning comes in. */
  let field = ""
  let message: Fields = {}
  const added = new Map<string | number, { readonly call: Fields; readonly function: Fields }>()

  const thought = (delta: unknown): Wire.Parts => {
    field ||= ["reasoning_content", "reasoning"].find((name) => Wire.textAt(delta, name) !== "") ?? ""
    message = joinFields(message, delta, field, ...spoken)
    return field === "" ? [] : Wire.said("reasoning", 0, Wire.textAt(delta, field))
  }
  const called = (call: unknown): Wire.Parts => {
    const id = Wire.textAt(call, "id")
    // Some servers leave out the index. Then a new id begins a new call.
    const index = Wire.countAt(call, "index") ?? (id || last)
    const now = placed.get(index)
    // Removes a channel of the harmony format from the name.
    const name = Wire.textAt(call, "function", "name").replace(/<\|[\s\S]*$/, "")
    const isNext = now !== undefined && name !== "" && (id === "" ? calls.isWhole(now) : !placed.has(`${index}/${id}`))
    const key = isNext ? `${index}/${id || calls.count}` : (placed.get(`${index}/${id}`) ?? now ?? index)
    last = index
    placed.set(index, key)
    if (id !== "") placed.set(`${index}/${id}`, key)
    const { call: ofCall = {}, function: ofFunction = {} } = added.get(key) ?? {}
    added.set(key, {
      call: joinFields(ofCall, call, "index", "id", "type", "function"),
      function: joinFields(ofFunction, Wire.at(call, "function"), "name", "arguments")
    })
    const args = Wire.at(call, "function", "arguments")
    const text = typeof args === "object" && args !== null ? JSON.stringify(args) : Wire.textAt({ args }, "args")
    return calls.add(key, { id, name, text })
  }
  const isEmpty = (fields: Fields) => Object.keys(fields).length === 0
  const callMetadata = (key: string | number): Wire.Metadata => {
    const fields = added.get(key)
    return fields === undefined || (isEmpty(fields.call) && isEmpty(fields.function)) ? {} : backTo(endpoint, fields)
  }
  const kept = (): Wire.Parts =>
    field === "" && isEmpty(message)
      ? []
      : [{ type: "reasoning-end", id: "0", metadata: backTo(endpoint, { reasoning: field, message }) }]
  const finished = (): Wire.Parts => {
    const written = calls.count === 0 ? text.takeCalls((name) => calls.has(name)) : []
    return [
      ...text.end(),
      ...(text.unbegun === 0
        ? []
        : [{ type: "text-end", id: "0", metadata: { compatible: { thoughts: text.unbegun } } } as const]),
      ...(written.length === 0 ? [] : note),
      ...written.flatMap(({ name, text }, at) => calls.add(`text/${at}`, { name, text })),
      ...kept(),
      ...calls.endAll(callMetadata),
      Wire.finish(calls.count > 0 && reason !== "length" ? "tool-calls" : (reasons[reason] ?? "unknown"), {
        input: Wire.countAt(usage, "prompt_tokens"),
        cached: Wire.countAt(usage, "prompt_tokens_details", "cached_tokens"),
        output: Wire.countAt(usage, "completion_tokens")
      })
    ]
  }

  return {
    event: (event) => {
      const error = Wire.at(event, "error") ?? undefined
      if (error !== undefined) return [{ type: "error", error }]
      usage = Wire.at(event, "usage") ?? usage
      const [choice] = Wire.listAt(event, "choices")
      if (choice === undefined) return []
      isBegun = true
      reason = Wire.textAt(choice, "finish_reason") || reason
      const delta = Wire.at(choice, "delta")
      const content = Wire.at(delta, "content")
      const words = contentOf(content, "text") || Wire.textAt(delta, "refusal")
      return [
        ...thought(delta),
        ...Wire.said("reasoning", 0, contentOf(content, "thinking")),
        ...(words === "" ? [] : text.push(words)),
        ...Wire.listAt(delta, "tool_calls").flatMap(called)
      ]
    },
    end: (isMarked) => (reason !== "" || (isMarked && isBegun) ? finished() : [])
  }
}

export const chat: Wire.Wire = {
  path: "/chat/completions",
  headers,
  body: (ask, endpoint) => ({
    model: endpoint.model,
    messages: ask.prompt.content.flatMap((message) => chatMessages(message, endpoint)),
    ...toolFields(ask, (fields) => ({ function: fields })),
    ...(endpoint.maxOutput === undefined ? {} : { max_tokens: endpoint.maxOutput }),
    stream: true,
    stream_options: { include_usage: true }
  }),
  reader: chatReader
}
