/** Splits the result of a tool into text, JSON and files. */

import * as Crypto from "node:crypto"
import * as Os from "node:os"
import * as Path from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { CommandCall } from "../../../command/CommandHandler.js"
import * as Attempt from "../../../domain/Attempt.js"
import type { Image } from "../../../domain/CommandResult.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import type { McpOutput } from "../../../extension/mcp/McpClient.js"
import * as FileFailure from "../../../files/FileFailure.js"
import type { FileError } from "../../../files/Files.js"
import * as FileType from "../../../files/FileType.js"

/** Data that a server sent, in base64. */
export interface Attachment {
  /** The noun that begins the message about it: `image`. */
  readonly what: string
  readonly base64: string
  readonly mediaType: string | undefined
  /** The base of its file's name. */
  readonly name: string
}

/** The text about an attachment, and the image if a model can be shown it. */
export interface Saved {
  readonly text: string
  readonly image?: Image
}

/** File extensions that differ from the subtype of the media type. */
const extensions: Readonly<Record<string, string>> = { gzip: "gz", jpeg: "jpg", mpeg: "mp3", plain: "txt" }

/**
 * Saves attachments among the session's output files. Without those, saves them in a temporary directory with the
 * caller's rights.
 */
export class Attachments {
  private readonly directory = Path.join(Os.tmpdir(), `synapse-mcp-${Crypto.randomBytes(6).toString("hex")}`)
  private count = 0

  /** Saves an attachment, or says in the text why it can't be saved. */
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

/** Returns the prefix and the extension of an attachment's file name. */
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

/** Returns the image type by its bytes, if models take the image. */
const shownType = (bytes: Buffer): string | undefined => {
  if (bytes.length > FileType.largestImage * 1024 ** 2) return undefined
  const mediaType = FileType.of(bytes)?.mediaType
  const size = mediaType === undefined ? undefined : FileType.imageSizeOf(mediaType, bytes)
  return size !== undefined && Math.max(size.width, size.height) <= FileType.largestSide ? mediaType : undefined
}

export type Part = Data.TaggedEnum<{
  Text: { readonly text: string }
  File: { readonly attachment: Attachment }
}>

export const Part = Data.taggedEnum<Part>()

type Block = McpOutput["content"][number]

/**
 * Splits a result into parts, in order: text unchanged, and everything else as JSON. Structured content that the texts
 * repeat is left out.
 *
 * @param tool the name for files without one
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
  if (type !== "resource" || !Predicate.isReadonlyRecord(resource)) return json(block)
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
 * Tests whether the texts repeat a value, as its JSON. Servers often wrap a result in an object of one property
 * (`{"result": …}`), so the texts may also be that property or its items.
 */
const isSaid = (texts: ReadonlyArray<string>, value: unknown): boolean => {
  // The first few texts are compared with the value, and all together with its items.
  const some = texts.slice(0, 4)
  if (some.some((text) => isSame(text, value))) return true
  if (!Predicate.isReadonlyRecord(value)) return false
  const [result, ...others] = Object.values(value)
  if (result === undefined || others.length > 0) return false
  if (some.some((text) => isSame(text, result))) return true
  return (
    Array.isArray(result) && result.length === texts.length && texts.every((text, index) => isSame(text, result[index]))
  )
}

/** Tests whether a text is a value, except for white space at its end, or its JSON. */
const isSame = (text: string, value: unknown): boolean => {
  if (typeof value === "string" && text.trimEnd() === value.trimEnd()) return true
  const json = JSON.stringify(value)
  // Most texts are not JSON, which can be told without parsing them.
  if (text.trimStart()[0] !== json[0] || text.length * 2 < json.length) return false
  return Attempt.orElse(() => isDeepStrictEqual(JSON.parse(text), value), false)
}
