import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { CommandHandler } from "../../../src/command/CommandHandler.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as Running from "../../support/agent/Running.js"
import * as Handlers from "../../support/Handlers.js"

/** A task that ends only when `parties` of them run at once. It records which began and ended. */
const barrier = (parties: number) =>
  Effect.map(Deferred.make<void>(), (open) => {
    const log: Array<string> = []
    let waiting = 0
    const handler: CommandHandler = {
      ...Handlers.show,
      name: "task:*",
      run: ({ args }) =>
        Effect.gen(function* () {
          const name = args.at(-1) ?? ""
          log.push(`+${name}`)
          if (++waiting === parties) yield* Deferred.succeed(open, undefined)
          yield* Deferred.await(open)
          // The later the task, the earlier it ends.
          yield* Effect.repeatN(Effect.yieldNow(), 20 * (9 - Number(name)))
          log.push(`-${name}`)
          return CommandResult.make({ stdout: `${name}\n` })
        })
    }
    return { handler, log }
  })

const tasks = (...names: ReadonlyArray<number>) => names.map((name) => `task:general --description d --prompt ${name}`)

describe("task:* calls of one turn", () => {
  it.effect("five run at once, the sixth waits, and the results come back in the order of the calls", () =>
    Effect.gen(function* () {
      const { handler, log } = yield* barrier(5)
      const { events, fake } = yield* Running.collect([{ calls: tasks(1, 2, 3, 4, 5, 6) }, { text: "Done." }], {
        handlers: [handler]
      })
      assert.deepStrictEqual(log.slice(0, 5).toSorted(), ["+1", "+2", "+3", "+4", "+5"])
      assert.isAbove(log.indexOf("+6"), 5)
      const started = Running.tags(events).indexOf("ToolEnded")
      assert.strictEqual(events.slice(0, started).filter(({ _tag }) => _tag === "ToolStarted").length, 5)
      const results = fake.requests[1]?.at(-1)
      assert.deepStrictEqual(results?.role === "tool" ? results.content.map(({ result }) => result) : [], [
        "1\n",
        "2\n",
        "3\n",
        "4\n",
        "5\n",
        "6\n"
      ])
    })
  )

  it.effect("SYNAPSE_MAX_PARALLEL_TASKS is the most that run at once", () =>
    Effect.gen(function* () {
      const { handler, log } = yield* barrier(2)
      yield* Running.collect([{ calls: tasks(1, 2, 3) }, { text: "Done." }], {
        handlers: [handler],
        settings: { maxParallelTasks: 2 }
      })
      assert.isAbove(log.indexOf("+3"), 2)
    })
  )

  it.effect("other calls wait for the tasks before them, and the tasks behind them for those", () =>
    Effect.gen(function* () {
      const { handler, log } = yield* barrier(1)
      yield* Running.collect([{ calls: [...tasks(1, 2), "build", ...tasks(3, 4)] }, { text: "Done." }], {
        handlers: [handler],
        script: (command) => {
          log.push(command)
          return {}
        }
      })
      assert.deepStrictEqual(log.slice(0, 4).toSorted(), ["+1", "+2", "-1", "-2"])
      assert.strictEqual(log[4], "build")
      assert.deepStrictEqual(log.slice(5).toSorted(), ["+3", "+4", "-3", "-4"])
    })
  )
})
