/** Detects the types of binary files by their first bytes. */
/** The largest image shown, in megabytes: models take no larger ones. */
export const largestImage = 5

/** The largest side of an image shown, in pixels. Models take no larger ones, and a small file may claim billions. */
export const largestSide = 8000

interface Dimensions {
  readonly width: number
  readonly height: number
}

/** Returns the dimensions of a PNG, JPEG, GIF or WebP image, or undefined if its header is broken. */
export const imageSizeOf = (mediaType: string, bytes: Buffer): Dimensions | undefined => {
  try {
    const found = readers[mediaType]?.(bytes)
    return found !== undefined && isSide(found.width) && isSide(found.height) ? found : undefined
  } catch (error) {
    // The file ends within its header.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Checks a side against PNG's limit, the largest of the four formats. */
const isSide = (pixels: number): boolean => pixels > 0 && pixels < 2 ** 31

type Reader = (bytes: Buffer) => Dimensions | undefined

const png: Reader = (bytes) =>
  bytes.toString("latin1", 12, 16) === "IHDR"
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : undefined

const gif: Reader = (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) })

/** Tests for a JPEG marker that begins a frame, whose header has the dimensions. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const jpeg: Reader = (bytes) => {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1)
    // A marker may follow any number of fill bytes.
    if (marker === 0xff) at++
    else if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

const webp: Reader = (bytes) => {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
    case "VP8L": {
      const sizes = bytes.readUInt32LE(21)
      return { width: 1 + (sizes & 0x3fff), height: 1 + ((sizes >>> 14) & 0x3fff) }
    }
    case "VP8 ":
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    default:
      return undefined
  }
}

const readers: Readonly<Record<string, Reader>> = {
  "image/png": png,
  "image/jpeg": jpeg,
  "image/gif": gif,
  "image/webp": webp
}

export interface FileType {
  /** The name in messages: `PNG image`. */
  readonly name: string
  /** The media type, if it is an image that models take. */
  readonly mediaType?: string
  /** Programs that show such a file as text, the best one first. */
  readonly programs?: ReadonlyArray<string>
}

/** The number of bytes at the beginning of a file that `of` needs. */
export const needed = 16

/** Writes a command that prints the text in parts of a zip archive. */
const withZipfile = (parts: string): string =>
  `python3 -c 'import re, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); [print(re.sub("<[^>]*>+", " ", z.read(n).decode())) for n in z.namelist() if re.match("${parts}", n)]'`

/** Documents, by their first bytes and the endings of their names. */
const documents: ReadonlyArray<readonly [magic: string, ending: RegExp, type: FileType]> = [
  ["%PDF-", /\.pdf$/i, { name: "PDF document", programs: ["read"] }],
  [
    "PK",
    /\.docx$/i,
    { name: "Word document", programs: ["pandoc -t plain", "docx2txt", withZipfile("word/document[.]xml")] }
  ],
  [
    "PK",
    /\.xlsx$/i,
    { name: "Excel workbook", programs: ["xlsx2csv -a", withZipfile("xl/(sharedStrings|worksheets/sheet)")] }
  ],
  ["PK", /\.odt$/i, { name: "OpenDocument text", programs: ["pandoc -t plain", withZipfile("content[.]xml")] }]
]

const types: ReadonlyArray<readonly [magic: RegExp, type: FileType]> = [
  [/^\x89PNG\r\n\x1a\n/, { name: "PNG image", mediaType: "image/png" }],
  [/^\xff\xd8\xff/, { name: "JPEG image", mediaType: "image/jpeg" }],
  // A text may also begin with these letters.
  [/^GIF8[79]a(?=[\s\S]*[\0-\x08])/, { name: "GIF image", mediaType: "image/gif" }],
  [/^RIFF[\s\S]{4}WEBP/, { name: "WebP image", mediaType: "image/webp" }],
  [/^(?:\xff\xfe\0\0|\0\0\xfe\xff)/, { name: "UTF-32 text", programs: ["iconv -f UTF-32 -t UTF-8"] }],
  [/^(?:\xff\xfe|\xfe\xff)/, { name: "UTF-16 text", programs: ["iconv -f UTF-16 -t UTF-8"] }],
  [/^%PDF-/, { name: "PDF document", programs: ["pdftotext - - <", "mutool draw -F txt"] }],
  [/^\x7fELF/, { name: "ELF program" }],
  [/^\x1f\x8b/, { name: "gzip", programs: ["zcat"] }],
  [/^PK\x03\x04/, { name: "zip archive", programs: ["unzip -l", "python3 -m zipfile -l"] }],
  [/^SQLite format 3\0/, { name: "SQLite database" }],
  [/^\xfd7zXZ\0/, { name: "xz" }],
  [/^BZh\d1AY&SY/, { name: "bzip2" }],
  [/^\x28\xb5\x2f\xfd/, { name: "zstd" }]
]

/** Returns the type of a file that begins with these bytes, or undefined if it may be text. */
export const of = (bytes: Uint8Array, path = ""): FileType | undefined => {
  const start = Buffer.from(bytes.subarray(0, needed)).toString("latin1")
  const document = documents.find(([magic, ending]) => start.startsWith(magic) && ending.test(path))
  return document?.[2] ?? types.find(([magic]) => magic.test(start))?.[1]
}
