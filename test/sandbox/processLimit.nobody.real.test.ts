/** A real shell of an ordinary user, at a limit of processes that it has set itself, or that the user has set. */
import * as Fs from "node:fs"
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

  it.live("of sandbox.json is named with its setting, by threads, children and a pool", () =>
    sandboxedOn(ground ?? "")(({ execute }, { outside }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(`${outside}/home/sandbox.json`, '{ "policy": { "limits": { "processes": 40 } } }')
        for (const command of [
          "python3 -c 'import threading, time; [threading.Thread(target=time.sleep, args=(0.5,)).start() for _ in range(60)]'",
          "python3 -c 'import multiprocessing; multiprocessing.Pool(60)'",
          "perl -e 'for (1..60) { defined(fork // die qq(fork: $!)) && !$$ }; sleep 1'"
        ]) {
          if (!Ground.has(command.split(" ", 1)[0] ?? "")) continue
          const { blockedReason = "" } = yield* execute(command)
          assert.match(blockedReason, /blocked by rule limits\.processes: commands have at most 40/, command)
        }
      })
    )
  )
})
