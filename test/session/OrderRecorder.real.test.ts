/** Against real FIFOs: the order of writes, also of those that are read together. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import type { StreamName } from "../../src/domain/KeptOutput.js"
import { makeFifos } from "../../src/session/Fifo.js"
import { OrderRecorder } from "../../src/session/internal/CommandRun.js"
import { OutputCapture } from "../../src/session/internal/OutputCapture.js"
import { PipePair } from "../../src/session/internal/SessionIo.js"
import { SessionDirectory } from "../../src/session/SessionDirectory.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"

let root = ""

beforeEach(() => {
  root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "order-"))
})

afterEach(() => {
  Fs.rmSync(root, { recursive: true, force: true })
})

interface Subject {
  readonly recorder: OrderRecorder
  readonly pair: PipePair
  readonly sink: (stream: StreamName) => (chunk: Buffer) => void
  /** Writes to the pipes, one after the other, without a turn of the event loop between them. */
  readonly write: (...texts: ReadonlyArray<readonly [StreamName, string]>) => void
  /** Reads the rest, and returns the order. */
  readonly end: () => Promise<ReadonlyArray<string> | undefined>
}

const options = {
  limit: 100_000,
  fileLimit: 0,
  file: () => {
    throw new Error("no file")
  }
}

const withRecorder = async (body: (subject: Subject) => Promise<void>) => {
  const directory = new SessionDirectory(crypto.randomUUID(), {
    ...SessionSettings.defaults,
    privateDirectories: [Path.join(root, "synapse-own")]
  })
  const paths = { stdin: `${directory.path}/0i`, stdout: `${directory.path}/0o`, stderr: `${directory.path}/0e` }
  await makeFifos([paths.stdout, paths.stderr])
  const pair = new PipePair(paths)
  const captures = { stdout: new OutputCapture(options), stderr: new OutputCapture(options) }
  const sink = (stream: StreamName) => (chunk: Buffer) => {
    captures[stream].push(chunk)
    recorder.took(stream, chunk.length)
  }
  const recorder = new OrderRecorder(pair, { stdout: sink("stdout"), stderr: sink("stderr") })
  const fds = { stdout: Fs.openSync(paths.stdout, "w"), stderr: Fs.openSync(paths.stderr, "w") }
  try {
    await body({
      recorder,
      pair,
      sink,
      write: (...texts) => {
        for (const [stream, text] of texts) Fs.writeSync(fds[stream], text)
      },
      end: async () => {
        Fs.closeSync(fds.stdout)
        Fs.closeSync(fds.stderr)
        pair.stdout.drain(sink("stdout"))
        pair.stderr.drain(sink("stderr"))
        await recorder.end()
        const [stdout, stderr] = [captures.stdout.finish(), captures.stderr.finish()]
        return recorder.order
          .lines(captures.stdout.counter(stdout), captures.stderr.counter(stderr))
          ?.map(([stream, lines]) => `${lines} ${stream}`)
      }
    })
  } finally {
    pair.close()
    directory.remove(false)
  }
  assert.deepStrictEqual(Fs.readdirSync(root), [])
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

const inTurn = [
  ["stdout", "a\n"],
  ["stderr", "1\n"],
  ["stdout", "b\n"],
  ["stderr", "2\n"]
] as const

describe.runIf(process.platform === "linux")("OrderRecorder", () => {
  it("knows the order of writes that are read together", () =>
    withRecorder(async ({ end, recorder, write }) => {
      recorder.watch()
      write(...inTurn, ["stderr", "3\n"])
      assert.deepStrictEqual(await end(), ["1 stdout", "1 stderr", "1 stdout", "2 stderr"])
    }))

  it("knows the length of each turn where it is read in time", () =>
    withRecorder(async ({ end, recorder, write }) => {
      recorder.watch()
      for (const [stream, text] of [
        ["stdout", "a\nb\nc\n"],
        ["stderr", "1\n"],
        ["stdout", "d\n"]
      ] as const) {
        write([stream, text])
        for (let i = 0; i < 4; i++) await turn()
      }
      assert.deepStrictEqual(await end(), ["3 stdout", "1 stderr", "1 stdout"])
    }))

  it("goes on when the pipes are read as they fill", () =>
    withRecorder(async ({ end, pair, recorder, sink, write }) => {
      write(["stderr", "before\n"], ["stdout", "before\n"])
      recorder.attach()
      pair.stdout.attach(sink("stdout"))
      pair.stderr.attach(sink("stderr"))
      for (let i = 0; i < 3; i++) {
        write(...inTurn)
        for (let turns = 0; turns < 4; turns++) await turn()
      }
      const turns = Array.from({ length: 6 }, () => ["1 stdout", "1 stderr"]).flat()
      assert.deepStrictEqual(await end(), ["1 stdout", "1 stderr", ...turns])
    }))

  it("does not take the writes of the last command for those of the next", () =>
    withRecorder(async ({ end, pair, recorder, write }) => {
      pair.hearWrites(() => {})
      write(["stderr", "old\n"])
      pair.stderr.drain(() => {})
      recorder.watch()
      for (let turns = 0; turns < 4; turns++) await turn()
      write(["stdout", "a\n"], ["stderr", "1\n2\n"])
      assert.isUndefined(await end())
    }))

  it("hears of a bounded number of writes, and gives what is read its order after that", () =>
    withRecorder(async ({ end, pair, recorder, sink, write }) => {
      recorder.watch()
      const endWatch = vi.spyOn(pair, "endWatch")
      for (let i = 0; i < 5100; i++) {
        write(...inTurn)
        if (i % 500 === 0) await turn()
      }
      for (let turns = 0; turns < 8; turns++) await turn()
      pair.stdout.drain(sink("stdout"))
      write(["stdout", "end\n"])
      const found = (await end()) ?? []
      assert.deepStrictEqual(found.slice(0, 4), ["1 stdout", "1 stderr", "1 stdout", "1 stderr"])
      assert.strictEqual(endWatch.mock.calls.length, 1)
    }))
})
