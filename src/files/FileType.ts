/** Tells the types of files that are no text by the bytes that they begin with. */

/** The type of a file that is no text. */
export interface FileType {
  /** Its name in a message: `PNG image`. */
  readonly name: string
  /** The type of an image that a model can be shown. */
  readonly mediaType?: string
  /** The program that shows such a file as text. */
  readonly program?: string
}

/** The number of bytes at the beginning of a file that tell its type. */
export const needed = 16

/** The name of UTF-16 text. */
export const utf16 = "UTF-16 text"

const types: ReadonlyArray<readonly [magic: RegExp, type: FileType]> = [
  [/^\x89PNG\r\n\x1a\n/, { name: "PNG image", mediaType: "image/png" }],
  [/^\xff\xd8\xff/, { name: "JPEG image", mediaType: "image/jpeg" }],
  // A text may begin with these letters.
  [/^GIF8[79]a(?=[\s\S]*[\0-\x08])/, { name: "GIF image", mediaType: "image/gif" }],
  [/^RIFF[\s\S]{4}WEBP/, { name: "WebP image", mediaType: "image/webp" }],
  [/^(?:\xff\xfe|\xfe\xff)/, { name: utf16, program: "iconv -f UTF-16 -t UTF-8" }],
  [/^%PDF-/, { name: "PDF document" }],
  [/^\x7fELF/, { name: "ELF program" }],
  [/^\x1f\x8b/, { name: "gzip", program: "zcat" }],
  [/^PK\x03\x04/, { name: "zip archive" }],
  [/^SQLite format 3\0/, { name: "SQLite database" }],
  [/^\xfd7zXZ\0/, { name: "xz" }],
  [/^BZh\d1AY&SY/, { name: "bzip2" }],
  [/^\x28\xb5\x2f\xfd/, { name: "zstd" }]
]

/** Returns the type of a file that begins with these bytes; undefined where they may be text. */
export const of = (bytes: Uint8Array): FileType | undefined => {
  const start = Buffer.from(bytes.subarray(0, needed)).toString("latin1")
  return types.find(([magic]) => magic.test(start))?.[1]
}
