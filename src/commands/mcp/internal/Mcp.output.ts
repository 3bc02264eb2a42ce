/** Reads the result of a tool's call: which of its parts are text, which are JSON, and which are files. */

import * as Crypto from "node:crypto"
import * as Os from "node:os"
import * as Path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { CommandCall } from "../../../command/CommandHandler.js"
import * as Attempt from "../../../domain/Attempt.js"
import type { Image } from "../../../domain/CommandResult.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import type { McpOutput } from "../../../extension/mcp/McpClient.js"
import * as FileFailure from "../../../files/FileFailure.js"
import type { FileError } from "../../../files/Files.js"
import * as FileType from "../../../files/FileType.js"
import { isRecord } from "./Mcp.schema.js"

/** The bytes of something that a server has sent, in base64. */
export interface Attachment {
  /** What it is, as the message about it begins: `image`. */
  readonly what: string
  readonly base64: string
  readonly mediaType: string | undefined
  /** The name that its file is called after. */
  readonly name: string
}

/** The text about an attachment, and the image where a model can be shown it. */
export interface Saved {
  readonly text: string
  readonly image?: Image
}

/** The ends of files' names, where they are not the second part of their types. */
const extensions: Readonly<Record<string, string>> = { gzip: "gz", jpeg: "jpg", mpeg: "mp3", plain: "txt" }

/**
 * Saves attachments among the session's files of output. Where it has none, for it ends at once, they stay in a directory
 * for temporary files, written with the rights of whoever calls.
 */
export class Attachments {
  private readonly directory = Path.join(Os.tmpdir(), `synapse-mcp-${Crypto.randomBytes(6).toString("hex")}`)
  private count = 0

  /** Saves an attachment. Where that is not possible, the text says why. */
  readonly save = (
    call: Pick<CommandCall, "files" | "keep" | "room">,
    attachment: Attachment
  ): Effect.Effect<Saved> => {
    const { base64, mediaType = "unknown type", what } = attachment
    const bytes = Buffer.from(base64, "base64")
    const facts = `(${UntrustedText.word(mediaType, 60)}, ${bytes.length.toLocaleString("en")} bytes)`
    if (bytes.length === 0) {
      return Effect.succeed({
        text: `[${what} not saved: ${base64 === "" ? "it is empty" : "its data is no base64"} ${facts}]`
      })
    }
    return Effect.match(this.write(call, attachment, bytes), {
      onFailure: ({ path, reason }): Saved => ({ text: `[${what} not saved: ${path}: ${reason} ${facts}]` }),
      onSuccess: (path) => {
        const text = `[${what} saved: ${FileFailure.printable(path)} ${facts}]`
        const shown = call.room === undefined ? undefined : shownType(bytes)
        return shown === undefined
          ? { text }
          : { text, image: { path, mediaType: shown, base64: bytes.toString("base64") } }
      }
    })
  }

  /** Writes the file; returns its path. */
  private write(
    { files, keep }: Pick<CommandCall, "files" | "keep">,
    attachment: Attachment,
    bytes: Uint8Array
  ): Effect.Effect<string, FileError> {
    const [prefix, ending] = nameOf(attachment)
    if (keep !== undefined) return keep(prefix, ending, bytes)
    const path = Path.join(this.directory, `${prefix}${++this.count}.${ending}`)
    return Effect.as(files.write<never>(path, bytes, { mode: "600" }), path)
  }
}

/** Returns what the name of an attachment's file begins and ends with. */
const nameOf = ({ mediaType = "", name }: Attachment): readonly [prefix: string, ending: string] => {
  const [, base = "", given] = /^(.*?)(?:\.([A-Za-z0-9]{1,8}))?$/s.exec(name) ?? []
  const plain = base
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60)
  const [, type = ""] = /^\w+\/(?!octet-stream)([a-z\d]{1,8})(?![\w.-])/i.exec(mediaType) ?? []
  const subtype = type.toLowerCase()
  return [`${plain === "" ? "file" : plain}-`, extensions[subtype] ?? (subtype || given || "bin")]
}

/** Returns the type of an image that models take, by its bytes. */
const shownType = (bytes: Buffer): string | undefined => {
  if (bytes.length > FileType.largestImage * 1024 ** 2) return undefined
  const mediaType = FileType.of(bytes)?.mediaType
  const size = mediaType === undefined ? undefined : FileType.imageSizeOf(mediaType, bytes)
  return size !== undefined && Math.max(size.width, size.height) <= FileType.largestSide ? mediaType : undefined
}

export type Part = Data.TaggedEnum<{
  /** Text as it is put out. */
  Text: { readonly text: string }
  /** What is saved to a file. */
  File: { readonly attachment: Attachment }
}>

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
      what: uri === "" ? "resource" : `resource ${UntrustedText.word(uri, 200)}`,
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
  return Attempt.orElse(() => isDeepStrictEqual(JSON.parse(text), value), false)
}
