/** Golden text: what is written where no line can be drawn anew. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { RunEvent } from "../../src/terminal/RunEvent.js"
import * as Events from "../support/terminal/Events.js"
import { using } from "../support/terminal/Rendered.js"
import * as Screen from "../support/terminal/Screen.js"

const todos = (id: string, result: string) => [
  Events.started(id, `TodoWrite '{"todos":[]}'`),
  Events.ended(id, `TodoWrite '{"todos":[]}'`, result)
]

describe("without a terminal", () => {
  it.effect("S74, S77: writes static lines, each of which names its task, and no control sequence", () =>
    using(Screen.make(80, 24, false), ({ flush, screen, take }) =>
      Effect.gen(function* () {
        const [a, b] = [Events.task("a", "find the router"), Events.task("b", "d".repeat(300))]
        yield* take(Events.said("I look "), Events.said("first.\x1b[2J\nThen"), Events.turnEnded)
        yield* take(Events.started("1", "task:explore -d 'find the router' -p x"), a.started, b.started)
        yield* take(a.retrying("busy\x1b[2J", 1500), b.retrying("now without images", 0))
        yield* take(a.tool("1", "read src/a.ts"), b.tool("2", "ls\nnope"), a.toolEnded("1", "read src/a.ts"))
        yield* take(b.toolEnded("2", "ls\nnope", "exit code 2"))
        yield* TestClock.adjust("2100 millis")
        yield* take(
          a.ended("done", "It is there."),
          Events.ended("1", "task:explore -d 'find the router' -p x", "It is there.")
        )
        yield* take(b.ended("failed", "The model is gone.\nReally."))
        yield* take(...todos("2", "Todo list updated: 0 completed, 1 in progress, 1 pending\n[>] a\n[ ] b\n"))
        yield* take(...todos("3", "Todo list updated: 1 completed, 1 in progress, 0 pending\n[x] a\n[>] b\n"))
        yield* take(Events.started("4", "make"))
        yield* take(RunEvent.Notice({ text: "a notice" }), Events.ended("4", "make", "built\n"))
        yield* take(Events.started("5", "false"), Events.ended("5", "false", "[exit 1]", { exitCode: 1 }))
        yield* take(Events.started("6", "sleep 9"), RunEvent.Interrupted(), RunEvent.Interrupted())
        yield* take(RunEvent.Retrying({ reason: "overloaded", delay: 1500 }))
        yield* flush
        const name = `explore: ${"d".repeat(197)}...`
        assert.deepStrictEqual(screen.written().split("\n"), [
          "I look first.\\u001b[2J",
          "Then",
          "◐ Task(explore: find the router)",
          `◐ Task(${name})`,
          "  ├─• Task(explore: find the router): trying again in 2 s: busy\\u001b[2J",
          `  ├─• Task(${name}): trying again: now without images`,
          "  ├─• Task(explore: find the router): read src/a.ts",
          `  ├─• Task(${name}): ls nope`,
          `  ├─✗ Task(${name}): ls nope: exit code 2`,
          "✓ Task(explore: find the router) [1 tool, 2.1s]",
          `✗ Task(${name}) FAILED [1 tool, 2.1s]`,
          "  └─ The model is gone.",
          "     Really.",
          "• TodoWrite",
          "  └─ Todo list updated: 0 completed, 1 in progress, 1 pending",
          "     [>] a",
          "     [ ] b",
          "• TodoWrite",
          "  └─ Todo list updated: 1 completed, 1 in progress, 0 pending",
          "     [x] a",
          "     [>] b",
          "• Bash(make)",
          "a notice",
          "• Bash(make)",
          "  └─ built",
          "• Bash(false)",
          "✗ Bash(false) [exit code 1]",
          "  └─ [exit 1]",
          "• Bash(sleep 9)",
          "✗ Bash(sleep 9) FAILED (interrupted)",
          "• trying again in 2 s: overloaded",
          ""
        ])
        assert.notMatch(screen.written().replaceAll("\n", ""), /\p{Cc}/u)
      })
    )
  )
})
