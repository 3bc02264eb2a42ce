/** The part that all providers' protocols share: a request as data, and the reader of an answer. */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Attempt from "../../../domain/Attempt.js"
import type { Endpoint } from "./Endpoint.js"

/** Returns what lies at a path in JSON of any form, or undefined. */
export const at = (json: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (value, key) => (Predicate.isReadonlyRecord(value) ? (value as Record<string, unknown>)[key] : undefined),
    json
  )

/** Returns the text at a path, or an empty one. */
export const textAt = (json: unknown, ...path: ReadonlyArray<string>): string => {
  const value = at(json, ...path)
  return typeof value === "string" ? value : ""
}

/** Counts above this are not believed, so that sums stay exact. */
const largestCount = 1e12

/** Returns the count at a path, or undefined. */
export const countAt = (json: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const value = at(json, ...path)
  return typeof value === "number" && value >= 0 && value <= largestCount ? Math.floor(value) : undefined
}

/** Returns the list at a path, or an empty one. */
export const listAt = (json: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const value = at(json, ...path)
  return Array.isArray(value) ? value : []
}

/** A request to a model, before it is written in a protocol. */
export type Ask = Pick<LanguageModel.ProviderOptions, "prompt" | "tools">

/** Fields that a provider must get back with a part of its answer, under the name of its protocol. */
export type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A part of an answer. An `error` part fails the request. */
export type Part = Response.StreamPartEncoded
export type Parts = ReadonlyArray<Part>

/** Reads one answer. The given JSON may have any form. */
interface Reader {
  readonly event: (event: unknown) => Parts
  /** Reads the end of the stream. `isMarked` is true after `[DONE]`. */
  readonly end: (isMarked: boolean) => Parts
}

/** The protocol of a provider. */
export interface Wire {
  readonly path: string
  readonly headers: (key: Redacted.Redacted | undefined) => Readonly<Record<string, string>>
  readonly body: (ask: Ask, endpoint: Endpoint) => object
  readonly reader: (calls: Calls, endpoint: Endpoint) => Reader
}

/** The longest id that every provider accepts. */
const longestId = 64

/** Returns an id for a call that no other has, and adds it to those that are taken. */
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
 * The tool calls of one answer. Each gets a unique id. A call becomes a `tool-call` part only if its tool is known and its arguments are JSON, because `@effect/ai` fails the whole answer
 * otherwise. Its text is in the `tool-params` parts in any case.
 */
export class Calls {
  private readonly calls = new Map<string | number, Call>()
  private readonly ids = new Set<string>()

  constructor(private readonly tools: ReadonlySet<string>) {}

  /** Tests whether a tool is known. */
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

  /** Adds to a call; `key` identifies it in the protocol. It begins when its name has come. */
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

  /** Ends a call; `whole` are its arguments if none have come yet, `metadata` what goes back with it. */
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

/** Returns a part of what the model says or thinks, unless it is empty. */
export const said = (type: "text" | "reasoning", id: string | number, text: string): Parts =>
  text === "" ? [] : [{ type: `${type}-delta`, id: String(id), delta: text }]

/** Makes the last part of an answer. */
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

/** Returns the definitions of the tools that may be called, in the form that `toForm` gives each. */
export const toolsOf = <A>(
  { tools }: Ask,
  toForm: (name: string, description: string | undefined, schema: object) => A
): ReadonlyArray<A> =>
  tools
    .filter(AiTool.isUserDefined)
    .map((tool) => toForm(tool.name, AiTool.getDescription(tool as never), AiTool.getJsonSchema(tool as never)))

/** Returns the text of a tool's result: JSON, unless it is text. */
export const resultOf = ({ result }: Prompt.ToolResultPart): string =>
  typeof result === "string" ? result : (JSON.stringify(result) ?? "null")

/** Returns a name that every provider accepts; a model may have made up any. */
export const nameOf = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 64) || "_"

/** Returns the text of a text part, or what stands in place of a file. */
export const wordsOf = (part: Prompt.TextPart | Prompt.FilePart): string =>
  part.type === "text" ? part.text : `[a file of type ${part.mediaType}, which can't be shown]`
