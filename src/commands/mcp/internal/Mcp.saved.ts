/** Saves what a server sends that is no text: images, sounds, other files. */
import * as Crypto from "node:crypto"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type { CommandCall } from "../../../command/CommandHandler.js"
import type { Image } from "../../../domain/CommandResult.js"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as FileFailure from "../../../files/FileFailure.js"
import type { FileError } from "../../../files/Files.js"
import * as FileType from "../../../files/FileType.js"
import * as ImageSize from "../../../files/ImageSize.js"

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

/** The ends of files' names by their types. */
const extensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "application/gzip": "gz",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/webm": "webm",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/html": "html",
    "text/plain": "txt",
    "video/mp4": "mp4"
  })
)

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
    const facts = `(${ForeignText.word(mediaType, 60)}, ${bytes.length.toLocaleString("en")} bytes)`
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
    const [prefix, ending] = partsOf(attachment)
    if (keep !== undefined) return keep(prefix, ending, bytes)
    const path = Path.join(this.directory, `${prefix}${++this.count}.${ending}`)
    return Effect.as(files.write<never>(path, bytes, { mode: "600" }), path)
  }
}

/** Returns what the name of an attachment's file begins and ends with. */
const partsOf = ({ mediaType = "", name }: Attachment): readonly [prefix: string, ending: string] => {
  const [, base = "", given] = /^(.*?)(?:\.([A-Za-z0-9]{1,8}))?$/s.exec(name) ?? []
  const plain = base
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60)
  const [type = ""] = mediaType.toLowerCase().split(";")
  return [`${plain === "" ? "file" : plain}-`, extensions.get(type.trim()) ?? given ?? "bin"]
}

/** Returns the type of an image that models take, by its bytes. */
const shownType = (bytes: Buffer): string | undefined => {
  if (bytes.length > ImageSize.largestImage * 1024 ** 2) return undefined
  const mediaType = FileType.of(bytes)?.mediaType
  const size = mediaType === undefined ? undefined : ImageSize.of(mediaType, bytes)
  return size !== undefined && Math.max(size.width, size.height) <= ImageSize.largestSide ? mediaType : undefined
}
