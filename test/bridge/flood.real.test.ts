/** Against a real bash: no command harms this process through the pipes of its session, and the session goes on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Handlers from "../support/Handlers.js"
import * as Memory from "../support/Memory.js"
import { result, type Subject, withSession } from "../support/Session.js"
import { notices } from "../support/Told.js"

/** The FIFOs of the session, but those of further slots. */
const fifos = `for f in "$TMPDIR"/synapse-own/session-*/*; do [[ -p $f && $f != *-[2-9]-* ]]`

/** For each FIFO, which is `$f`, at the same time and for a while. */
const each = (harm: string) =>
  `(${fifos} && { ${harm}; } & done; sleep 0.2; kill -9 $(jobs -p); wait) >/dev/null 2>&1 </dev/null`

/** For what has to be over before the next one begins. */
const eachInTurn = (harm: string) => `(${fifos} && { ${harm}; }; done) >/dev/null 2>&1 </dev/null`

const harms: Readonly<Record<string, string>> = {
  zeros: each('exec cat /dev/zero 1<>"$f"'),
  "names of slots": each('while printf %065536d; do :; done 1<>"$f"'),
  "lines of garbage": each(`exec yes $'\\365 0 / \\036 A' 1<>"$f"`),
  "requests of many words": each(`{ printf '\\0/\\0\\0\\0999999\\0'; exec tr '\\n' '\\0' < <(yes); } 1<>"$f"`),
  "one byte at a time": each('while printf 1; do :; done 1<>"$f"'),
  "readers that take what is meant for others": each('exec cat <"$f"'),
  "ends that open and close": each('for i in 1 2 3 4 5; do : 1<>"$f"; done'),
  "no right to open them": eachInTurn('chmod 000 "$f"'),
  "directories in their place": eachInTurn('rm "$f"; mkdir "$f"'),
  "links in their place": eachInTurn('ln -sf /dev/zero "$f"'),
  "other FIFOs in their place": eachInTurn('rm "$f"; mkfifo "$f"'),
  "files in their place": eachInTurn('rm "$f"; echo 0 >"$f"')
}

/** The most bytes that this process may have grown by: a state has 64 MiB, and the garbage of all that has its time. */
const most = 300 * 1024 ** 2

/** Commands run again in a new shell, and calls of Synapse commands. */
const assertServing = ({ run }: Subject, after: string) =>
  Effect.gen(function* () {
    const { exitCode, stdout } = yield* run("echo on; fail 3 said; echo $?; for i in {1..6}; do fail 0 . & done; wait")
    assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 0, stdout: "on\nsaid3\n......" }, after)
  })

describe("the pipes of a session", () => {
  it.live(
    "survive whatever is done to them",
    () =>
      withSession(
        (subject) =>
          Effect.gen(function* () {
            yield* assertServing(subject, "nothing")
            const before = Memory.used()
            for (const [name, harm] of Object.entries(harms)) {
              yield* Effect.ignore(subject.run(harm, { timeout: 20_000 }))
              yield* subject.session.restart
              yield* assertServing(subject, name)
            }
            assert.isBelow(Memory.used() - before, most)
          }),
        { timeout: 60_000 },
        Handlers.all
      ),
    120_000
  )

  it.live(
    "take for a ticket only what names a slot",
    () =>
      withSession(
        ({ run }) =>
          Effect.gen(function* () {
            yield* run("fail 0")
            const forge = `head -c 50000 /dev/zero | tr '\\0' '%' 1<>"$t"; printf '\\033sk/' 1<>"$t"`
            const { exitCode, stderr, stdout } = yield* run(
              `for t in "$TMPDIR"/synapse-own/session-*/tickets; do cat <"$t" >/dev/null & p=$!; sleep .1; kill $p; ${forge}; done; (sleep .3; printf %s 012345 1<>"$t") & fail 3 said`
            )
            assert.deepStrictEqual({ exitCode, stderr, stdout }, { exitCode: 3, stderr: "", stdout: "said" })
          }),
        { timeout: 60_000 },
        Handlers.all
      ),
    120_000
  )

  it.live(
    "take a state that has no end for none",
    () =>
      withSession(
        ({ directory, run }) =>
          Effect.gen(function* () {
            const before = Memory.used()
            yield* run("kept=1")
            const said = yield* run('head -c 600M /dev/zero >"$(echo "$TMPDIR"/synapse-own/session-*/state)"; exit 3')
            assert.strictEqual(said.exitCode, 3)
            assert.isBelow(Memory.used() - before, most)
            const next = yield* run("echo ${kept-none}; pwd")
            assert.deepStrictEqual(
              [next.stdout, [...(notices(said) ?? []), ...(notices(next) ?? [])].join().includes("are lost")],
              [`none\n${directory}\n`, true]
            )
            assert.deepStrictEqual(yield* run("echo on"), result({ stdout: "on\n" }))
          }),
        { timeout: 60_000 }
      ),
    120_000
  )
})
