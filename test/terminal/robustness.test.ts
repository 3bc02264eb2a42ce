/** What hostile texts, any order of events, many of them, and a slow terminal can't break. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import type { RunEvent } from "../../src/terminal/RunEvent.js"
import * as Events from "../support/terminal/Events.js"
import { using } from "../support/terminal/Rendered.js"
import * as Screen from "../support/terminal/Screen.js"

const attacks = [
  "\x1b]0;owned\x07",
  "\x1b]52;c;b3duZWQ=\x07",
  "\x1b[2J\x1b[H",
  "\x1b[5A\x1b[2K",
  "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
  "\x1b[?2026h",
  "\x1b[?25l",
  "\x1b[?1049h",
  "\x9b2J",
  "\x9d0;owned\x9c",
  "\x1bP+q544e\x1b\\",
  "\x1bc",
  "\u202eevil\u2066",
  "a\rb\x08\x7f\x00\x0b\x0c\x85",
  "\ud800"
]

/** The sequences that the renderer itself writes. */
const own = /\x1b\[(?:\?2026[hl]|\?7[hl]|\?25[hl]|\d+[AB]|J|K|(?:1|2|31|32|36)?m)|\r\n|\r|\n/g

describe("TerminalRenderer", () => {
  it.effect("carries out no sequence of an output, a name, a description, a text or a reason", () =>
    Effect.forEach([true, false], (isLive) =>
      using(Screen.make(80, 24, isLive), ({ lines, screen, take }) =>
        Effect.gen(function* () {
          for (const attack of attacks) {
            const task = Events.task(attack, `x${attack}y`, `t${attack}`)
            yield* take(task.started, task.tool("1", `ls ${attack}`), task.toolEnded("1", `ls ${attack}`, attack))
            yield* lines
            yield* take(task.ended("failed", `why ${attack}`), Events.said(attack), Events.turnEnded)
            yield* take(Events.started("1", `cat ${attack}`), Events.ended("1", `cat ${attack}`, `out ${attack}`))
            yield* lines
          }
          const left = isLive ? screen.written().replace(own, "") : screen.written().replaceAll("\n", "")
          assert.notMatch(left, /[\p{Cc}\u202e\u2066]/u)
          const { cursor, held, title } = screen.state()
          assert.deepStrictEqual([cursor, held, title], [true, false, ""])
        })
      )
    )
  )

  const event = FastCheck.oneof(
    FastCheck.record({
      kind: FastCheck.constant("said" as const),
      text: FastCheck.stringMatching(/^[a-z日é \n]{0,40}$/)
    }),
    FastCheck.record({
      kind: FastCheck.constantFrom("start", "tool", "end", "draw", "tick"),
      text: FastCheck.constantFrom("1", "2", "3")
    }),
    FastCheck.record({
      kind: FastCheck.constant("resize" as const),
      text: FastCheck.constantFrom("40", "60", "80", "120")
    })
  )

  it.effect("leaves the plain lines of a run, whatever the order of its events", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(FastCheck.array(event, { maxLength: 40 }), (events) =>
          Effect.runPromise(
            using(Screen.make(80, 24), ({ flush, lines, screen, take }) =>
              Effect.gen(function* () {
                const running = new Map<string, number>()
                let said = ""
                for (const { kind, text } of events) {
                  const task = Events.task(text, `task ${text}`)
                  if (kind === "said") {
                    yield* take(Events.said(text))
                    said += text
                  } else if (kind === "start" && !running.has(text)) {
                    running.set(text, 0)
                    yield* take(task.started)
                  } else if (kind === "tool" && running.has(text)) {
                    running.set(text, (running.get(text) ?? 0) + 1)
                    yield* take(task.tool("1", `run ${text}`))
                  } else if (kind === "end" && running.delete(text)) yield* take(task.ended())
                  else if (kind === "draw") yield* flush
                  else if (kind === "resize") {
                    yield* flush
                    screen.resize(Number(text))
                    yield* flush
                  }
                }
                for (const text of running.keys()) yield* take(Events.task(text, `task ${text}`).ended())
                yield* take(Events.turnEnded)
                const shown = (yield* lines).filter((line) => !/^( {2}[├└]─• | {2}\.\.\. \(|✓ Task)/.test(line))
                const expected = said.split("\n").map((line) => line.trimEnd())
                while (expected.at(-1) === "") expected.pop()
                // Lines of tasks may stand between those of the text, never within one.
                while (shown.at(-1) === "") shown.pop()
                assert.deepStrictEqual(shown, expected)
                const ends = (yield* lines).filter((line) => line.startsWith("✓ Task")).length
                const starts = new Set<string>()
                let count = 0
                for (const { kind, text } of events) {
                  if (kind === "start" && !starts.has(text)) {
                    starts.add(text)
                    count++
                  } else if (kind === "end") starts.delete(text)
                }
                assert.strictEqual(ends, count)
              })
            )
          )
        ),
        { numRuns: 40 }
      )
    )
  )

  it.effect("draws at most 30 frames a second, however many events there are, and only what has changed", () =>
    using(Screen.make(), ({ flush, screen, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        yield* take(task.started)
        yield* flush
        const before = screen.chunks.length
        for (let time = 0; time < 1000; time += 10) {
          for (let n = 0; n < 100; n++) yield* take(task.tool("1", `read ${n}`))
          yield* TestClock.adjust("10 millis")
        }
        const frames = screen.chunks.slice(before)
        assert.isAtMost(frames.length, 30)
        assert.isAtLeast(frames.length, 10)
        yield* flush
        const { length } = screen.chunks
        yield* TestClock.adjust("125 millis")
        // The spinner's sign alone.
        for (const frame of screen.chunks.slice(length)) assert.isBelow(frame.length, 20)
      })
    )
  )

  it.effect("drops frames where the terminal is slow: no event waits, and no line is lost", () =>
    using(Screen.make(), ({ lines, screen, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        screen.stop()
        yield* take(task.started)
        yield* TestClock.adjust("1 second")
        const stopped = screen.chunks.length
        const said: Array<RunEvent> = []
        for (let n = 0; n < 2000; n++) said.push(task.tool("1", `read ${n}`), Events.said(`${n}\n`))
        yield* take(...said, task.ended())
        yield* TestClock.adjust("5 seconds")
        assert.lengthOf(screen.chunks, stopped)
        screen.release()
        const shown = yield* lines
        assert.deepStrictEqual(
          shown.slice(0, 2000),
          Array.from({ length: 2000 }, (_, n) => String(n))
        )
        assert.include(shown[2000], "✓ Task(explore: find) [2000 tools")
      })
    )
  )

  it.effect("shows the cursor and pairs its frames when it is closed, whatever runs", () =>
    Effect.gen(function* () {
      const screen = Screen.make()
      const scope = yield* Scope.make()
      yield* using(screen, ({ flush, take }) =>
        Effect.gen(function* () {
          yield* take(Events.said("open"), Events.task("a", "find").started, Events.started("1", "ls"))
          yield* flush
          assert.isFalse(screen.state().cursor)
        })
      ).pipe(Scope.extend(scope))
      yield* Scope.close(scope, Exit.void)
      const { cursor, held } = screen.state()
      assert.deepStrictEqual([cursor, held], [true, false])
      const written = screen.written()
      assert.strictEqual(written.split("\x1b[?2026h").length, written.split("\x1b[?2026l").length)
      assert.deepStrictEqual(yield* Effect.promise(screen.lines), ["open"])
    })
  )
})
