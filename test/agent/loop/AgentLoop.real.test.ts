/** Runs of agents over this machine's own bash: in a sandbox where there can be one, and without. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import type * as Prompt from "@effect/ai/Prompt"
import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as AgentLoop from "../../../src/agent/loop/AgentLoop.js"
import * as AgentSettings from "../../../src/agent/loop/AgentSettings.js"
import type { CommandHandler } from "../../../src/command/CommandHandler.js"
import * as CommandListener from "../../../src/domain/CommandListener.js"
import * as CommandResult from "../../../src/domain/CommandResult.js"
import * as Synapse from "../../../src/Synapse.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import * as FakeModel from "../../support/agent/FakeModel.js"
import * as Running from "../../support/agent/Running.js"
import * as Extension from "../../support/Extension.js"
import * as Handlers from "../../support/Handlers.js"
import { isSandboxed } from "../../support/sandbox/Bubblewrap.js"
import * as Directory from "../../support/sandbox/Directory.js"

/** A test with an app of its own, in a sandbox and without one. */
const inApps = (
  name: string,
  use: (services: {
    readonly run: (run: Omit<AgentLoop.Run, "toolset">) => Stream.Stream<Running.Seen["events"][number]>
    readonly cwd: string
  }) => Effect.Effect<unknown>,
  handlers: () => ReadonlyArray<CommandHandler> = () => []
) => {
  for (const enabled of isSandboxed ? [true, false] : [false]) {
    it.live(
      enabled ? name : `${name} (without a sandbox)`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const cwd = yield* Directory.make
            const outside = yield* Directory.make
            const sandbox = { home: `${outside}/home`, temporary: outside, enabled }
            const app = Layer.merge(
              Synapse.layer({ cwd }, { sandbox, commands: Extension.commands(handlers()) }),
              Layer.provide(AgentLoop.layer, AgentSettings.layer())
            )
            yield* Effect.provide(
              Effect.flatMap(Effect.all([AgentLoop.AgentLoop, Toolset]), ([loop, toolset]) =>
                use({ cwd, run: (run) => loop.run({ ...run, toolset }) })
              ),
              app
            )
          })
        ),
      60_000
    )
  }
}

const outputs = (events: Running.Seen["events"]) => Running.only(events, "ToolEnded").map(({ result }) => result.output)

/** The results that a request holds. */
const sent = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.flatMap((message) => (message.role === "tool" ? message.content.map(({ result }) => String(result)) : []))

describe("AgentLoop over a real shell", () => {
  inApps("works in one shell that stays, and writes what it was told to write", ({ cwd, run }) =>
    Effect.gen(function* () {
      const fake = yield* FakeModel.make([
        { calls: ["mkdir d && cd d && X=1", 'echo "$X" >f; pwd'] },
        { calls: ["cat f; basename $PWD"] },
        { text: "Done." }
      ])
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(run({ prompt: "go", model: fake.model })))
      assert.strictEqual(outputs(events)[2], "1\nd\n")
      assert.strictEqual(Fs.readFileSync(`${cwd}/d/f`, "utf8"), "1\n")
    })
  )

  inApps("old outputs are left out, and those that a file holds are found there", ({ run }) =>
    Effect.gen(function* () {
      const again = /^\[output left out to save room: \d+ characters; run the command again where you need it\]$/
      const whole = /^\[output left out to save room: \d+ characters; all of it: (\S+)\]$/
      let cut: RegExpExecArray | null = null
      const commands = ["seq 1 1500", "seq 1 20000", ...Array.from({ length: 8 }, (_, at) => `seq ${at} 2500`)]
      const fake = yield* FakeModel.make(
        (messages, at) => {
          const command = commands[at]
          if (command !== undefined) return { calls: [command] }
          const results = sent(messages)
          cut ??= whole.exec(results[1] ?? "")
          if (at === commands.length) return { calls: [`wc -l <'${cut?.[1]}'`] }
          return { text: results[0] ?? "" }
        },
        { contextWindow: 25_000 }
      )
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(run({ prompt: "go", model: fake.model })))
      assert.strictEqual(outputs(events)[commands.length], "20000\n")
      const [ended] = Running.only(events, "Ended")
      assert.match(ended?.text ?? "", again)
      // In batches: fewer times than there were turns with too much.
      const compactions = Running.only(events, "Compacted")
      assert.isAtMost(compactions.length, 3)
      assert.isAtLeast(compactions[0]?.replaced ?? 0, 2)
    })
  )

  inApps("interrupting the stream ends the command and all that it started", ({ run, cwd }) =>
    Effect.gen(function* () {
      const fake = yield* FakeModel.make([{ calls: ["echo $$ >pid; (sleep 1234 & echo $! >child; wait)"] }])
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        Stream.runForEach(run({ prompt: "go", model: fake.model }), ({ _tag }) =>
          _tag === "ToolStarted" ? Deferred.succeed(begun, undefined) : Effect.void
        )
      )
      yield* Deferred.await(begun)
      const child = `${cwd}/child`
      while (!Fs.existsSync(child) || Fs.readFileSync(child, "utf8") === "") yield* Effect.sleep(5)
      yield* Fiber.interrupt(fiber)
      const sleeping = ChildProcess.spawnSync("pgrep", [
        "-f",
        `^sleep 1234$`,
        "-P",
        Fs.readFileSync(`${cwd}/pid`, "utf8").trim()
      ])
      assert.strictEqual(sleeping.stdout.toString(), "")
    })
  )

  /** A task that ends when five of them run. */
  const task = (): CommandHandler => {
    const open = Deferred.unsafeMake<void>(FiberId.none)
    let waiting = 0
    return {
      ...Handlers.show,
      name: "task:*",
      run: ({ args }) =>
        Effect.gen(function* () {
          if (++waiting === 5) yield* Deferred.succeed(open, undefined)
          yield* Deferred.await(open)
          return CommandResult.make({ stdout: `${args.at(-1)}\n` })
        })
    }
  }
  inApps(
    "five tasks of one turn really run at once, behind a command of the same turn",
    ({ run }) =>
      Effect.gen(function* () {
        const calls = [1, 2, 3, 4, 5].map((at) => `task:general --description d --prompt ${at}`)
        const fake = yield* FakeModel.make([{ calls: ["sleep 0.1; echo 0", ...calls] }, { text: "Done." }])
        const events = Chunk.toReadonlyArray(yield* Stream.runCollect(run({ prompt: "go", model: fake.model })))
        assert.deepStrictEqual(sent(fake.requests[1] ?? []), ["0\n", "1\n", "2\n", "3\n", "4\n", "5\n"])
        assert.strictEqual((events.at(-1) as Running.Ended).ending, "done")
      }),
    () => [task()]
  )

  inApps(
    "what a task uses within a pipe counts as well",
    ({ run }) =>
      Effect.gen(function* () {
        const fake = yield* FakeModel.make([{ calls: ["uses | cat"] }, { text: "Done." }])
        const events = Chunk.toReadonlyArray(yield* Stream.runCollect(run({ prompt: "go", model: fake.model })))
        assert.deepStrictEqual(outputs(events), ["used\n"])
        assert.isAtLeast((events.at(-1) as Running.Ended).usage.input, 1_000_000)
      }),
    () => [
      {
        ...Handlers.show,
        name: "uses",
        run: () =>
          Effect.map(FiberRef.get(CommandListener.current), ({ account }) => {
            account?.add({ input: 1_000_000, output: 0, cached: 0, cost: undefined })
            return CommandResult.make({ stdout: "used\n" })
          })
      }
    ]
  )
})
