/** Against a real bash: with the session's scope ends all that it started. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Bridge from "../../src/bridge/Bridge.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as CallContext from "../../src/domain/CallContext.js"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import * as Fifo from "../../src/session/Fifo.js"
import * as Protocol from "../../src/session/internal/Protocol.js"
import { SessionDirectory } from "../../src/session/SessionDirectory.js"
import * as ShellBridge from "../../src/session/ShellBridge.js"
import * as Session from "../support/Session.js"
import { eventually, inSession, marked, result, withSession } from "../support/Session.js"

describe("the scope's end", () => {
  inSession("ends daemons, those too that ignore being asked", (subject) =>
    Effect.gen(function* () {
      yield* subject.run(
        "setsid nohup sleep 1051 >/dev/null 2>&1 & sleep 1052 & disown; trap '' TERM HUP INT; sleep 1053 &"
      )
      yield* subject.run("(setsid bash -c 'trap \"\" TERM HUP INT; while :; do sleep 0.1; done' &) >/dev/null 2>&1")
      const seen = yield* eventually(
        () => marked(subject.mark).length,
        (count) => count >= 5
      )
      assert.isAtLeast(seen, 5)
      // withSession asserts that none is left.
    })
  )

  for (const [name, command, matches] of [
    ["a daemon that clears its environment", "env -i setsid -f sleep N; echo on", /^sleep N$/],
    ["a daemon that clears it, and ignores all", "trap '' HUP TERM INT; env -i setsid sleep N & echo on", /sleep N$/],
    [
      "what forks all the time",
      "env -i setsid bash -c 'trap \"\" TERM HUP; f() { (read -t 0.01 <> <(:); f) & }; f; f; f; exec 0<&-' N >/dev/null 2>&1 & echo on",
      / N$/
    ]
  ] as const) {
    it.live(
      `ends ${name}`,
      () =>
        Effect.gen(function* () {
          const nap = `4${process.pid}.${Math.floor(Math.random() * 1e9)}`
          const own = new RegExp(matches.source.replace("N", nap))
          const found = () =>
            Fs.readdirSync("/proc").filter((pid) => {
              try {
                return own.test(Fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim())
              } catch {
                return false
              }
            })
          yield* withSession((subject) =>
            Effect.gen(function* () {
              yield* subject.run(command.replaceAll("N", nap))
              const seen = yield* eventually(found, ({ length }) => length > 0)
              assert.isNotEmpty(seen)
            })
          )
          assert.deepStrictEqual(found(), [])
        }),
      60_000
    )
  }

  it.live(
    "ends a command that runs, and fails it",
    () =>
      Effect.gen(function* () {
        const exit = yield* Deferred.make<Exit.Exit<CommandResult, unknown>>()
        yield* withSession((subject) =>
          Effect.gen(function* () {
            const context = yield* Effect.context<never>()
            const begun = yield* Effect.makeLatch()
            yield* subject.run("echo on; sleep 1000").pipe(
              // @effect-diagnostics-next-line runEffectInsideEffect:off
              CallContext.locally({ listener: { onOutput: () => Effect.runSync(begun.open) } }),
              Effect.exit,
              Effect.flatMap((end) => Deferred.succeed(exit, end)),
              Effect.provide(context),
              Effect.forkDaemon
            )
            yield* begun.await
          })
        )
        const end = yield* Deferred.await(exit)
        assert.isTrue(Exit.isFailure(end))
      }),
    60_000
  )

  it.live(
    "runs the user's own EXIT trap",
    () =>
      withSession(({ directory }) =>
        Effect.gen(function* () {
          const file = `${directory}/../farewell`
          yield* withSession(({ run }) => run(`trap 'echo bye > "${file}"' EXIT`))
          assert.strictEqual(Fs.readFileSync(file, "utf8"), "bye\n")
        })
      ),
    60_000
  )

  it.live(
    "refuses commands that come after it",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const session = yield* Session.make.pipe(Effect.provide(Session.services()), Scope.extend(scope))
        assert.deepStrictEqual(yield* session.execute("echo on"), result({ stdout: "on\n" }))
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(
          yield* Effect.flip(session.execute("echo on")),
          new ExecutionFailed({ kind: "crash", reason: "the session has ended" })
        )
      }),
    60_000
  )

  it.live("of a session that ran nothing starts nothing", () =>
    Effect.gen(function* () {
      const { cwd } = yield* Session.make
      assert.strictEqual(yield* cwd, process.cwd())
    }).pipe(Effect.scoped, Effect.provide(Session.services({ shellCommand: "nosuch" })))
  )

  it.live(
    "a shell whose host has died ends by itself",
    () =>
      Effect.gen(function* () {
        const directory = new SessionDirectory(crypto.randomUUID())
        yield* Effect.promise(() => Fifo.makeFifos([directory.state, directory.notFound]))
        const bridge = yield* Effect.provide(
          ShellBridge.ShellBridge,
          Layer.provide(Bridge.layer, CommandRegistry.layer)
        )
        directory.define(Protocol.definitions(directory, bridge))
        const child = ChildProcess.spawn("/bin/bash", ["--norc", "--noprofile", "--noediting", "-i"], {
          detached: true,
          stdio: ["pipe", "ignore", "ignore"]
        })
        child.stdin.end(`${Protocol.startUp(directory, bridge, "nonce", false, "/", "/")}nosuch\n`)
        const [code] = yield* Effect.promise(() => once(child, "exit"))
        assert.strictEqual(code, 127)
        directory.remove(false)
      }),
    60_000
  )
})
