import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as SessionDirectory from "../../src/session/SessionDirectory.js"

const inDirectory = (use: (path: string, inode: number) => void) => () => {
  const path = Fs.mkdtempSync(Path.join(Os.tmpdir(), "stamp-"))
  try {
    use(path, Fs.statSync(path).ino)
  } finally {
    Fs.rmSync(path, { recursive: true, force: true })
  }
}

/** A time at which no further change can leave the stamp as it is. */
const later = () => Date.now() + 10_000

describe("DirectoryStamp", () => {
  it(
    "there is none right after a change, and none of another directory",
    inDirectory((path, inode) => {
      assert.isUndefined(SessionDirectory.of(path, inode))
      assert.isUndefined(SessionDirectory.of(path, inode, Date.now() - 1000), "the clock was set back")
      assert.isNumber(SessionDirectory.of(path, inode, later()))
      assert.isUndefined(SessionDirectory.of(path, inode + 1, later()))
      assert.isUndefined(SessionDirectory.of(Path.join(path, "none"), inode, later()))
      assert.deepStrictEqual(
        [path, Path.join(path, "none")].map((one) => SessionDirectory.isThere(one, inode)),
        [true, false]
      )
      assert.isFalse(SessionDirectory.isThere(path, inode + 1))
    })
  )

  it(
    "stays while files are written, and changes when one is made, deleted or renamed, whatever times are set",
    inDirectory((path, inode) => {
      const file = Path.join(path, "file")
      Fs.writeFileSync(file, "a")
      const stamps = [SessionDirectory.of(path, inode, later())]
      Fs.writeFileSync(file, "b")
      Fs.chmodSync(file, 0o600)
      assert.strictEqual(SessionDirectory.of(path, inode, later()), stamps[0])
      const tick = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30)
      const changes = [
        () => Fs.renameSync(file, `${file}2`),
        () => Fs.linkSync(`${file}2`, file),
        () => Fs.rmSync(file),
        () => {
          Fs.rmSync(`${file}2`)
          Fs.utimesSync(path, 1, 1)
        }
      ]
      for (const change of changes) {
        tick()
        change()
        stamps.push(SessionDirectory.of(path, inode, later()))
      }
      assert.notInclude(stamps, undefined)
      assert.strictEqual(new Set(stamps).size, stamps.length)
    })
  )
})
