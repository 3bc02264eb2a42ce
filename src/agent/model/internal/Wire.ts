/** What all protocols share: the request as data, and the reader of an answer. */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Attempt from "../../../domain/Attempt.js"
import type { Endpoint } from "./Endpoint.js"

/** Returns the value at a path in any JSON, or undefined. */
export const at = (json: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (value, key) => (Predicate.isReadonlyRecord(value) ? (value as Record<string, unknown>)[key] : undefined),
    json
  )

/** Returns the text at a path, or an empty text. */
export const textAt = (json: unknown, ...path: ReadonlyArray<string>): string => {
  const value = at(json, ...path)
  return typeof value === "string" ? value : ""
}

/** Larger counts are ignored, so that sums stay exact. */
const largestCount = 1e12

/** Returns the count at a path, or undefined. */
export const countAt = (json: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const value = at(json, ...path)
  return typeof value === "number" && value >= 0 && value <= largestCount ? Math.floor(value) : undefined
}

/** Returns the list at a path, or an empty list. */
export const listAt = (json: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const value = at(json, ...path)
  return Array.isArray(value) ? value : []
}

/** A request to a model, independent of its protocol. */
export type Ask = Pick<LanguageModel.ProviderOptions, "prompt" | "tools">

/** Fields that a provider must get back with a part of its answer, by the name of its protocol. */
export type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A part of an answer. An `error` part fails the request. */
export type Part = Response.StreamPartEncoded
export type Parts = ReadonlyArray<Part>

/** Reads one answer, whose JSON may have any form. */
interface Reader {
  readonly event: (event: unknown) => Parts
  /** Reads the end of the stream. `isMarked` is true after `[DONE]`. */
  readonly end: (isMarked: boolean) => Parts
}

export interface Wire {
  readonly path: string
  readonly headers: (key: Redacted.Redacted | undefined) => Readonly<Record<string, string>>
  readonly body: (ask: Ask, endpoint: Endpoint) => object
  readonly reader: (calls: Calls, endpoint: Endpoint) => Reader
}

/** The longest id that every provider accepts. */
const longestId = 64

/** Returns a unique id for a call, and adds it to `taken`. */
export const uniqueId = (given: string, taken: Set<string>): string => {
  const base = given === "" || given.length > longestId ? `call_${taken.size + 1}` : given
  let id = base
  for (let count = 2; taken.has(id); count++) id = `${base.slice(0, longestId - 6)}_${count}`
  taken.add(id)
  return id
}

interface Call {
  /** The id that the call got when its name was known. */
  id: string | undefined
  givenId: string
  name: string
  text: string
  isOpen: boolean
}

const parse = (text: string): unknown => Attempt.orUndefined(() => (text.trim() === "" ? {} : JSON.parse(text)))

/**
 * The tool calls of one answer, with unique ids. A call with an unknown tool or invalid JSON gets no `tool-call` part,
 * because `@effect/ai` would fail the whole answer. Its text is always in the `tool-params` parts.
 */
export class Calls {
  private readonly calls = new Map<string | number, Call>()
  private readonly ids = new Set<string>()

  constructor(private readonly tools: ReadonlySet<string>) {}

  has(name: string): boolean {
    return this.tools.has(name)
  }

  get count(): number {
    return this.calls.size
  }

  /** Tests whether the arguments of a call are complete. */
  isWhole(key: string | number): boolean {
    const { text = "" } = this.calls.get(key) ?? {}
    return text !== "" && parse(text) !== undefined
  }

  /** Adds to the call with the protocol's `key`. The call begins once its name is known. */
  add(
    key: string | number,
    { id = "", name = "", text = "" }: { readonly id?: string; readonly name?: string; readonly text?: string }
  ): Parts {
    const call = this.calls.get(key) ?? { id: undefined, givenId: "", name: "", text: "", isOpen: true }
    this.calls.set(key, call)
    if (!call.isOpen) return []
    call.givenId ||= id
    call.name ||= name
    call.text += text
    if (call.id !== undefined) return delta(call.id, text)
    return call.name === "" ? [] : this.begin(call)
  }

  /** Ends a call. `whole` is its arguments if none have come yet, and `metadata` is sent back with it. */
  end(key: string | number, whole = "", metadata: Metadata = {}): Parts {
    const call = this.calls.get(key)
    if (call?.isOpen !== true) return []
    const added = call.text === "" ? this.add(key, { text: whole }) : []
    const begun = call.id === undefined ? this.begin(call) : []
    call.isOpen = false
    const { id = "", name } = call
    const params = parse(call.text)
    const known: Parts = this.tools.has(name) && params !== undefined ? [{ type: "tool-call", id, name, params }] : []
    return [...added, ...begun, { type: "tool-params-end", id, metadata }, ...known]
  }

  endAll(metadataOf: (key: string | number) => Metadata = () => ({})): Parts {
    return [...this.calls.keys()].flatMap((key) => this.end(key, "", metadataOf(key)))
  }

  private begin(call: Call): Parts {
    const { givenId, name, text } = call
    const id = uniqueId(givenId, this.ids)
    call.id = id
    return [{ type: "tool-params-start", id, name }, ...delta(id, text)]
  }
}

const delta = (id: string, text: string): Parts => (text === "" ? [] : [{ type: "tool-params-delta", id, delta: text }])

/** Returns a delta of text or reasoning, unless it is empty. */
export const said = (type: "text" | "reasoning", id: string | number, text: string): Parts =>
  text === "" ? [] : [{ type: `${type}-delta`, id: String(id), delta: text }]

export const finish = (
  reason: Response.FinishReason,
  usage: Readonly<Record<"input" | "cached" | "output", number | undefined>>
): Part => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: usage.input === undefined || usage.output === undefined ? undefined : usage.input + usage.output,
    cachedInputTokens: usage.cached
  }
})

export const systemOf = ({ prompt }: Ask): ReadonlyArray<string> =>
  prompt.content.flatMap((message) => (message.role === "system" && message.content !== "" ? [message.content] : []))

/** Converts the definitions of the callable tools with `toForm`. */
export const toolsOf = <A>(
  { tools }: Ask,
  toForm: (name: string, description: string | undefined, schema: object) => A
): ReadonlyArray<A> =>
  tools
    .filter(AiTool.isUserDefined)
    .map((tool) => toForm(tool.name, AiTool.getDescription(tool as never), AiTool.getJsonSchema(tool as never)))

/** Returns the text of a tool's result, or its JSON. */
export const resultOf = ({ result }: Prompt.ToolResultPart): string =>
  typeof result === "string" ? result : (JSON.stringify(result) ?? "null")

/** Converts a tool name, which a model may have made up, to one that every provider accepts. */
export const nameOf = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 64) || "_"

/** Returns a part's text, or a placeholder for a file. */
export const wordsOf = (part: Prompt.TextPart | Prompt.FilePart): string =>
  part.type === "text" ? part.text : `[a file of type ${part.mediaType}, which can't be shown]`
