import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as AtomicFile from "../../../src/sandbox/config/AtomicFile.js"
import * as Directory from "../../support/sandbox/Directory.js"

const began = (pid: number | "self") =>
  Fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")[19]
const space = () => `${Os.hostname()} ${Fs.readlinkSync("/proc/self/ns/pid")}`

/** A lock as its owner would have made it. */
const put = (path: string, owner: object) =>
  Fs.symlinkSync(
    JSON.stringify({ pid: process.pid, began: began("self"), space: space(), since: 0, nonce: "n", ...owner }),
    path
  )

const held = <A, E>(path: string, use: Effect.Effect<A, E>) =>
  Effect.provide(AtomicFile.withLock(path)(use), NodeFileSystem.layer)

/** The id of a process that is no more. */
const deadPid = () => Number(execFileSync("/bin/sh", ["-c", "echo $$"], { encoding: "utf8" }))

/** A clock that goes on by what is slept, at once. */
const hurried = (): Clock.Clock => {
  let now = 0
  return {
    ...Clock.make(),
    currentTimeMillis: Effect.sync(() => now),
    unsafeCurrentTimeMillis: () => now,
    sleep: (duration) =>
      Effect.sync(() => {
        now += Duration.toMillis(duration)
      })
  }
}

describe("a lock", () => {
  it.scopedLive("is held by one at a time, and leaves nothing", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const path = `${home}/lock`
      put(path, { pid: deadPid() })
      let inside = 0
      let most = 0
      const use = Effect.gen(function* () {
        most = Math.max(most, ++inside)
        yield* Effect.yieldNow()
        yield* Effect.promise(() => Fs.promises.stat(home))
        inside--
      })
      yield* Effect.all(
        Array.from({ length: 40 }, () => held(path, use)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual({ most, left: Directory.list(home) }, { most: 1, left: [] })
    })
  )

  it.scopedLive("is let go of when the use fails, dies or is interrupted", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const path = `${home}/lock`
      for (const use of [Effect.fail("no"), Effect.die("no"), Effect.interrupt]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(held(path, use))))
      }
      assert.deepStrictEqual(Directory.list(home), [])
      assert.strictEqual(yield* held(path, Effect.succeed(1)), 1)
    })
  )

  it.scopedLive("is taken over from the dead", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const dead = [
        { pid: deadPid() },
        // Another process has the id by now.
        { began: "1" },
        // Of another machine, and long ago.
        { space: "elsewhere" }
      ]
      for (const owner of dead) {
        put(`${home}/lock`, owner)
        yield* held(`${home}/lock`, Effect.void)
        assert.deepStrictEqual(Directory.list(home), [])
      }
    })
  )

  it.scopedLive("is taken over from one who died while taking it over", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      put(`${home}/lock`, { pid: deadPid(), nonce: "first" })
      put(`${home}/lock.first`, { pid: deadPid(), nonce: "second" })
      yield* held(`${home}/lock`, Effect.void)
      assert.deepStrictEqual(Directory.list(home), [])
    })
  )

  it.scoped("is none where its id would name another directory", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.mkdirSync(`${home}/lock.x`)
      put(`${home}/lock`, { pid: deadPid(), nonce: "x/../out" })
      assert.match(
        (yield* Effect.flip(held(`${home}/lock`, Effect.void))).message,
        /lock is in the way, which is no lock/
      )
    })
  )

  it.scoped("gives the mode of the old file to the one that it has made, whatever takes its place", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const [path, other] = [`${home}/file`, `${home}/other`]
      Fs.writeFileSync(path, "old")
      Fs.writeFileSync(other, "other", { mode: 0o600 })
      Fs.chmodSync(path, 0o666)
      const files = yield* FileSystem.FileSystem
      const moving = FileSystem.FileSystem.of({
        ...files,
        open: (at, options) =>
          Effect.tap(files.open(at, options), () =>
            Effect.sync(() => {
              if (options?.flag !== "wx") return
              Fs.rmSync(at)
              Fs.symlinkSync(other, at)
            })
          )
      })
      const change = AtomicFile.update(path, Effect.succeedSome("new"))
      yield* Effect.provideService(change, FileSystem.FileSystem, moving)
      assert.strictEqual(Fs.statSync(other).mode & 0o777, 0o600)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.scopedLive("is waited for no longer than ten seconds", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const path = `${home}/lock`
      put(path, { since: 0 })
      const clock = hurried()
      const error = yield* Effect.withClock(Effect.flip(held(path, Effect.void)), clock)
      assert.match(error.message, new RegExp(`^process ${process.pid} has held .*/lock for too long$`))
      assert.isAtLeast(clock.unsafeCurrentTimeMillis(), 10_000)
      assert.isAtMost(clock.unsafeCurrentTimeMillis(), 12_000)
      assert.deepStrictEqual(Directory.list(home), ["lock"])
    })
  )

  it.scopedLive("is no longer waited for after an interruption", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      put(`${home}/lock`, { since: Date.now() })
      const fiber = yield* Effect.fork(held(`${home}/lock`, Effect.void))
      yield* Effect.promise(() => Fs.promises.stat(home))
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.deepStrictEqual(Directory.list(home), ["lock"])
    })
  )

  it.scopedLive("is not made where something else is in the way", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      Fs.writeFileSync(`${home}/file`, "")
      Fs.symlinkSync("elsewhere", `${home}/link`)
      for (const name of ["file", "link"]) {
        const { message } = yield* Effect.flip(held(`${home}/${name}`, Effect.void))
        assert.match(message, new RegExp(`^${home}/${name} is in the way, which is no lock`))
      }
    })
  )
})
