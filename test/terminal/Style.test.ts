/** The colours of a terminal, told by `<code:text>`; a terminal without them gets the plain lines. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import type { Denial } from "../../src/domain/Diagnostic.js"
import * as TerminalRenderer from "../../src/terminal/TerminalRenderer.js"
import * as Events from "../support/terminal/Events.js"
import { using } from "../support/terminal/Rendered.js"
import * as Screen from "../support/terminal/Screen.js"

/** What was written, in lines, with its colours named. */
const coloured = (screen: Screen.Screen): ReadonlyArray<string> =>
  screen
    .written()
    .replace(/\x1b\[(\d+)m(.*?)\x1b\[m/g, "<$1:$2>")
    .replace(/\x1b\[[?\d]*[A-Za-z]|\r/g, "")
    .split("\n")
    .filter((line) => line !== "" && !/^[◐◓◑◒]/.test(line))

describe("colours", () => {
  it.effect("mark names, what failed or was denied, and diffs", () =>
    using(Screen.make(), ({ flush, screen, take }) =>
      Effect.gen(function* () {
        const task = Events.task("a", "find")
        yield* take(task.started, task.ended("failed", "no model"))
        yield* take(Events.ended("1", "git diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"))
        const denied = { what: "/x is read-only" } as Denial
        yield* take(
          Events.ended("2", "touch x", "sandbox: y\nsandbox: /x is read-only.\n-not a diff\n", { exitCode: 0, denied })
        )
        yield* take(Events.ended("3", "echo 1 FAILED", ""))
        yield* take(Events.ended("4", "edit f a b", "Replaced 1 occurrence in f (line 1)\n-a\n+b\n"))
        yield* flush
        assert.deepStrictEqual(coloured(screen), [
          "<31:✗> <1:Task>(explore: find)<31: FAILED [0.0s]>",
          "<2:  └─ >no model",
          "<2:•> <1:Bash>(git diff)",
          "<2:  └─ ><1:--- a/x>",
          "<2:     ><1:+++ b/x>",
          "<2:     ><36:@@ -1 +1 @@>",
          "<2:     ><31:-old>",
          "<2:     ><32:+new>",
          "<2:•> <1:Bash>(touch x)",
          "<2:  └─ >sandbox: y",
          "<2:     ><31:sandbox: /x is read-only.>",
          "<2:     >-not a diff",
          "<2:•> <1:Bash>(echo 1 FAILED)",
          "<2:•> <1:Bash>(edit f a b)",
          "<2:  └─ >Replaced 1 occurrence in f (line 1)",
          "<2:     ><31:-a>",
          "<2:     ><32:+b>"
        ])
      })
    )
  )

  it("mark the lines of a diff that is shown by itself", () => {
    const text = TerminalRenderer.diff("--- a/x\n@@ -1 +1 @@\n-old\n+new\n same")
    assert.strictEqual(
      text.replace(/\x1b\[(\d+)m(.*?)\x1b\[m/g, "<$1:$2>"),
      "<1:--- a/x>\n<36:@@ -1 +1 @@>\n<31:-old>\n<32:+new>\n same"
    )
  })

  it.effect("render the Markdown of a text, which a pipe gets as it is", () =>
    Effect.forEach([true, false], (isLive) =>
      using(Screen.make(80, 24, isLive), ({ flush, screen, take }) =>
        Effect.gen(function* () {
          const text = "## Done **now**\nUse `npm ci`, **not** 2 ** 3 ** 4.\n```sh\n# no heading\n"
          for (const part of [text.slice(0, 12), text.slice(12), "```\n- *a* snake_case"])
            yield* take(Events.said(part))
          yield* take(
            Events.turnEnded,
            Events.said("```\nopen"),
            Events.turnEnded,
            Events.said("# Next"),
            Events.turnEnded
          )
          yield* flush
          const lines = [...text.split("\n").slice(0, -1), "```", "- *a* snake_case", "```", "open", "# Next"]
          const styled = [
            "<1:Done now>",
            "Use <36:npm ci>, <1:not> 2 ** 3 ** 4.",
            "<2:```sh>",
            "<36:# no heading>",
            "<2:```>",
            "- *a* snake_case",
            "<2:```>",
            "<36:open>",
            "<1:Next>"
          ]
          assert.deepStrictEqual(coloured(screen), isLive ? styled : lines)
        })
      )
    )
  )

  it.effect("a person's time to answer is not that of a command", () =>
    using(Screen.make(), ({ asking, lines, take }) =>
      Effect.gen(function* () {
        yield* take(Events.started("1", "touch x"))
        yield* TestClock.adjust("1 seconds")
        yield* asking(TestClock.adjust("60 seconds"))
        yield* TestClock.adjust("1 seconds")
        yield* take(Events.ended("1", "touch x", ""))
        assert.deepStrictEqual(yield* lines, ["• Bash(touch x) [2.0s]"])
      })
    )
  )
})
