import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { type OutputFile, OutputFiles } from "../../src/session/OutputFiles.js"

let session = ""

beforeEach(() => {
  session = Fs.mkdtempSync(Path.join(Os.tmpdir(), "output-files-"))
})

afterEach(() => Fs.rmSync(session, { recursive: true, force: true }))

const withFiles = (limit: number, body: (files: OutputFiles) => void) => {
  const files = new OutputFiles(session, Fs.statSync(session).ino, limit)
  body(files)
  files.close()
}

const write = (file: OutputFile, bytes: number) => {
  Fs.writeSync(file.fd, Buffer.alloc(bytes, "x"))
  file.grew(bytes)
}

const complete = (file: OutputFile) => {
  Fs.closeSync(file.fd)
  file.settle()
}

const names = () => Fs.readdirSync(Path.join(session, "output")).sort()

describe("OutputFiles", () => {
  it("makes nothing before it is asked to", () => {
    withFiles(100, (files) => assert.isFalse(files.isUsed))
    assert.deepStrictEqual(Fs.readdirSync(session), [])
  })

  it("removes the oldest over the limit, the complete ones first", () =>
    withFiles(100, (files) => {
      const open = files.make("image-")
      write(open, 10)
      for (let i = 0; i < 4; i++) {
        const file = files.make("")
        write(file, 30)
        complete(file)
      }
      assert.deepStrictEqual(names(), ["3.txt", "4.txt", "5.txt", "image-1.txt"])
      const large = files.make("")
      write(large, 95)
      assert.deepStrictEqual(names(), ["6.txt"])
      complete(large)
      complete(open)
    }))

  it("keeps a content under a name of its own, and the newest within the limit", () =>
    withFiles(100, (files) => {
      assert.isTrue(files.isAllowed)
      const paths = ["a", "b", "c"].map((name) => files.keep(`${name}-`, "png", Buffer.alloc(40, name)))
      assert.deepStrictEqual(names(), ["b-2.png", "c-3.png"])
      assert.strictEqual(Fs.readFileSync(paths[2] ?? "", "utf8"), "c".repeat(40))
      assert.strictEqual(Fs.statSync(paths[2] ?? "").mode & 0o777, 0o600)
      assert.throws(() => files.keep("d-", "png", Buffer.alloc(51)), "it is larger than 50 bytes")
      // A name that would lead elsewhere is refused.
      assert.throws(() => files.keep("../e-", "/x", Buffer.alloc(1)))
      assert.deepStrictEqual(names(), ["b-2.png", "c-3.png"])
    }))

  it("leaves nothing of a content that can't be written whole", () =>
    withFiles(100, (files) => {
      const content = Buffer.from("x")
      Object.defineProperty(content, "byteLength", {
        get: () => {
          throw new Error("no space")
        }
      })
      assert.throws(() => files.keep("a-", "png", content))
      assert.deepStrictEqual(names(), [])
    }))

  it("never removes the file that grows, however long it gets", () =>
    withFiles(10, (files) => {
      const file = files.make("")
      write(file, 1000)
      assert.deepStrictEqual(names(), ["1.txt"])
      complete(file)
    }))

  it("opens no file that is there already", () =>
    withFiles(100, (files) => {
      complete(files.make(""))
      Fs.writeFileSync(Path.join(session, "output", "2.txt"), "theirs")
      assert.throws(() => files.make(""), /EEXIST/)
      assert.strictEqual(Fs.readFileSync(Path.join(session, "output", "2.txt"), "utf8"), "theirs")
    }))

  it("follows no link to the directory of the session, or to its own, and takes no other in its place", () => {
    const other = Fs.mkdtempSync(Path.join(Os.tmpdir(), "output-files-"))
    withFiles(100, (files) => {
      Fs.symlinkSync(other, Path.join(session, "output"))
      assert.throws(() => files.make(""))
      Fs.rmSync(session, { recursive: true })
      Fs.symlinkSync(other, session)
      assert.throws(() => files.make(""))
      Fs.rmSync(session)
      Fs.renameSync(other, session)
      assert.throws(() => files.make(""), /was replaced/)
      Fs.renameSync(session, other)
    })
    assert.deepStrictEqual(Fs.readdirSync(other), [])
    Fs.rmSync(other, { recursive: true })
  })

  it("makes its directory again where a command has deleted it", () =>
    withFiles(100, (files) => {
      complete(files.make(""))
      Fs.rmSync(Path.join(session, "output"), { recursive: true })
      complete(files.make(""))
      assert.deepStrictEqual(names(), ["2.txt"])
    }))
})
