/** A real shell of an ordinary user, at a limit of processes that it has set itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ground from "../support/escape/Ground.js"
import { sandboxedOn } from "../support/sandbox/LocalApp.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the shell of an ordinary user at its limit of processes", () => {
  it.live(
    "shows why a command could start no process, and runs the next one, which needs none",
    () =>
      sandboxedOn(ground ?? "")(({ execute }) =>
        Effect.gen(function* () {
          const limited = yield* execute("echo a b; ulimit -Su 1; (exit 9)")
          // The limit is the command's own and not the sandbox's.
          assert.deepStrictEqual([limited.exitCode, limited.blockedRule], [254, undefined])
          assert.include(limited.stderr, "fork: Resource temporarily unavailable")
          const { exitCode, stderr, stdout } = yield* execute("echo $?; ulimit -Su hard; (exit 9)")
          assert.deepStrictEqual([exitCode, stdout, stderr], [9, "254\n", ""])
          assert.strictEqual((yield* execute("echo $? $_")).stdout, "9 hard\n")
        })
      ),
    60_000
  )
})
