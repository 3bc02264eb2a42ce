/** What a cancelled call says about its command: whether it was run at all. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as CallContext from "../../src/domain/CallContext.js"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Directory from "../support/sandbox/Directory.js"

const call = (id: string, command: string) => ({ id, name: "Bash", arguments: JSON.stringify({ command }) })

describe("a cancelled call", () => {
  for (const enabled of [true, false]) {
    it.live(`says whether its command was run, ${enabled ? "in" : "without"} a sandbox`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const cwd = yield* Directory.make
          const said = yield* Effect.gen(function* () {
            const toolset = yield* Toolset
            const begun = yield* Effect.makeLatch()
            const first = yield* toolset.handle(call("1", "echo on; sleep 60")).pipe(
              CallContext.locally({
                listener: {
                  // @effect-diagnostics-next-line runEffectInsideEffect:off
                  onOutput: () => Effect.runSync(begun.open)
                }
              }),
              Effect.fork
            )
            yield* begun.await
            const second = yield* Effect.fork(toolset.handle(call("2", "touch never")))
            const third = yield* Effect.fork(toolset.handle(call("3", "touch never")))
            yield* Effect.yieldNow()
            // The second has not even been started, the third waits for its turn.
            yield* toolset.cancel("2")
            yield* Effect.repeatN(Effect.yieldNow(), 200)
            yield* toolset.cancel("3")
            yield* toolset.cancel("1")
            return (yield* Effect.all([Fiber.join(first), Fiber.join(second), Fiber.join(third)])).map(
              ({ output }) => output
            )
          }).pipe(Effect.provide(Synapse.layer({ cwd }, { sandbox: { enabled, home: `${cwd}/home` } })))
          assert.deepStrictEqual(said, [
            "on\nCommand interrupted before it ended.",
            "Command cancelled before it began: it was not run.",
            "Command cancelled before it began: it was not run."
          ])
          assert.isFalse(Fs.existsSync(`${cwd}/never`))
        })
      )
    )
  }
})
