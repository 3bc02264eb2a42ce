/** What the daemon takes from whoever reaches its socket. */
import * as Fs from "node:fs"
import * as Net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as DaemonSocket from "../../src/serve/DaemonSocket.js"

const frame = (kind: string, body: string): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32LE(Buffer.byteLength(body))
  head.write(kind, 4)
  return Buffer.concat([head, Buffer.from(body)])
}

const name = () => `test-${process.pid}-${Math.random().toString(36).slice(2)}`

/** A daemon that notes what it is asked to run, and a client that sends bytes and hears the letters of the answers. */
const listening = Effect.gen(function* () {
  const own = name()
  const ran: Array<ReadonlyArray<string>> = []
  const run = ({ agree, offer }: DaemonSocket.Client) =>
    Effect.zipRight(
      offer.isFresh === true ? agree : Effect.void,
      Effect.sync(() => void ran.push(offer.words))
    ).pipe(Effect.zipRight(offer.words[0] === "wait" ? Effect.never : Effect.succeed(0)))
  const { close, directory } = yield* DaemonSocket.listen(own, run, () => {})
  const at = (file: string) => `${directory}/${file}`
  const prove = (uid = process.getuid?.() ?? 0) => {
    const nonce = name()
    Fs.writeFileSync(at(nonce), "")
    Fs.chownSync(at(nonce), uid, uid)
    return nonce
  }
  const connect = () => {
    const socket = Net.connect(at(own)).on("error", () => {})
    let heard = Buffer.alloc(0)
    socket.on("data", (bytes) => {
      heard = Buffer.concat([heard, bytes])
    })
    const letters = () => {
      const found = []
      for (let from = 0; from + 5 <= heard.length; from += 5 + heard.readUInt32LE(from))
        found.push(heard.toString("latin1", from + 4, from + 5))
      return found.join("")
    }
    const ended = new Promise<string>((resolve) => socket.on("close", () => resolve(letters())))
    return { socket, ended, letters }
  }
  /** Sends the bytes, and resolves to the letters of the answers once the daemon has closed the connection. */
  const send = (...bytes: ReadonlyArray<Buffer>) =>
    Effect.promise(() => {
      const { ended, socket } = connect()
      socket.write(Buffer.concat(bytes))
      return ended
    })
  const offer = (word: string, nonce: string, more = {}) =>
    frame("O", JSON.stringify({ words: [word], nonce, variables: {}, umask: 0, hasInput: false, ...more }))
  return { at, close, connect, offer, own, prove, ran, send }
})

describe("the daemon's socket", () => {
  it.scopedLive("runs what a client of this user offers, once", () =>
    Effect.gen(function* () {
      const { at, offer, prove, ran, send } = yield* listening
      const nonce = prove()
      assert.strictEqual(yield* send(offer("first", nonce)), "RX")
      assert.strictEqual(yield* send(offer("again", nonce)), "")
      assert.strictEqual(yield* send(offer("none", "none")), "")
      assert.strictEqual(yield* send(offer("wait", prove()), offer("second", prove())), "R")
      if (process.getuid?.() === 0) assert.strictEqual(yield* send(offer("other's", prove(65534))), "")
      Fs.writeFileSync(at("../kept"), "")
      yield* send(offer("outside", "../kept"))
      assert.isTrue(Fs.existsSync(at("../kept")))
      Fs.rmSync(at("../kept"))
      assert.deepStrictEqual(ran, [["first"], ["wait"]])
    })
  )

  it.scopedLive("takes no frame beyond 64 MiB, and runs nothing for a new shell before the go-ahead", () =>
    Effect.gen(function* () {
      const { connect, offer, prove, ran, send } = yield* listening
      const long = Buffer.alloc(5)
      long.writeUInt32LE(64 * 1024 ** 2 + 1)
      assert.strictEqual(yield* send(long), "")
      const { ended, letters, socket } = connect()
      socket.write(offer("fresh", prove(), { isFresh: true }))
      while (letters() !== "R") yield* Effect.sleep(5)
      yield* Effect.sleep(50)
      assert.deepStrictEqual(ran, [])
      socket.write(frame("G", ""))
      assert.strictEqual(yield* Effect.promise(() => ended), "RX")
      assert.deepStrictEqual(ran, [["fresh"]])
    })
  )

  it.scopedLive("ends what runs for a client that is gone", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const begun = yield* Deferred.make<void>()
      const own = name()
      const run = () =>
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(ended, undefined))
        )
      const { directory } = yield* DaemonSocket.listen(own, run, () => {})
      Fs.writeFileSync(`${directory}/${own}.n`, "")
      const socket = Net.connect(`${directory}/${own}`)
      socket.write(frame("O", JSON.stringify({ words: [], nonce: `${own}.n` })))
      yield* Deferred.await(begun)
      socket.destroy()
      yield* Deferred.await(ended)
    })
  )

  it.scopedLive("refuses new clients once it is to end, which is not while one is connected", () =>
    Effect.gen(function* () {
      const { close, connect, offer, prove, ran, send } = yield* listening
      const { socket } = connect()
      socket.write(offer("wait", prove()))
      while (ran.length === 0) yield* Effect.sleep(5)
      assert.isFalse(close())
      assert.strictEqual(yield* send(offer("beside", prove())), "RX")
      socket.destroy()
      while (!close()) yield* Effect.sleep(5)
      assert.strictEqual(yield* send(offer("late", prove())), "")
      assert.deepStrictEqual(ran, [["wait"], ["beside"]])
    })
  )

  it.live("has a name of its own: a second daemon gets none, and the first leaves another's", () =>
    Effect.gen(function* () {
      const place = yield* Effect.scoped(
        Effect.gen(function* () {
          const { at, own } = yield* listening
          const second = yield* Effect.scoped(
            DaemonSocket.listen(
              own,
              () => Effect.succeed(0),
              () => {}
            )
          )
          assert.isFalse(second.isFirst)
          assert.strictEqual(Fs.statSync(at(own)).mode & 0o777, 0o700)
          Fs.rmSync(at(own))
          Fs.writeFileSync(at(own), "another")
          return at(own)
        })
      )
      assert.strictEqual(Fs.readFileSync(place, "utf8"), "another")
      Fs.rmSync(place)
    })
  )
})
