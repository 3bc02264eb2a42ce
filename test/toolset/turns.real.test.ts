/** Calls run in the order they came, whether the shell runs them or not. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { CommandHandler } from "../../src/command/CommandHandler.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import { type App, inApps } from "../support/toolset/App.js"

const list = (content: string) => `TodoWrite '{"todos":[{"content":"${content}","activeForm":"x","status":"pending"}]}'`

/** Begins a command that lasts until it is let go, and waits until it has begun. */
const holding = ({ cwd, handle }: App, then: string) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(
      handle({ command: `touch begun; until [[ -e go ]]; do sleep .05; done; ${then}` }, "first")
    )
    while (!Fs.existsSync(`${cwd}/begun`)) yield* Effect.sleep(10)
    return { fiber, letGo: Effect.sync(() => Fs.writeFileSync(`${cwd}/go`, "")) }
  })

describe("a plain TodoWrite", () => {
  inApps("waits for the command that runs and for those that wait", (app) =>
    Effect.gen(function* () {
      const first = yield* holding(app, list("first"))
      const others = yield* Effect.forEach([list("second"), list("third"), "TodoWrite --show"], (command, at) =>
        Effect.fork(app.handle({ command, timeout: 60_000 }, `other ${at}`))
      )
      const native = yield* Effect.fork(app.handle({ command: "TodoWrite --show | tail -n 1" }, "native"))
      yield* Effect.sleep(100)
      assert.deepStrictEqual(
        (yield* Effect.forEach([...others, native], Fiber.poll)).map(({ _tag }) => _tag),
        ["None", "None", "None", "None"]
      )
      yield* first.letGo
      yield* Fiber.join(first.fiber)
      const shown = yield* Fiber.join(others[2] as Fiber.RuntimeFiber<{ readonly output: string }>)
      assert.match(shown.output, /\[ \] third\n?$/)
      assert.match((yield* Fiber.join(native)).output, /^\[ \] third\n?$/)
    })
  )

  inApps("counts its timeout from its begin", (app) =>
    Effect.gen(function* () {
      const first = yield* holding(app, "true")
      const second = yield* Effect.fork(app.handle({ command: list("second"), timeout: 2000 }, "second"))
      yield* Effect.sleep(2100)
      yield* first.letGo
      assert.isFalse((yield* Fiber.join(second)).isError)
    })
  )

  inApps("that is cancelled while it waits gives 130 and changes nothing", (app) =>
    Effect.gen(function* () {
      const first = yield* holding(app, "(exit 7)")
      const second = yield* Effect.fork(app.handle({ command: list("second") }, "second"))
      yield* Effect.sleep(50)
      assert.isTrue(yield* app.cancel("second"))
      assert.strictEqual((yield* Fiber.join(second)).extras.exitCode, 130)
      yield* first.letGo
      yield* Fiber.join(first.fiber)
      assert.match((yield* app.handle({ command: "echo $?; TodoWrite --show" })).output, /^7\n0 completed.*pending\n?$/)
    })
  )

  inApps("that waits runs once where a later call restarts the shell", (app) =>
    Effect.gen(function* () {
      const first = yield* holding(app, "true")
      const second = yield* Effect.fork(app.handle({ command: list("second") }, "second"))
      yield* Effect.sleep(50)
      const third = yield* app.handle({ command: "TodoWrite --show", restart: true }, "third")
      assert.match(third.output, /\[ \] second\n?$/)
      assert.isFalse((yield* Fiber.join(second)).isError)
      assert.isTrue((yield* Fiber.join(first.fiber)).isError)
    })
  )
})

const bytes = (text: string) => new TextEncoder().encode(text)

/** Writes a line at once, and stays until it is ended; with a word, it only writes that. */
const staying: CommandHandler = {
  name: "staying",
  summary: "Stays.",
  usage: "staying",
  run: ({ args: [word], write }) =>
    word === undefined
      ? Effect.zipRight(write(bytes("so far\n")), Effect.never)
      : Effect.as(write(bytes(`${word}\n`)), CommandResult.make())
}

describe("a plain command of a program's own", () => {
  inApps(
    "keeps what it wrote where it is ended, as it does in a pipe",
    (app) =>
      Effect.gen(function* () {
        for (const command of ["staying", "staying | cat"]) {
          const { extras, output } = yield* app.handle({ command, timeout: 300 })
          assert.deepStrictEqual([extras.exitCode, extras.stdout], [124, "so far\n"], command)
          assert.match(output, /^so far\nCommand execution timeout: /)
        }
      }),
    [staying]
  )

  inApps(
    "waits for the commands that came before it, and those that come after it wait for it",
    (app) =>
      Effect.gen(function* () {
        const first = yield* holding(app, "echo first >>order")
        const second = yield* Effect.fork(app.handle({ command: "staying second" }, "second"))
        const third = yield* Effect.fork(app.handle({ command: "echo third >>order; cat order" }, "third"))
        yield* Effect.sleep(100)
        assert.deepStrictEqual(
          (yield* Effect.forEach([second, third], Fiber.poll)).map(({ _tag }) => _tag),
          ["None", "None"]
        )
        yield* first.letGo
        assert.strictEqual((yield* Fiber.join(second)).output, "second\n")
        assert.strictEqual((yield* Fiber.join(third)).output, "first\nthird\n")
        const stays = yield* Effect.fork(app.handle({ command: "staying" }, "stays"))
        yield* Effect.sleep(100)
        const last = yield* Effect.fork(app.handle({ command: "echo last" }, "last"))
        yield* Effect.sleep(100)
        assert.strictEqual((yield* Fiber.poll(last))._tag, "None")
        yield* app.cancel("stays")
        assert.strictEqual((yield* Fiber.join(stays)).extras.stdout, "so far\n")
        assert.strictEqual((yield* Fiber.join(last)).output, "last\n")
      }),
    [staying]
  )
})
