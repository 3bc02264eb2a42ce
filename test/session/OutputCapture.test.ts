import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { finish, OutputCapture } from "../../src/session/internal/OutputCapture.js"
import type { OutputFile } from "../../src/session/OutputFiles.js"

let directory = ""
let files = 0

beforeEach(() => {
  directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "capture-"))
  files = 0
})

afterEach(() => Fs.rmSync(directory, { recursive: true, force: true }))

const open = (path: string): OutputFile => ({
  path,
  fd: Fs.openSync(path, "wx+", 0o600),
  grew: () => {},
  settle: () => {}
})

const capture = (limit: number, fileLimit = 1_000_000) =>
  new OutputCapture({ limit, fileLimit, file: () => open(Path.join(directory, `${++files}.txt`)) })

const captured = (chunks: ReadonlyArray<Buffer>, limit: number, fileLimit?: number) => {
  const output = capture(limit, fileLimit)
  for (const chunk of chunks) output.push(chunk)
  return output.finish()
}

const isWhole = (text: string) => !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)

/** Bytes as programs write them: text, text cut anywhere, and anything at all. */
const chunks = FastCheck.array(
  FastCheck.oneof(
    FastCheck.uint8Array({ maxLength: 40 }),
    FastCheck.fullUnicodeString({ maxLength: 20 }).map((text) => Buffer.from(text)),
    FastCheck.constantFrom("\n", "line\n", "😀", "é€", "\0", "\r\n").map((text) => Buffer.from(text)),
    FastCheck.constantFrom([0xf0], [0x9f, 0x98], [0x80], [0xc3], [0xff, 0xfe]).map((bytes) => Buffer.from(bytes))
  ).map((bytes) => Buffer.from(bytes)),
  { maxLength: 60 }
)

const note =
  /^([\s\S]*?)\n?\[… (\d+) bytes left out; (?:all of it: (.*)|not kept(?:: .*)?|the first \d+ bytes: .*) …\]\n([\s\S]*)$/

describe("OutputCapture", () => {
  it("gives an output within the limit as it is, and asks for no file", () => {
    assert.deepStrictEqual(captured([], 10), { text: "" })
    assert.deepStrictEqual(captured([Buffer.from("0123456789")], 10), { text: "0123456789" })
    assert.strictEqual(files, 0)
  })

  it("counts characters and not bytes", () => {
    assert.deepStrictEqual(captured([Buffer.from("€".repeat(10))], 10), { text: "€".repeat(10) })
  })

  it("keeps a head and a tail of what is longer, says what is left out, and names the file with all of it", () => {
    const file = Path.join(directory, "1.txt")
    const head = `abcde\n[… 16 bytes left out; all of it: ${file} …]\n`
    assert.deepStrictEqual(captured([Buffer.from("abcdefghijklmnopqrstuvwxyz")], 10), {
      text: `${head}vwxyz`,
      file,
      kept: { bytes: 26, where: `all of it: ${file}`, gap: { start: 5, end: head.length, bytes: 16 } }
    })
    assert.strictEqual(Fs.readFileSync(file, "utf8"), "abcdefghijklmnopqrstuvwxyz")
  })

  it("cuts between lines where one ends near", () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join("")
    const { text } = captured([Buffer.from(lines)], 100)
    assert.match(text, /^line 0\n(line \d+\n)+\[… \d+ bytes left out; .* …\]\n(line \d+\n)*line 99\n$/)
  })

  it("puts a character together that came in pieces", () => {
    const bytes = Buffer.from("a😀é")
    assert.deepStrictEqual(
      captured(
        Array.from(bytes, (byte) => Buffer.from([byte])),
        10
      ),
      { text: "a😀é" }
    )
  })

  it("never holds half a character, at any cut", () => {
    for (let limit = 1; limit < 40; limit++) {
      for (const unit of ["😀", "a😀", "é😀x"]) {
        const { text } = captured([Buffer.from(unit.repeat(200))], limit)
        assert.isTrue(isWhole(text), `${limit} ${unit} ${text}`)
        assert.notInclude(text, "\ufffd")
      }
    }
  })

  it.prop(
    "agrees with the naive way, and its file holds exactly all bytes",
    [chunks, FastCheck.integer({ min: 1, max: 60 })],
    ([parts, limit]) => {
      const all = Buffer.concat(parts)
      const whole = all.toString()
      const { file, text } = captured(parts, limit)
      if (whole.length <= limit) {
        assert.strictEqual(text, whole)
        assert.strictEqual(file, undefined)
        return
      }
      assert.deepStrictEqual(Fs.readFileSync(file ?? ""), all)
      const [, head = "", left, path, tail = ""] = note.exec(text) ?? []
      assert.strictEqual(path, file)
      assert.isTrue(whole.startsWith(head), `head ${JSON.stringify(head)} of ${JSON.stringify(whole)}`)
      assert.isTrue(whole.endsWith(tail), `tail ${JSON.stringify(tail)} of ${JSON.stringify(whole)}`)
      assert.isAtMost(head.length + tail.length, limit)
      assert.isAtLeast(head.length + tail.length, limit / 2 - 2)
      assert.isAbove(Number(left), 0)
      Fs.rmSync(file ?? "")
    },
    { fastCheck: { numRuns: 200 } }
  )

  it.prop(
    "keeps the true head and tail with a file that may not grow, or none",
    [chunks, FastCheck.integer({ min: 1, max: 30 }), FastCheck.integer({ min: 0, max: 200 })],
    ([parts, limit, fileLimit]) => {
      const all = Buffer.concat(parts)
      const whole = all.toString()
      const { file, text } = captured(parts, limit, fileLimit)
      if (whole.length <= limit) return assert.strictEqual(text, whole)
      const [, head = "", , , tail = ""] = note.exec(text) ?? []
      assert.isTrue(whole.startsWith(head))
      assert.isTrue(whole.endsWith(tail), `tail ${JSON.stringify(tail)} of ${JSON.stringify(whole)}`)
      assert.isAtMost(head.length + tail.length, limit)
      assert.isAtLeast(head.length + tail.length, limit / 2 - 2)
      if (file === undefined) return assert.strictEqual(fileLimit, 0)
      assert.deepStrictEqual(Fs.readFileSync(file), all.subarray(0, Math.min(all.length, fileLimit)))
      Fs.rmSync(file)
    },
    { fastCheck: { numRuns: 200 } }
  )

  it("says how far a file goes that may not grow further", () => {
    const file = Path.join(directory, "1.txt")
    const { kept, ...rest } = captured([Buffer.from("a".repeat(100))], 10, 60)
    const where = `the first 60 bytes: ${file} (it may grow to 60 bytes)`
    assert.deepStrictEqual(rest, { text: `aaaaa\n[… 90 bytes left out; ${where} …]\naaaaa`, file })
    assert.strictEqual(kept?.where, where)
  })

  it("takes the tail from the file's end and from what came after it", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz".repeat(4)
    for (const most of [100, 101, 103]) {
      assert.match(captured([Buffer.from(letters)], 10, most).text, /^abcde\n\[… 94 bytes left out; .* …\]\nvwxyz$/)
    }
  })

  it("goes on without a file where none can be made", () => {
    const output = new OutputCapture({
      limit: 10,
      fileLimit: 1000,
      file: () => {
        throw new Error("no room")
      }
    })
    output.push(Buffer.from(`first${"x".repeat(1000)}`))
    output.push(Buffer.from("final"))
    const { file, text } = output.finish()
    assert.deepStrictEqual([text, file], ["first\n[… 1000 bytes left out; not kept: no room …]\nfinal", undefined])
    const gone = new OutputCapture({
      limit: 10,
      fileLimit: 1000,
      file: () => open(Path.join(directory, "nosuch", "file"))
    })
    gone.push(Buffer.from("x".repeat(1000)))
    assert.match(gone.finish().text, /^x{5}\n\[… 990 bytes left out; not kept: ENOENT: .* …\]\nx{5}$/)
  })

  it("makes a file that only its owner can read, and takes none that is there already", () => {
    const file = Path.join(directory, "1.txt")
    captured([Buffer.from("x".repeat(100))], 10)
    assert.strictEqual(Fs.statSync(file).mode & 0o777, 0o600)
    files = 0
    Fs.writeFileSync(file, "somebody else's")
    const { file: none, text } = captured([Buffer.from("y".repeat(100))], 10)
    assert.strictEqual(none, undefined)
    assert.match(text, /^y{5}\n\[… 90 bytes left out; not kept: EEXIST: .* …\]\ny{5}$/)
    assert.strictEqual(Fs.readFileSync(file, "utf8"), "somebody else's")
  })

  it("does not keep the bytes that it is given", () => {
    const chunk = Buffer.from("before")
    const output = capture(100)
    output.push(chunk)
    chunk.fill("x")
    assert.deepStrictEqual(output.finish(), { text: "before" })
  })

  it("holds a bounded part of a long output in memory", () => {
    const output = capture(1000, 0)
    const chunk = Buffer.alloc(65_536, "y")
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 2000; i++) output.push(chunk)
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 20_000_000)
    assert.match(output.finish().text, /^y{500}\n\[… 131071000 bytes left out; not kept …\]\ny{500}$/)
  })
})

describe("finish", () => {
  const both = (stdout: string | Buffer, stderr: string | Buffer, limit: number, fileLimit?: number) => {
    const streams = { stdout: capture(limit, fileLimit), stderr: capture(limit, fileLimit) }
    streams.stdout.push(Buffer.from(stdout))
    streams.stderr.push(Buffer.from(stderr))
    return finish(streams.stdout, streams.stderr, limit)
  }

  it("makes no file where both together are within the limit", () => {
    assert.deepStrictEqual(both("o".repeat(9), "e", 10), {
      stdout: { text: "o".repeat(9) },
      stderr: { text: "e" },
      order: undefined
    })
    assert.strictEqual(files, 0)
  })

  it("makes a file for the stream that leaves too little to the other", () => {
    const file = Path.join(directory, "1.txt")
    assert.deepStrictEqual(both("o".repeat(8), "eee", 10), {
      stdout: { text: "o".repeat(8), file, kept: { bytes: 8, where: `all of it: ${file}` } },
      stderr: { text: "eee" },
      order: undefined
    })
    assert.strictEqual(Fs.readFileSync(file, "utf8"), "o".repeat(8))
  })

  it("makes a file of what has a long line, or is binary, with the bytes as they came", () => {
    const long = `${"x".repeat(2001)}\n`
    const binary = Buffer.alloc(64, "\0\xff\x01\x80", "latin1")
    const { stderr, stdout } = both(long, binary, 10_000)
    assert.strictEqual(Fs.readFileSync(stdout.file ?? "", "utf8"), long)
    assert.deepStrictEqual(Fs.readFileSync(stderr.file ?? ""), binary)
    assert.deepStrictEqual([stdout.text, stderr.text], [long, binary.toString()])
    const progress = `${Array.from({ length: 1000 }, (_, i) => `\r${i}%`).join("")}\n`
    assert.deepStrictEqual(both(progress, "é\u001b[0m\n", 10_000).stdout, { text: progress })
  })

  it("says that nothing is kept, where no file is wanted", () => {
    assert.deepStrictEqual(both("o".repeat(8), "eee", 10, 0).stdout, {
      text: "o".repeat(8),
      kept: { bytes: 8, where: "not kept" }
    })
  })
})
