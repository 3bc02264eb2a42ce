/** A call with restart=true beside one that runs: nothing more of that one runs. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { inApps } from "../support/toolset/App.js"

const lists = [
  "sleep 60; touch after",
  "(sleep 60; touch after); touch after",
  "bash -c 'sleep 60; touch after'; touch after",
  "sleep 60 | write after; touch after",
  "for i in 1 2; do sleep 60; touch after; done",
  "sleep 60 & wait; touch after",
  "trap : TERM HUP; sleep 60; touch after",
  "trap '' INT; sleep 60; touch after",
  "(trap '' INT; sleep 60; touch after)",
  "trap : INT; sleep 60; touch after",
  "trap 'touch after' INT EXIT; sleep 60; touch after",
  "trap '' INT URG TERM HUP; sleep 60; touch after",
  "(trap : INT TERM HUP; sleep 60; touch after); touch after",
  "env -i bash -c 'trap : INT TERM HUP; sleep 60; touch after'; touch after",
  "setsid -w bash -c 'trap : INT TERM HUP; sleep 60; touch after'; touch after",
  "trap : CHLD; sleep 60 && : || touch after",
  "echo hi > >(trap : TERM; sleep 60; touch after); touch begun; sleep 60; touch after"
]

describe("restart=true", () => {
  for (const [command, tried, delays] of [
    ["echo new", lists, [0, 5, 60]],
    ["TodoWrite '{\"todos\":[]}'", lists.filter((_, at) => at % 4 === 0), [20]]
  ] as const) {
    inApps(`S21: ends a list that runs before anything else of it does, for ${command}`, ({ cwd, handle }) =>
      Effect.gen(function* () {
        for (const list of tried) {
          const fiber = yield* Effect.fork(handle({ command: `touch begun; ${list}` }, "list"))
          while (!Fs.existsSync(`${cwd}/begun`)) yield* Effect.sleep(20)
          const { isError } = yield* handle({ command, restart: true })
          assert.isFalse(isError, list)
          assert.isTrue((yield* Fiber.join(fiber)).isError, list)
          Fs.rmSync(`${cwd}/begun`)
          assert.deepStrictEqual(Fs.readdirSync(cwd), [], list)
        }
      })
    )

    for (const delay of delays) {
      inApps(`S21: ends a list whose shell is only just starting, after ${delay} ms, for ${command}`, (app) =>
        Effect.gen(function* () {
          const { cwd, handle } = app
          const fiber = yield* Effect.fork(handle({ command: "sleep 120; touch after" }, "list"))
          yield* Effect.sleep(delay)
          const { isError } = yield* handle({ command, restart: true })
          assert.isFalse(isError)
          const { isError: isEnded, output } = yield* Fiber.join(fiber)
          assert.isTrue(isEnded)
          assert.match(output, /The session was restarted or ended (while|before) the command ran/)
          assert.deepStrictEqual(Fs.readdirSync(cwd), [])
          assert.strictEqual((yield* app.run("echo on")).stdout, "on\n")
        })
      )
    }
  }

  inApps("that is cancelled says nothing of the sandbox that is over to the next command", ({ handle, run }) =>
    Effect.gen(function* () {
      for (const delay of [0, 1, 2, 3, 4, 6, 8]) {
        yield* run("true")
        // By then, the masks are looked at again before a command.
        yield* Effect.sleep(110)
        const restart = yield* Effect.fork(handle({ command: "true", restart: true }, "restart"))
        yield* Effect.sleep(delay)
        const cancelled = yield* Effect.fork(Fiber.interrupt(restart))
        const { extras, output } = yield* handle({ command: "echo on" })
        assert.deepStrictEqual([output, extras.diagnostics], ["on\n", undefined])
        yield* Fiber.join(cancelled)
      }
    })
  )
})
