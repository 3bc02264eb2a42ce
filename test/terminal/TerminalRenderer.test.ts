/** Through a terminal emulator: what a person sees at the end, and in between. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { RunEvent } from "../../src/terminal/RunEvent.js"
import * as Events from "../support/terminal/Events.js"
import { using } from "../support/terminal/Rendered.js"
import * as Screen from "../support/terminal/Screen.js"

const widths = [20, 40, 80, 200]

describe("TerminalRenderer on a terminal", () => {
  it.effect("S71, S72: shows each task at once, on a line of its own, while others run", () =>
    using(Screen.make(), ({ lines, take }) =>
      Effect.gen(function* () {
        const [a, b, c] = [Events.task("a", "find"), Events.task("b", "read"), Events.task("c", "find")]
        yield* take(a.started, a.tool("1", "read src/a.ts"))
        assert.deepStrictEqual(yield* lines, ["◐ Task(explore: find) [1 tool]", "  └─• read src/a.ts"])
        yield* take(b.started, c.started)
        assert.deepStrictEqual(yield* lines, [
          "◐ Task(explore: find) [1 tool]",
          "  └─• read src/a.ts",
          "◐ Task(explore: read)",
          "◐ Task(explore: find #2)"
        ])
        yield* take(b.ended(), a.tool("2", "ls"), a.toolEnded("2", "ls", "no"))
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(yield* lines, [
          "✓ Task(explore: read) [0.0s]",
          "◐ Task(explore: find) [2 tools, 2s]",
          "  ├─• read src/a.ts",
          "  └─✗ ls",
          "◐ Task(explore: find #2) [2s]"
        ])
      })
    )
  )

  it.effect("tells of a task whose model is asked again, above what runs", () =>
    using(Screen.make(60), ({ lines, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        yield* take(task.started, task.retrying("anthropic can't answer now (529: busy\x1b[2J)", 61_000))
        assert.deepStrictEqual(yield* lines, [
          "• Task(explore: find): trying again in 61 s: anthropic c...",
          "◐ Task(explore: find)"
        ])
      })
    )
  )

  it.effect("S73: shows the newest tools of a task, and how many there were before", () =>
    using(Screen.make(), ({ lines, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        yield* take(task.started, ...[1, 2, 3, 4, 5, 6].map((n) => task.tool(`${n}`, `read ${n}`)))
        const newest = ["  ├─• read 3", "  ├─• read 4", "  ├─• read 5"]
        const shown = ["  ... (1 earlier tool)", "  ├─• read 2", ...newest, "  └─• read 6"]
        assert.deepStrictEqual(yield* lines, ["◐ Task(explore: find) [6 tools]", ...shown])
        yield* take(task.tool("7", "read 7"), task.ended())
        assert.deepStrictEqual(yield* lines, [
          "✓ Task(explore: find) [7 tools, 0.0s]",
          "  ... (2 earlier tools)",
          ...newest,
          "  ├─• read 6",
          "  └─• read 7"
        ])
      })
    )
  )

  it.effect("shows as many of the newest tools as its window has lines", () =>
    using(
      Screen.make(),
      ({ lines, take }) =>
        Effect.gen(function* () {
          const task = Events.task("a", "find")
          yield* take(task.started, task.tool("1", "one"), task.tool("2", "two"))
          assert.deepStrictEqual((yield* lines).slice(1), ["  ... (1 earlier tool)", "  └─• two"])
        }),
      { maxRecentTools: 1 }
    )
  )

  it.effect("S75: cuts a long description, and every line that is wider than the terminal", () =>
    Effect.forEach(widths, (width) =>
      using(Screen.make(width), ({ lines, screen, take }) =>
        Effect.gen(function* () {
          const task = Events.task("a", "語".repeat(50) + "d".repeat(300))
          yield* take(task.started, task.tool("1", "x".repeat(300)))
          const rows = [...(yield* lines), ...(yield* Effect.promise(screen.rows))]
          assert.lengthOf(rows, 4)
          for (const row of rows) assert.include(row, "...")
          yield* take(task.ended(), Events.started("1", "y".repeat(300)), Events.ended("1", "y".repeat(300), ""))
          assert.lengthOf(yield* lines, 3)
          assert.lengthOf(yield* Effect.promise(screen.rows), 3)
        })
      )
    )
  )

  it.effect("S75: cuts a description that is too long for any terminal", () =>
    using(Screen.make(400), ({ lines, take }) =>
      Effect.gen(function* () {
        yield* take(Events.task("a", "d".repeat(200)).started, Events.task("b", "d".repeat(201)).started)
        assert.deepStrictEqual(yield* lines, [
          `◐ Task(explore: ${"d".repeat(200)})`,
          `◐ Task(explore: ${"d".repeat(197)}...)`
        ])
      })
    )
  )

  it.effect("S76, S78: appends each TodoWrite to the stream, with its result", () =>
    using(Screen.make(), ({ lines, take }) =>
      Effect.gen(function* () {
        const write = (id: string, result: string) => [
          Events.started(id, `TodoWrite '{"todos":[]}'`),
          Events.ended(id, `TodoWrite '{"todos":[]}'`, result)
        ]
        yield* take(...write("1", "Todo list updated: 1 pending\n[ ] a\n"), Events.said("Well.\n"))
        yield* take(...write("2", "Todo list updated: 1 completed\n[x] a\n"))
        assert.deepStrictEqual(yield* lines, [
          "• TodoWrite",
          "  └─ Todo list updated: 1 pending",
          "     [ ] a",
          "Well.",
          "• TodoWrite",
          "  └─ Todo list updated: 1 completed",
          "     [x] a"
        ])
      })
    )
  )

  it.effect("shows the first lines of a command's result", () =>
    using(Screen.make(), ({ lines, take }) =>
      Effect.gen(function* () {
        yield* take(Events.started("1", "npm test"))
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual(yield* lines, ["◐ Bash(npm test) [3s]"])
        yield* take(Events.ended("1", "npm test", "1\n2\n3\n4\n5\n6\n[exit 2]", { exitCode: 2 }))
        assert.deepStrictEqual(yield* lines, [
          "✗ Bash(npm test) [exit code 2, 3.0s]",
          "  └─ 1",
          "     2",
          "     3",
          "     4",
          "     ... (3 more lines)"
        ])
      })
    )
  )

  it.effect("ends calls that were interrupted, so that nothing is live any more", () =>
    using(Screen.make(60), ({ lines, screen, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        yield* take(Events.said("I look"), Events.turnEnded, Events.started("1", "task:explore -d find -p x"))
        yield* take(task.started, Events.started("2", "sleep 60"))
        yield* TestClock.adjust("3 seconds")
        yield* take(task.ended("interrupted"), RunEvent.Interrupted())
        assert.deepStrictEqual(yield* lines, [
          "I look",
          "✗ Task(explore: find) FAILED (interrupted) [3.0s]",
          "✗ Bash(sleep 60) FAILED (interrupted) [3s]"
        ])
        const before = screen.written()
        yield* TestClock.adjust("3 seconds")
        yield* lines
        assert.strictEqual(screen.written(), before)
      })
    )
  )

  it.effect("leaves lines that are whole to the scroll-back, as they are, at every width", () =>
    Effect.forEach(widths, (width) =>
      using(Screen.make(width, 10), ({ lines, take }) =>
        Effect.gen(function* () {
          const said = Array.from({ length: 27 }, (_, at) => `${at} ${"word ".repeat(at % 9)}日本語.`)
          const task = Events.task("a", "go on")
          yield* take(task.started)
          for (const line of said) {
            for (const part of [line.slice(0, 5), line.slice(5), "\n"]) {
              yield* take(Events.said(part))
              yield* lines
            }
          }
          yield* take(task.ended())
          assert.deepStrictEqual(yield* lines, [
            ...said,
            width === 20 ? "✓ Task(explore:...)" : "✓ Task(explore: go on) [0.0s]"
          ])
        })
      )
    )
  )

  it.effect("leaves no ghost where the terminal changes its size", () =>
    Effect.forEach(
      [
        [80, 30, 80],
        [80, 21, 33, 120],
        [200, 20, 80]
      ],
      ([first = 80, ...others]) =>
        using(Screen.make(first), ({ lines, screen, take }) =>
          Effect.gen(function* () {
            const task = Events.task("a", "a task that is described at some length, so that it wraps")
            yield* take(Events.said("above\n"), task.started)
            for (const n of [1, 2, 3]) yield* take(task.tool(`${n}`, `read ${"a/long/path/".repeat(8)}`))
            yield* lines
            for (const columns of others) {
              screen.resize(columns)
              const shown = yield* lines
              assert.lengthOf(shown, 5, shown.join("\n"))
              assert.strictEqual(shown[0], "above")
            }
            yield* take(task.ended(), Events.said("below"), Events.turnEnded)
            const shown = yield* lines
            assert.deepStrictEqual([shown[0], shown.at(-1), shown.length], ["above", "below", 6])
          })
        )
    )
  )

  it.effect("leaves no ghost of wide characters, which a narrower terminal may break a column earlier", () =>
    Effect.forEach([39, 37, 27, 25, 19, 13], (columns) =>
      using(Screen.make(80, 60), ({ lines, screen, take }) =>
        Effect.gen(function* () {
          const task = Events.task("a", `${"日本語".repeat(12)}`)
          yield* take(Events.said("above\n"), task.started)
          for (const n of [1, 2, 3]) yield* take(task.tool(`${n}`, `echo ${"語".repeat(40)}`))
          yield* lines
          screen.resize(columns)
          const shown = yield* lines
          assert.lengthOf(shown, 5, shown.join("\n"))
          assert.strictEqual(shown[0], "above")
        })
      )
    )
  )

  it.effect("shows as many running tasks as fit", () =>
    using(Screen.make(80, 8), ({ lines, take }) =>
      Effect.gen(function* () {
        const tasks = Array.from({ length: 10 }, (_, at) => Events.task(`${at}`, `task ${at}`))
        for (const task of tasks.slice(0, 3)) yield* take(task.started, task.tool("1", "ls"), task.tool("2", "pwd"))
        assert.lengthOf(yield* lines, 3)
        for (const task of tasks.slice(3)) yield* take(task.started)
        assert.deepStrictEqual((yield* lines).at(-1), "... (5 more)")
        yield* take(...tasks.map((task) => task.ended()))
        assert.lengthOf(
          (yield* lines).filter((line) => line.startsWith("✓")),
          10
        )
      })
    )
  )
})

describe("TerminalRenderer.suspended", () => {
  it.effect("leaves the terminal to an effect: nothing is drawn until it has ended, and all of it then", () =>
    using(Screen.make(), ({ lines, screen, suspended, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        yield* take(task.started)
        yield* lines
        yield* suspended(
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* Effect.promise(screen.lines), [])
            assert.isTrue(screen.state().cursor)
            const { length } = screen.chunks
            yield* take(task.tool("1", "ls"), Events.said("said\n"))
            yield* TestClock.adjust("5 seconds")
            assert.lengthOf(screen.chunks, length)
            // One within another has it at once.
            yield* suspended(suspended(Effect.void))
          })
        )
        assert.deepStrictEqual(yield* lines, ["said", "◐ Task(explore: find) [1 tool, 5s]", "  └─• ls"])
      })
    )
  )

  it.effect("is had by one after another", () =>
    using(Screen.make(), ({ suspended }) =>
      Effect.gen(function* () {
        const order: Array<string> = []
        const hold = (name: string) =>
          suspended(
            Effect.sync(() => order.push(`${name} begins`)).pipe(
              Effect.zipRight(Effect.sleep("1 second")),
              Effect.zipRight(Effect.sync(() => order.push(`${name} ends`)))
            )
          )
        const both = yield* Effect.fork(Effect.all([hold("a"), hold("b")], { concurrency: 2 }))
        yield* TestClock.adjust("3 seconds")
        yield* Fiber.join(both)
        assert.deepStrictEqual(order, ["a begins", "a ends", "b begins", "b ends"])
      })
    )
  )
})
