import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FileStamp from "../../src/files/FileStamp.js"
import * as RegularFile from "../../src/files/RegularFile.js"

let room = ""
beforeAll(() => {
  room = Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-regular-"))
})
afterAll(() => Fs.rmSync(room, { recursive: true, force: true }))

const put = (name: string, text: string): string => {
  const path = Path.join(room, name)
  Fs.writeFileSync(path, text)
  return path
}

const isNoFile = (stats: Fs.Stats) => (stats.isFile() ? undefined : "no file")

describe("a regular file", () => {
  it("is read to its end or to the bound", () => {
    const text = "x".repeat(200_000)
    const path = put("long", text)
    for (const [most, length] of [
      [4, 4],
      [200_000, 200_000],
      [1_000_000, 200_000]
    ] as const) {
      const { bytes, size } = Either.getOrThrow(RegularFile.read(path, { most, mayBeLink: false }, isNoFile))
      assert.deepStrictEqual([bytes.toString(), size], [text.slice(0, length), 200_000])
    }
  })

  it("is told from a pipe, which is not even opened, and from a link", () => {
    const pipe = Path.join(room, "pipe")
    execFileSync("mkfifo", [pipe])
    const link = Path.join(room, "link")
    Fs.symlinkSync(put("target", "t"), link)
    const read = (path: string, mayBeLink: boolean) => RegularFile.read(path, { most: 9, mayBeLink }, isNoFile)
    assert.deepStrictEqual(read(pipe, true), Either.left("no file"))
    assert.deepStrictEqual(read(link, false), Either.left("no file"))
    assert.strictEqual(Either.getOrThrow(read(link, true)).bytes.toString(), "t")
    // A link that takes the place of a file that was looked at is not followed.
    assert.throws(() => RegularFile.read(link, { most: 9, mayBeLink: false }, () => undefined), "ELOOP")
  })

  it("is asked about again by its descriptor", () => {
    const asked: Array<boolean> = []
    const refused = RegularFile.read(put("f", "f"), { most: 9, mayBeLink: false }, (_, fd) => {
      asked.push(fd !== undefined)
      return fd === undefined ? undefined : "strayed"
    })
    assert.deepStrictEqual([refused, asked], [Either.left("strayed"), [false, true]])
  })
})

describe("a part of an open file", () => {
  it("is read from its position, and ends with the file", () => {
    const fd = Fs.openSync(put("part", "0123456789"), "r")
    try {
      const parts = [RegularFile.readAt(fd, 0, 3), RegularFile.readAt(fd, 8, 3), RegularFile.readAt(fd, 10, 3)]
      assert.deepStrictEqual(parts.map(String), ["012", "89", ""])
    } finally {
      Fs.closeSync(fd)
    }
  })
})

describe("the stamp of a file", () => {
  it("changes with the file, with what a link leads to, and where one comes", () => {
    const path = put("stamped", "a")
    const link = Path.join(room, "stamped-link")
    Fs.symlinkSync(path, link)
    const before = [path, link].map((path) => FileStamp.of(path).text)
    assert.deepStrictEqual(
      [path, link].map((path) => FileStamp.of(path).text),
      before
    )
    put("stamped", "bb")
    assert.notStrictEqual(FileStamp.of(path).text, before[0])
    assert.notStrictEqual(FileStamp.of(link).text, before[1])
    assert.deepStrictEqual(FileStamp.of(Path.join(room, "none")), { text: "-", changed: 0 })
    assert.strictEqual(FileStamp.of(Path.join(path, "below")).text, "ENOTDIR")
  })
})
