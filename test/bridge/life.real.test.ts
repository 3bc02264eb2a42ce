import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import type { CommandHandler } from "../../src/command/CommandHandler.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Handlers from "../support/Handlers.js"
import * as Session from "../support/Session.js"
import { eventually, result, type Subject, withSession } from "../support/Session.js"
import * as Directory from "../support/sandbox/Directory.js"

const inSession = (
  name: string,
  body: (subject: Subject) => Effect.Effect<void, unknown>,
  handlers: ReadonlyArray<CommandHandler> = Handlers.all
) => it.live(name, () => withSession(body, {}, handlers), 120_000)

/** A command that tells when it has begun, and how it ended. */
const waiting = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<boolean>()
  const handler: CommandHandler = {
    ...Handlers.show,
    name: "wait-for-ever",
    run: () =>
      Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(Effect.never),
        Effect.onExit((exit) => Deferred.succeed(ended, Exit.isInterrupted(exit)))
      )
  }
  return { begun, ended, handler }
})

/** All slots serve again: more calls at once than there were slots at the start. */
const assertServing = ({ run }: Subject) =>
  Effect.map(run("for i in {1..9}; do fail 0 . & done; wait"), ({ diagnostics: _, ...seen }) =>
    assert.deepStrictEqual(seen, result({ stdout: "........." }))
  )

describe("a call", () => {
  it.live(
    "is interrupted with the command that made it",
    () =>
      Effect.gen(function* () {
        const { begun, ended, handler } = yield* waiting
        yield* withSession(
          (subject) =>
            Effect.gen(function* () {
              const fiber = yield* Effect.fork(subject.run("x=kept; wait-for-ever | cat"))
              yield* Deferred.await(begun)
              yield* Fiber.interrupt(fiber)
              assert.isTrue(yield* Deferred.await(ended))
              assert.deepStrictEqual(yield* subject.run("echo $x"), result({ stdout: "kept\n" }))
              yield* assertServing(subject)
            }),
          {},
          [handler, ...Handlers.all]
        )
      }),
    60_000
  )

  it.live(
    "is interrupted when its caller is killed, and when its command has run out of time",
    () =>
      Effect.gen(function* () {
        for (const command of ["wait-for-ever & sleep 0.3; pkill -KILL -f /stub; wait; true", "wait-for-ever"]) {
          const { ended, handler } = yield* waiting
          yield* withSession(
            (subject) =>
              Effect.gen(function* () {
                const seen = yield* Effect.either(subject.run(command, { timeout: 1000 }))
                assert.strictEqual(seen._tag, command === "wait-for-ever" ? "Left" : "Right")
                assert.isTrue(yield* Deferred.await(ended))
                yield* assertServing(subject)
              }),
            {},
            [handler, ...Handlers.all]
          )
        }
      }),
    60_000
  )

  inSession("ends with its session", ({ run }) =>
    Effect.asVoid(run("(sleep 60 | count) & (count <>/dev/zero) & sleep 0.2"))
  )

  inSession("has its turn among many", (subject) =>
    Effect.gen(function* () {
      const seen = yield* subject.run(
        "seq 200 | xargs -P 100 -n 1 fail 0 | tr -d '\\n' | wc -c; seq 200 | tr -d '\\n' | wc -c"
      )
      const [one, other] = seen.stdout.split("\n")
      assert.strictEqual(one, other)
      assert.strictEqual(one, "492")
    })
  )

  inSession("leaves nothing behind, a hundred times", (subject) =>
    Effect.gen(function* () {
      const descriptors = () => Fs.readdirSync("/proc/self/fd").length
      yield* subject.run("for i in {1..20}; do show $i; done | wc -l")
      const before = yield* eventually(descriptors, (now) => now > 0)
      const seen = yield* subject.run("for i in {1..50}; do show $i | count; done | sort -n | uniq -c | wc -l", {
        timeout: 100_000
      })
      assert.strictEqual(seen.stdout, "2\n")
      const after = yield* eventually(descriptors, (now) => now <= before)
      assert.isAtMost(after, before)
    })
  )

  inSession("is not disturbed by what is written to its pipes", (subject) =>
    Effect.gen(function* () {
      const seen = yield* subject.run(
        "d=$(dirname $(dirname $(type -P show))); for f in $d/calls $d/slot-*-ask; do head -c 100000 /dev/urandom 1<>$f >$f & done; " +
          "sleep 0.2; printf '0123zz\\n\\0' 1<>$d/calls; kill $(jobs -p) 2>/dev/null; wait; echo on"
      )
      assert.strictEqual(seen.stdout, "on\n")
      assert.deepStrictEqual(yield* subject.run("echo next"), result({ stdout: "next\n" }))
    })
  )

  inSession("gets its turn after others have lost theirs", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("head -c 4 $(dirname $(dirname $(type -P show)))/tickets >/dev/null")
      yield* subject.run(
        "for i in 1 2 3 4; do (ulimit -n 20; fail 0 .); done; enable -n printf; fail 0 .; enable printf"
      )
      yield* assertServing(subject)
    })
  )

  inSession("takes no request that is none, nor time for it", ({ run }) =>
    Effect.gen(function* () {
      const forged = (header: string) =>
        `d=$(dirname $(dirname $(type -P show))); LC_ALL=C read -rN1 s <$d/tickets; printf $s >$d/calls; ` +
        `{ printf '${header}'; head -c 3000000 /dev/zero; } >$d/slot-$s-ask; echo over`
      for (const header of ["/\\0none\\0999999999\\0", "/\\0none\\0x\\0", "/\\0none\\0-1\\0"]) {
        assert.strictEqual((yield* run(forged(header), { timeout: 10_000 })).exitCode, 0)
      }
      assert.deepStrictEqual(yield* run("fail 0 on"), result({ stdout: "on" }))
    })
  )

  it.live(
    "takes away what it has begun when its session ends",
    () =>
      Effect.gen(function* () {
        const directory = yield* Directory.make
        yield* withSession(
          ({ run }) =>
            run(`cd ${directory}; echo kept >f; (yes | write f) & (yes | write new) & sleep 0.3; ls -A | wc -l`),
          {},
          Handlers.all
        )
        assert.deepStrictEqual(Directory.list(directory), ["f"])
        assert.strictEqual(Fs.readFileSync(`${directory}/f`, "utf8"), "kept\n")
      }).pipe(Effect.scoped),
    60_000
  )

  inSession("works after its pipes were deleted, all of them or some", (subject) =>
    Effect.gen(function* () {
      for (const gone of ["slot-*", "calls", "tickets"]) {
        yield* Effect.either(subject.run(`rm "$(dirname $(dirname $(type -P show)))"/${gone}`))
        if (gone.startsWith("slot")) {
          // That they are gone is noticed with a call that fails, when it is heard.
          yield* Effect.either(subject.run("fail 0 x"))
          yield* Effect.sleep("100 millis")
        }
        yield* assertServing(subject)
      }
    })
  )

  inSession("works after its pipes were deleted", (subject) =>
    Effect.gen(function* () {
      yield* subject.run('rm -rf "$(dirname $(dirname $(type -P show)))"')
      const { stdout } = yield* subject.run("fail 0 a; fail 0 b | cat; type -P show >/dev/null && echo found")
      assert.strictEqual(stdout, "abfound\n")
    })
  )

  inSession("works in the shell that follows one that ended", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("exit 3")
      yield* assertServing(subject)
      yield* subject.run("kill -9 $$")
      yield* assertServing(subject)
    })
  )

  it.live("reaches a command that was added meanwhile, and one that was taken away no more", () =>
    Effect.gen(function* () {
      const session = yield* Session.make
      const registry = yield* CommandRegistry.CommandRegistry
      yield* session.execute("true")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* registry.add({
            ...Handlers.show,
            name: "later",
            run: () => Effect.succeed(CommandResult.make({ stdout: "here\n" }))
          })
          assert.deepStrictEqual(
            yield* session.execute("later | cat; echo x | xargs later"),
            result({ stdout: "here\nhere\n" })
          )
        })
      )
      assert.strictEqual((yield* session.execute("later")).notFound, "later")
    }).pipe(Effect.scoped, Effect.provide(Session.services()))
  )

  it.live("that asks for another command in the same shell is refused, not left to wait for ever", () =>
    Effect.gen(function* () {
      const session = yield* Session.make
      const registry = yield* CommandRegistry.CommandRegistry
      yield* registry.add({
        ...Handlers.show,
        name: "inner",
        run: () => Effect.catchTag(session.execute("true"), "InvalidUsage", Effect.die)
      })
      const seen = yield* session.execute("inner | cat")
      assert.strictEqual(
        seen.stderr,
        "a command that the shell has called can't run another in that shell, which waits for it\n"
      )
    }).pipe(Effect.scoped, Effect.provide(Session.services()))
  )

  it.live("that dies of a defect says so and logs it, and the shell goes on", () => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ cause, message }) => void logged.push([message, Cause.squash(cause)]))
    const oh = new Error("oh")
    return Effect.gen(function* () {
      const session = yield* Session.make
      assert.deepStrictEqual(yield* session.execute("broken; echo $?"), {
        ...result({ stdout: "1\n", stderr: "broken: failed unexpectedly: oh\n" }),
        order: [
          ["stderr", 1],
          ["stdout", 1]
        ]
      })
      assert.deepStrictEqual(logged, [[["the command broken failed unexpectedly"], oh]])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Session.services({}, [{ ...Handlers.show, name: "broken", run: () => Effect.die(oh) }]).pipe(
          Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger))
        )
      )
    )
  })

  inSession(
    "whose input is more than it wants does not wait for the rest",
    (subject) =>
      Effect.gen(function* () {
        const seen = yield* subject.run("yes | first; echo ${PIPESTATUS[@]}")
        assert.strictEqual(seen.stdout, "y\n141 0\n")
      }),
    [
      {
        ...Handlers.show,
        name: "first",
        run: ({ stdin = Stream.empty }) =>
          Stream.runHead(stdin.pipe(Stream.decodeText(), Stream.splitLines)).pipe(
            Effect.map((line) => CommandResult.make({ stdout: `${line._tag === "Some" ? line.value : ""}\n` }))
          )
      }
    ]
  )
})
