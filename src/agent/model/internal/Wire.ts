/** The protocol of a provider: how a request is written, and how an answer is read. */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as AiTool from "@effect/ai/Tool"
import * as Encoding from "effect/Encoding"
import type * as Redacted from "effect/Redacted"
import type { Endpoint } from "./Endpoint.js"

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
