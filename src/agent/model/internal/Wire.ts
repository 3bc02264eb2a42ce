/** The protocol of a provider: how a request is written, and how an answer is read. */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import type { Endpoint } from "./Endpoint.js"

/** An object in JSON. */
export type Json = Readonly<Record<string, unknown>>

/** Returns the value where it is an object, else an empty one. */
export const objectOf = (value: unknown): Json => (Predicate.isReadonlyRecord(value) ? (value as Json) : {})

/** Returns the objects of a list; none where the value is no list. */
export const objectsOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.map(objectOf) : [])

/** Returns the value where it is text, else an empty one. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** A larger number of things is none; sums of such numbers stay exact. */
const largest = 1e12

/** Returns the value where it is a number of things, else undefined. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= largest ? Math.floor(value) : undefined

/** Writes the calls of one answer. A call is known to the protocol by a key. */
interface CallWriter {
  /** Begins a call; does nothing for one that has begun. */
  readonly start: (key: string | number, id: string, name: string) => ReadonlyArray<Response.StreamPartEncoded>
  readonly delta: (key: string | number, text: string) => ReadonlyArray<Response.StreamPartEncoded>
  /** Ends a call; `whole` is the text of its arguments, where no delta has come. */
  readonly end: (key: string | number, whole?: string) => ReadonlyArray<Response.StreamPartEncoded>
  /** Ends all calls that are open. */
  readonly endAll: () => ReadonlyArray<Response.StreamPartEncoded>
  /** The number of calls so far. */
  readonly count: () => number
}

/** The longest id that every provider takes back. */
const longestId = 64

/** The object that a text stands for; undefined where it is none. */
const parse = (text: string): unknown => {
  try {
    return text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Makes the writer of one answer. Each call gets an id of its own, for some servers give none, or the same one twice. A
 * call becomes a `tool-call` part only where its tool is one of `tools` and its arguments are JSON, since `@effect/ai`
 * fails the whole answer otherwise; its text is in the `tool-params` parts in any case.
 */
export const make = (tools: ReadonlySet<string>): CallWriter => {
  interface Open {
    readonly id: string
    readonly name: string
    text: string
    isOpen: boolean
  }
  const calls = new Map<string | number, Open>()
  const ids = new Set<string>()

  const idFor = (wanted: string): string => {
    const base = wanted === "" || wanted.length > longestId ? `call_${ids.size + 1}` : wanted
    let id = base
    for (let count = 2; ids.has(id); count++) id = `${base.slice(0, longestId - 6)}_${count}`
    ids.add(id)
    return id
  }
  const end: CallWriter["end"] = (key, whole = "") => {
    const call = calls.get(key)
    if (call?.isOpen !== true) return []
    call.isOpen = false
    const { id, name } = call
    const missing: ReadonlyArray<Response.StreamPartEncoded> =
      call.text === "" && whole !== "" ? [{ type: "tool-params-delta", id, delta: whole }] : []
    const params = parse(call.text === "" ? whole : call.text)
    const known: ReadonlyArray<Response.StreamPartEncoded> =
      tools.has(name) && params !== undefined ? [{ type: "tool-call", id, name, params }] : []
    return [...missing, { type: "tool-params-end", id }, ...known]
  }
  return {
    start: (key, wanted, name) => {
      if (calls.has(key)) return []
      const id = idFor(wanted)
      calls.set(key, { id, name, text: "", isOpen: true })
      return [{ type: "tool-params-start", id, name }]
    },
    delta: (key, text) => {
      const call = calls.get(key)
      if (call?.isOpen !== true || text === "") return []
      call.text += text
      return [{ type: "tool-params-delta", id: call.id, delta: text }]
    },
    end,
    endAll: () => [...calls.keys()].flatMap((key) => end(key)),
    count: () => calls.size
  }
}

/** A request to a model, before it is written in a protocol. */
export type Ask = Pick<LanguageModel.ProviderOptions, "prompt" | "tools" | "toolChoice" | "responseFormat">

/** A part of an answer; an `error` ends it. */
export type Part = Response.StreamPartEncoded

/** Reads one answer. All that it is given is JSON of any form. */
export interface Reader {
  /** Reads an event of a stream. */
  readonly event: (event: unknown) => ReadonlyArray<Part>
  /** Reads an answer that came at once. */
  readonly whole: (answer: unknown) => ReadonlyArray<Part>
  /** Reads the end of the stream; `isMarked` where the protocol's own mark of the end has come. */
  readonly end: (isMarked: boolean) => ReadonlyArray<Part>
}

/** The protocol of a provider. */
export interface Wire {
  readonly path: string
  readonly headers: (key: Redacted.Redacted | undefined) => Readonly<Record<string, string>>
  readonly body: (ask: Ask, endpoint: Endpoint) => object
  readonly reader: (ask: Ask) => Reader
}

/** The definition of a tool in an ask. */
export interface Definition {
  readonly name: string
  readonly description: string | undefined
  readonly schema: object
}

/** Returns the definitions of the tools that may be called. */
export const definitionsOf = ({ toolChoice, tools }: Ask): ReadonlyArray<Definition> =>
  toolChoice === "none"
    ? []
    : tools.filter(AiTool.isUserDefined).map((tool) => ({
        name: tool.name,
        description: AiTool.getDescription(tool as never),
        schema: AiTool.getJsonSchema(tool as never)
      }))

/** Returns the text of a tool's result: what is text stays as it is. */
export const resultOf = ({ result }: Prompt.ToolResultPart): string =>
  typeof result === "string" ? result : (JSON.stringify(result) ?? "null")

/** Returns a name as every provider takes it back: a model may have made up any. */
export const nameOf = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 64) || "_"

/** Returns the content of a file in base64; undefined where it is an address. */
export const base64Of = ({ data }: Prompt.FilePart): string | undefined =>
  data instanceof URL ? undefined : typeof data === "string" ? data : Encoding.encodeBase64(data)

/** Returns an image as an address, which may hold its content. */
export const urlOf = (file: Prompt.FilePart): string =>
  file.data instanceof URL ? file.data.href : `data:${file.mediaType};base64,${base64Of(file)}`

/** Returns what stands in the place of a file that is no image. */
export const placeholderOf = ({ fileName, mediaType }: Prompt.FilePart): string =>
  `[a file of type ${mediaType}${fileName === undefined ? "" : `, ${fileName}`}, which can't be shown]`

/** Makes the last part of an answer. */
export const finish = (
  reason: Response.FinishReason,
  usage: {
    readonly input?: number | undefined
    readonly cached?: number | undefined
    readonly output?: number | undefined
  }
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
