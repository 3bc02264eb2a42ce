/** Against a real bash: who listens to a command hears all of it, in order, at the listener's own pace. */
import * as Crypto from "node:crypto"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../src/domain/CallContext.js"
import type * as CommandListener from "../../src/domain/CommandListener.js"
import { assertKept, inSession, prepare, result, type Subject } from "../support/Session.js"

const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

const listening = (subject: Subject, command: string, listener: CommandListener.CommandListener) =>
  CallContext.locally(subject.run(command), { listener })

describe("listener", () => {
  inSession("hears short and long commands to the byte, past the cap", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const command of ["printf 'a\\377b'", "printf 'a\\377b'; sleep 0.02; printf 'c\\0d'", "seq 100000"]) {
        const heard: Array<Buffer> = []
        yield* listening(subject, command, { onOutput: (_, chunk) => void heard.push(Buffer.from(chunk)) })
        const reference = yield* subject.run(`{ ${command}; } | sha256sum | cut -c1-64`)
        assert.strictEqual(
          `${Crypto.createHash("sha256").update(Buffer.concat(heard)).digest("hex")}\n`,
          reference.stdout
        )
      }
      yield* assertKept(subject)
    })
  )

  inSession("hears output while the command runs", (subject) =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      const got = yield* listening(subject, "echo first; until [[ -e go ]]; do sleep 0.01; done; echo second >&2", {
        onOutput: (stream, chunk) => {
          heard.push(`${stream} ${Buffer.from(chunk)}`)
          if (heard.length === 1)
            // @effect-diagnostics-next-line runEffectInsideEffect:off
            Effect.runFork(Effect.sleep(1).pipe(Effect.zipRight(Effect.sync(() => touch(subject)))))
        }
      })
      assert.deepStrictEqual(heard, ["stdout first\n", "stderr second\n"])
      assert.deepStrictEqual(got, result({ stdout: "first\n", stderr: "second\n" }))
    })
  )

  inSession("is waited for: nothing is read meanwhile, nothing is told twice, and the order is kept", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const command of [
        "seq 60000",
        "seq 30000; sleep 0.02; seq 30001 60000",
        "seq 20000; seq 20001 60000 & wait"
      ]) {
        let inside = 0
        let most = 0
        let chunks = 0
        let text = ""
        yield* listening(subject, command, {
          onOutput: async (_, chunk) => {
            const copy = Buffer.from(chunk)
            most = Math.max(most, ++inside)
            await sleep((chunks++ * 7) % 5)
            text += copy
            inside--
          }
        })
        assert.strictEqual(most, 1)
        assert.strictEqual(text, Array.from({ length: 60_000 }, (_, i) => `${i + 1}\n`).join(""))
      }
      yield* assertKept(subject)
    })
  )

  inSession("that is slow slows the writer down, and memory does not grow", (subject) =>
    Effect.gen(function* () {
      let heard = 0
      const before = process.memoryUsage.rss()
      let most = before
      yield* listening(subject, "head -c 30000000 /dev/zero", {
        onOutput: async (_, chunk) => {
          heard += chunk.length
          most = Math.max(most, process.memoryUsage.rss())
          await sleep(0)
        }
      })
      assert.strictEqual(heard, 30_000_000)
      assert.isBelow(most - before, 60_000_000)
    })
  )

  inSession("that throws or rejects hears nothing more, and the command goes on", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const command of [
        "echo on",
        "seq 50000 | tail -1",
        "echo a; sleep 0.02; echo b",
        "head -c 200000 /dev/zero | wc -c"
      ]) {
        const expected = yield* subject.run(command)
        for (const onOutput of [
          () => {
            throw new Error("mine")
          },
          () => Promise.reject(new Error("mine")),
          async () => {
            await sleep(1)
            throw new Error("mine")
          }
        ]) {
          let times = 0
          const got = yield* listening(subject, command, {
            onOutput: () => {
              times++
              return onOutput()
            }
          })
          assert.deepStrictEqual(got, expected)
          assert.strictEqual(times, 1)
        }
      }
      yield* listening(subject, "head -c 300000 /dev/zero", { onOutput: () => Promise.reject(new Error("mine")) })
      yield* assertKept(subject)
    })
  )

  inSession("that never comes back does not keep an interruption, before the command's end and after", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const command of ["echo on", "echo on; sleep 1000", "yes"]) {
        const exit = yield* listening(subject, command, { onOutput: () => new Promise(() => {}) }).pipe(
          Effect.timeoutOption("200 millis")
        )
        assert.strictEqual(exit._tag, "None")
        yield* assertKept(subject)
      }
    })
  )

  inSession("that takes long after a short command leaves the next one whole", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (let i = 0; i < 5; i++) {
        const got = yield* listening(subject, `echo ${i}`, { onOutput: () => sleep(15) })
        assert.deepStrictEqual(got, result({ stdout: `${i}\n` }))
        assert.deepStrictEqual(yield* subject.run("sleep 0.01; echo next"), result({ stdout: "next\n" }))
      }
      yield* assertKept(subject)
    })
  )

  inSession("hears no late output of a background child", (subject) =>
    Effect.gen(function* () {
      const heard: Array<string> = []
      // It waits for the next command: on a busy machine, this one may take any time.
      yield* listening(subject, "(until [ -e go ]; do sleep 0.01; done; echo late; touch told) & echo on", {
        onOutput: (_, chunk) => void heard.push(String(Buffer.from(chunk)))
      })
      yield* subject.run("touch go; until [ -e told ]; do sleep 0.01; done")
      assert.deepStrictEqual(heard, ["on\n"])
    })
  )
})

const touch = ({ directory }: Subject) =>
  Effect.runFork(Effect.promise(() => import("node:fs").then((fs) => fs.writeFileSync(`${directory}/go`, ""))))
