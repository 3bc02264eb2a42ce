/** What `read` says of images and other files that are no text. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Read from "../../../src/commands/read/Read.js"
import * as FileType from "../../../src/files/FileType.js"
import * as MemoryFiles from "../../../src/files/MemoryFiles.js"
import { SandboxManager } from "../../../src/sandbox/SandboxManager.js"
import * as VisibleFiles from "../../../src/sandbox/VisibleFiles.js"
import { failed, run } from "../../support/commands/FileCall.js"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==",
  "base64"
)
const gif = Buffer.from("R0lGODlhBwAFAIAAAP///wAAACwAAAAABwAFAAACBoSPqcvtXQA7", "base64")

/** A JPEG's beginning: a segment of its application's, fill bytes, and the frame. */
const jpeg = (frame: number, width: number, height: number) => {
  const sizes = [height >> 8, height & 255, width >> 8, width & 255]
  const application = [0xff, 0xe1, 0x00, 0x04, 0xff, 0xc0]
  return Buffer.from([0xff, 0xd8, ...application, 0xff, 0xff, frame, 0x00, 0x11, 8, ...sizes, 3])
}

const webp = (kind: string, body: ReadonlyArray<number>) =>
  Buffer.concat([Buffer.from(`RIFF\x40\0\0\0WEBP${kind}\x0a\0\0\0`, "latin1"), Buffer.from(body)])

const images: ReadonlyArray<readonly [string, Buffer, string, string]> = [
  ["a.png", png, "PNG image, 2x3", "image/png"],
  ["no extension", gif, "GIF image, 7x5", "image/gif"],
  ["b.txt", jpeg(0xc0, 640, 480), "JPEG image, 640x480", "image/jpeg"],
  ["c.jpg", jpeg(0xc2, 8000, 1), "JPEG image, 8000x1", "image/jpeg"],
  ["d.webp", webp("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 0x90, 0x41, 0x2c, 0x01]), "WebP image, 400x300", "image/webp"],
  ["e.webp", webp("VP8L", [0x2f, 0x8f, 0xc1, 0x4a, 0x00]), "WebP image, 400x300", "image/webp"],
  ["f.webp", webp("VP8X", [0, 0, 0, 0, 0x8f, 0x01, 0, 0x2b, 0x01, 0]), "WebP image, 400x300", "image/webp"]
]

const shown = (path: string, bytes: Buffer, room: number | undefined, sizes: ReadonlyArray<number> = [65_536]) =>
  run(Read.make, [path], {
    files: MemoryFiles.make({ [path]: bytes }, sizes),
    ...(room === undefined ? undefined : { room })
  })

describe("read of an image", () => {
  it.effect("says its type, dimensions and size, and gives it to the caller", () =>
    Effect.gen(function* () {
      for (const [path, bytes, text, mediaType] of images) {
        for (const sizes of [[1], [3, 8], [65_536]]) {
          assert.deepStrictEqual(yield* shown(path, bytes, 30_000, sizes), {
            exitCode: 0,
            stdout: `${path}: ${text}, ${bytes.length} bytes\n`,
            stderr: "",
            parts: 0,
            images: [{ path, mediaType, base64: bytes.toString("base64") }]
          })
        }
      }
    })
  )

  it.effect("gives it to nobody in a pipe, or where it has more than 5 MiB", () =>
    Effect.gen(function* () {
      assert.notProperty(yield* shown("x", png, undefined), "images")
      const largest = Buffer.concat([png, Buffer.alloc(5 * 1024 ** 2 - png.length)])
      assert.property(yield* shown("x", largest, 30_000), "images")
      assert.deepStrictEqual(yield* shown("x", Buffer.concat([largest, Buffer.alloc(1)]), 30_000), {
        exitCode: 0,
        stdout: "x: PNG image, 2x3, 5242881 bytes, too large to be shown (5 MiB)\n",
        stderr: "",
        parts: 0
      })
    })
  )

  it.effect("gives all of several", () =>
    Effect.gen(function* () {
      const files = MemoryFiles.make({ a: png, b: "text\n", c: gif })
      const { images, stdout } = yield* run(Read.make, ["a", "b", "c"], { files, room: 30_000 })
      const first = `==> a <==\na: PNG image, 2x3, ${png.length} bytes\n\n==> b <==\n     1\ttext\n`
      assert.strictEqual(stdout, `${first}\n==> c <==\nc: GIF image, 7x5, ${gif.length} bytes\n`)
      assert.deepStrictEqual(
        images?.map(({ path }) => path),
        ["a", "c"]
      )
    })
  )

  it.effect("refuses one whose header is broken", () =>
    Effect.gen(function* () {
      for (const [path, bytes, , mediaType] of images) {
        if (mediaType === "image/gif") continue
        const files = MemoryFiles.make({ [path]: bytes.subarray(0, 16) })
        const { message } = yield* failed(Read.make, [path], { files })
        assert.match(message, /: \w+ image with a broken header, 16 bytes\n/, path)
      }
    })
  )

  it.effect("gives none that claims to be huge, and takes an impossible size for a broken header", () =>
    Effect.gen(function* () {
      const sized = (width: number, height: number) => {
        const bytes = Buffer.from(png)
        bytes.writeUInt32BE(width, 16)
        bytes.writeUInt32BE(height, 20)
        return { room: 30_000, files: MemoryFiles.make({ f: bytes }) }
      }
      const most = yield* run(Read.make, ["f"], sized(8000, 8000))
      assert.strictEqual(most.images?.length, 1)
      for (const [width, height] of [
        [8001, 1],
        [1, 8001],
        [2 ** 31 - 1, 2 ** 31 - 1]
      ] as const) {
        const { images, stdout } = yield* run(Read.make, ["f"], sized(width, height))
        const said = `f: PNG image, ${width}x${height}, ${png.length} bytes, too large to be shown (8000x8000)\n`
        assert.deepStrictEqual([images, stdout], [undefined, said])
      }
      for (const [width, height] of [
        [4_000_000_000, 1],
        [1, 2 ** 31],
        [0, 1],
        [1, 0]
      ] as const) {
        const { message } = yield* failed(Read.make, ["f"], sized(width, height))
        assert.include(message, `PNG image with a broken header, ${png.length} bytes\n`)
      }
    })
  )

  it("finds dimensions in whatever bytes, or none, and ends", () => {
    const types = FastCheck.constantFrom("image/png", "image/jpeg", "image/gif", "image/webp", "text/plain")
    const begun = FastCheck.tuple(FastCheck.constantFrom(...images), FastCheck.uint8Array({ maxLength: 60 })).map(
      ([[, bytes], more]) => Buffer.concat([bytes.subarray(0, more[0] ?? 4), more])
    )
    FastCheck.assert(
      FastCheck.property(types, begun, (type, bytes) => {
        const found = FileType.imageSizeOf(type, bytes)
        assert.isTrue(found === undefined || (found.width > 0 && found.height > 0))
      })
    )
  })
})

describe("read of another file that is no text", () => {
  it.effect("says what it is, and what shows it", () =>
    Effect.gen(function* () {
      const od = 'Bash(command="od -A d -c -N 256 f") shows its beginning.'
      const cases: ReadonlyArray<readonly [string, string, string]> = [
        ["\x7fELF\x02\x01\x01\0", "ELF program, 8 bytes", od],
        ["\x1f\x8b\x08\x01xyz", "gzip, 7 bytes", 'Bash(command="zcat f") shows it.'],
        ["PK\x03\x04xy", "zip archive, 6 bytes", 'Bash(command="unzip -l f") shows it.'],
        ["%PDF-1.7\n%x\n", "PDF document, 12 bytes", 'Bash(command="pdftotext - - < f") shows it.'],
        ["SQLite format 3\0xy", "SQLite database, 18 bytes", od],
        ["a\0", "binary file, 2 bytes", od]
      ]
      for (const [content, what, advice] of cases) {
        const files = MemoryFiles.make({ f: Buffer.from(content, "latin1") }, [5])
        const { exitCode, message } = yield* failed(Read.make, ["f"], { files })
        assert.deepStrictEqual([exitCode, message], [1, `read: f: ${what}\n${advice}`])
      }
    })
  )

  it.effect("names a program that the shell has", () =>
    Effect.gen(function* () {
      const say = (path: string, content: string, ...there: ReadonlyArray<string>) =>
        failed(
          Effect.provideService(Read.make, SandboxManager, {
            visibleFiles: Effect.succeed({
              ...VisibleFiles.none,
              programs: (isWanted: (name: string) => boolean) => there.filter(isWanted)
            })
          } as never),
          [path],
          { files: MemoryFiles.make({ [path]: content }) }
        ).pipe(Effect.map(({ message }) => message.split("\n")[1]))
      const pdf = "%PDF-1.7\n\0"
      assert.strictEqual(yield* say("f", pdf, "mutool", "sh"), 'Bash(command="mutool draw -F txt f") shows it.')
      assert.strictEqual(
        yield* say("f", pdf, "sh"),
        "No program is there that shows it: the user can install pdftotext."
      )
      const zip = "PK\x03\x04\0"
      assert.strictEqual(
        yield* say("a.DOCX", zip, "pandoc", "unzip"),
        'Bash(command="pandoc -t plain a.DOCX") shows it.'
      )
      assert.match(
        (yield* say("a.xlsx", zip, "python3")) ?? "",
        /^Bash\(command="python3 -c .*zipfile.* a\.xlsx"\) shows it\.$/
      )
      assert.strictEqual(yield* say("a.zip", zip, "unzip"), 'Bash(command="unzip -l a.zip") shows it.')
    })
  )

  it.effect("shows text that begins as such a file does", () =>
    Effect.gen(function* () {
      for (const content of ["GIF89a is a format\n", "BZh is no bzip2\n", "PK\n", "SQLite format 3\n", "RIFF\n"]) {
        const { stdout } = yield* run(Read.make, ["f"], { files: MemoryFiles.make({ f: content }) })
        assert.strictEqual(stdout, `     1\t${content}`)
      }
    })
  )
})
