/** Against real FIFOs: pairs that a background process holds are read apart, and come back. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as Fifo from "../../src/session/Fifo.js"
import { OutputPipe } from "../../src/session/internal/OutputPipe.js"
import { type PipePair, PipePool } from "../../src/session/internal/SessionIo.js"
import { SessionDirectory } from "../../src/session/SessionDirectory.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import { descriptors } from "../support/Session.js"

let root = ""

beforeEach(() => {
  root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "pipe-pool-"))
})

afterEach(() => {
  Fs.rmSync(root, { recursive: true, force: true })
})

const withPool = async (body: (pool: PipePool, directory: SessionDirectory) => Promise<void>) => {
  const directory = new SessionDirectory(crypto.randomUUID(), {
    ...SessionSettings.defaults,
    privateDirectories: [Path.join(root, "synapse-own")]
  })
  const pool = new PipePool(directory.path)
  await pool.fill()
  await body(pool, directory)
  pool.close()
  directory.remove(false)
  assert.deepStrictEqual(Fs.readdirSync(root), [])
}

const take = (pool: PipePool) => {
  const pair = pool.take()
  if (pair === undefined) throw new Error("no pair")
  return pair
}

const open = (path: string) => Fs.openSync(path, Fs.constants.O_WRONLY | Fs.constants.O_NONBLOCK)

/** Opens both as a shell does, and keeps the standard output. */
const hold = ({ paths }: PipePair) => {
  Fs.closeSync(open(paths.stderr))
  return open(paths.stdout)
}

const ignore = () => {}

const until = async (isSo: () => boolean) => {
  for (let tries = 0; tries < 1000; tries++) {
    if (isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  assert.fail("it did not come to be so")
}

describe("PipePool", () => {
  it("opens no other pipe that a command has put in the place of its own", async () => {
    const path = Path.join(root, "pipe")
    await Fifo.makeFifos([path])
    const pipe = new OutputPipe(path)
    const writer = open(path)
    const ended = new Promise<void>((resolve) => pipe.untilEnd(ignore, resolve))
    Fs.closeSync(writer)
    await ended
    Fs.renameSync(path, `${path}.own`)
    await Fifo.makeFifos([path])
    assert.isFalse(pipe.reopen())
    Fs.renameSync(`${path}.own`, path)
    assert.isTrue(pipe.reopen())
    pipe.close()
  })

  it("reads no more until whoever takes it has taken what was read", () =>
    withPool(async (pool) => {
      const { paths, stdout } = take(pool)
      const fd = open(paths.stdout)
      const heard: Array<string> = []
      let resolve = () => {}
      const taken = new Promise<void>((done) => {
        resolve = done
      })
      stdout.attach((chunk) => {
        heard.push(chunk.toString())
        return heard.length === 1 ? taken : undefined
      })
      Fs.writeSync(fd, "first")
      await until(() => heard.length > 0)
      Fs.writeSync(fd, "second")
      await new Promise((later) => setTimeout(later, 50))
      assert.deepStrictEqual(heard, ["first"])
      resolve()
      await until(() => heard.length > 1)
      assert.deepStrictEqual(heard, ["first", "second"])
      Fs.closeSync(fd)
    }))

  it("makes a few pairs where none is left, for this user alone", () =>
    withPool(async (pool, directory) => {
      const fifos = () => Fs.readdirSync(directory.path).filter((name) => /^\d+[ioe]$/.test(name))
      assert.strictEqual(fifos().length, 12)
      const taken = new Set(Array.from({ length: 4 }, () => take(pool).paths.stdout))
      assert.deepStrictEqual([taken.size, pool.take()], [4, undefined])
      await pool.fill()
      assert.deepStrictEqual([taken.has(take(pool).paths.stdout), fifos().length], [false, 24])
      for (const name of fifos()) {
        const at = Fs.lstatSync(`${directory.path}/${name}`)
        assert.deepStrictEqual([at.isFIFO(), at.mode & 0o777], [true, 0o600])
      }
    }))

  it("rejects with mkfifo's own words", () =>
    withPool(async (_, directory) => {
      const message = await new PipePool(`${directory.path}/missing`).fill().catch((error: Error) => error.message)
      assert.match(String(message), /^mkfifo failed: .*missing\/0i/)
    }))

  it("gives a held pair to nobody until its holder has gone, and keeps no descriptor of it then", () =>
    withPool(async (pool) => {
      const pair = take(pool)
      const count = descriptors().length
      const holder = hold(pair)
      pool.lend(pair, ignore, ignore)
      await pool.fill()
      assert.notStrictEqual(take(pool), pair)
      Fs.closeSync(holder)
      await until(() => descriptors().length <= count)
      await until(() => pool.take() === pair)
    }))

  it("passes on what its holders write, and tells once that all have gone", () =>
    withPool(async (pool) => {
      const pair = take(pool)
      const [stdout, stderr] = [open(pair.paths.stdout), open(pair.paths.stderr)]
      const heard: Array<string> = []
      pool.lend(
        pair,
        (stream, chunk) => void heard.push(`${stream} ${chunk}`),
        () => void heard.push("ended")
      )
      Fs.writeSync(stdout, "one\n")
      await until(() => heard.length === 1)
      Fs.closeSync(stdout)
      Fs.writeSync(stderr, "two\n")
      await until(() => heard.length === 2)
      Fs.closeSync(stderr)
      await until(() => heard.length === 3)
      assert.deepStrictEqual(heard, ["stdout one\n", "stderr two\n", "ended"])
    }))

  it("does not open what a command has put in the place of a pipe", () =>
    withPool(async (pool) => {
      const pair = take(pool)
      const count = descriptors().length
      const holder = hold(pair)
      pool.lend(pair, ignore, ignore)
      Fs.rmSync(pair.paths.stdout)
      Fs.symlinkSync("/dev/zero", pair.paths.stdout)
      Fs.closeSync(holder)
      await until(() => descriptors().length <= count)
      await pool.fill()
      assert.notStrictEqual(take(pool), pair)
    }))
})
