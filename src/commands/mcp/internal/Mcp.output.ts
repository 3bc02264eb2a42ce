/** Reads the result of a tool's call: which of its parts are text, which are JSON, and which are files. */
import { isDeepStrictEqual } from "node:util"
import * as Data from "effect/Data"
import * as ForeignText from "../../../domain/ForeignText.js"
import type { McpOutput } from "../../../extension/mcp/McpClient.js"
import type { Attachment } from "./Mcp.saved.js"
import { isRecord } from "./Mcp.schema.js"

/** A part of a result. */
export type Part = Data.TaggedEnum<{
  /** Text as it is put out. */
  Text: { readonly text: string }
  /** What is saved to a file. */
  File: { readonly attachment: Attachment }
}>

/** Makes parts, and takes one apart with `$match`. */
export const Part = Data.taggedEnum<Part>()

type Block = McpOutput["content"][number]

/**
 * Reads the parts of a result, in their order: text as it is, and all else as JSON; what it says twice, once.
 *
 * @param tool the name of the tool, for files that have none
 */
export const partsOf = ({ content, structuredContent }: McpOutput, tool: string): ReadonlyArray<Part> => {
  const parts = content.map((block) => partOf(block, tool))
  if (structuredContent === undefined || structuredContent === null) return parts
  const texts = content.flatMap(({ text, type }) => (type === "text" && typeof text === "string" ? [text] : []))
  return isSaid(texts, structuredContent) ? parts : [...parts, json(structuredContent)]
}

const partOf = (block: Block, tool: string): Part => {
  const { data, mimeType, resource, text, type } = block
  const mediaType = typeof mimeType === "string" ? mimeType : undefined
  if (type === "text" && typeof text === "string") return Part.Text({ text: ended(text) })
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return Part.File({ attachment: { what: type, base64: data, mediaType, name: tool } })
  }
  if (type !== "resource" || !isRecord(resource)) return json(block)
  if (typeof resource["text"] === "string") return Part.Text({ text: ended(resource["text"]) })
  if (typeof resource["blob"] !== "string") return json(block)
  const uri = typeof resource["uri"] === "string" ? resource["uri"] : ""
  return Part.File({
    attachment: {
      what: uri === "" ? "resource" : `resource ${ForeignText.word(uri, 200)}`,
      base64: resource["blob"],
      mediaType: typeof resource["mimeType"] === "string" ? resource["mimeType"] : undefined,
      name: uri.split(/[?#]/)[0]?.split("/").at(-1) || tool
    }
  })
}

const ended = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)

const json = (value: unknown): Part => Part.Text({ text: `${JSON.stringify(value)}\n` })

/**
 * Tests whether texts already say a value: one is its JSON; or, for a result that servers wrap in an object of one
 * property (`{"result": …}`, `{"content": …}`), they are it, or its items.
 */
const isSaid = (texts: ReadonlyArray<string>, value: unknown): boolean => {
  // A result of several texts says it in one of the first, or in all of them together.
  const some = texts.slice(0, 4)
  if (some.some((text) => isSame(text, value))) return true
  if (!isRecord(value)) return false
  const [result, ...others] = Object.values(value)
  if (result === undefined || others.length > 0) return false
  if (some.some((text) => isSame(text, result))) return true
  return (
    Array.isArray(result) && result.length === texts.length && texts.every((text, index) => isSame(text, result[index]))
  )
}

/** Tests whether a text says a value: it is it, but for white space at its end, or its JSON. */
const isSame = (text: string, value: unknown): boolean => {
  if (typeof value === "string" && text.trimEnd() === value.trimEnd()) return true
  const json = JSON.stringify(value)
  // Most texts are no JSON, and need not be parsed to tell.
  if (text.trimStart()[0] !== json[0] || text.length * 2 < json.length) return false
  try {
    return isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false
  }
}
