import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as LiveMasks from "../../../../../src/sandbox/platform/linux/live/LiveMasks.js"
import * as Directory from "../../../../support/sandbox/Directory.js"

/** Watches as a system does that has none left. */
const refusing = (code: string): LiveMasks.Watcher => {
  return () => {
    throw Object.assign(new Error(code), { code })
  }
}

const until = (is: () => boolean) =>
  Effect.sync(is).pipe(
    Effect.repeat({ until: (done) => done, schedule: Schedule.spaced(5) }),
    Effect.timeout(30_000),
    Effect.orDie
  )

describe.skipIf(process.platform !== "linux")("directories that are watched", () => {
  for (const [title, watcher] of Object.entries({
    "by the kernel": undefined,
    "where the user has no inotify instance left": refusing("EMFILE"),
    "where the user has no watch left": refusing("ENOSPC"),
    "where the process has no memory for one": refusing("ENOMEM")
  })) {
    it.live(`tell of what is made and replaced, ${title}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const directory = yield* Directory.make
          const seen = new Set<string | null>()
          const watch = yield* LiveMasks.makeDirectoryWatch((_, name) => void seen.add(name), watcher)
          watch.add(directory)
          assert.strictEqual(watch.isPolling(), watcher !== undefined)
          Fs.writeFileSync(`${directory}/.env`, "")
          yield* until(() => seen.has(".env"))
          seen.clear()
          Fs.writeFileSync(`${directory}/next`, "")
          Fs.renameSync(`${directory}/next`, `${directory}/.env`)
          yield* until(() => seen.has(".env"))
          const foreign = Buffer.concat([Buffer.from(`${directory}/p`), Buffer.from([0xff])])
          Fs.writeFileSync(foreign, "")
          yield* until(() => seen.has("p\udcff"))
        })
      )
    )
  }

  it.live("watches by the kernel again as soon as it may", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const directory = yield* Directory.make
        let tries = 0
        const watch = yield* LiveMasks.makeDirectoryWatch(
          () => {},
          (at, see) => {
            if (++tries < 3) return refusing("ENOSPC")(at, see)
            return { close: () => {}, on: () => {} }
          }
        )
        watch.add(directory)
        assert.isTrue(watch.isPolling())
        yield* until(() => !watch.isPolling())
        assert.strictEqual(tries, 3)
      })
    )
  )

  it.live("do not hold up everything else where they change without end", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const directory = yield* Directory.make
        let seen = 0
        const watch = yield* LiveMasks.makeDirectoryWatch(() => {
          seen++
        })
        watch.add(directory)
        Fs.mkdirSync(`${directory}/a`)
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            const script = 'exec perl -e \'while (1) { rename "a", "b"; rename "b", "a" }\''
            const child = ChildProcess.spawn("/bin/bash", ["-c", script], { cwd: directory, stdio: "ignore" })
            return { child, ended: new Promise((resolve) => child.once("close", resolve)) }
          }),
          ({ child, ended }) =>
            Effect.promise(() => {
              child.kill("SIGKILL")
              return ended
            })
        )
        // Would never return to these.
        yield* until(() => seen > 100)
        for (let turn = 0; turn < 10; turn++) yield* Effect.sleep(20)
        Fs.writeFileSync(`${directory}/.env`, "")
      })
    )
  )
})
