/** Against a real bash: what runs in the background holds no command, and its output is in nobody's result. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertKept, eventually, inSession, keeps, marked, prepare, result } from "../support/Session.js"

/** What a listing of the living processes of this test has with this argument. */
const alive = (mark: string, text: string) => marked(mark).filter((line) => line.includes(text)).length

describe("background", () => {
  inSession("a background child does not hold its command", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      assert.deepStrictEqual(yield* subject.run("sleep 1001 &"), result())
      assert.deepStrictEqual(yield* subject.run("sleep 1002 & echo on"), result({ stdout: "on\n" }))
      assert.deepStrictEqual(yield* subject.run("(sleep 1003 &); echo on"), result({ stdout: "on\n" }))
      // The last of them may not have become `sleep` yet.
      const count = yield* eventually(
        () => alive(subject.mark, "sleep 100"),
        (now) => now === 3
      )
      assert.strictEqual(count, 3)
      yield* assertKept(subject)
    })
  )

  keeps("late output of a child is in nobody's result", [
    ["(sleep 1; echo late; echo late >&2) & echo on", { stdout: "on\n" }],
    ["sleep 0.1; echo mine", { stdout: "mine\n" }],
    ["wait; echo mine", { stdout: "mine\n" }],
    ["{ sleep 1; for i in {1..50}; do sleep 0.02; echo late; done; } &", {}],
    ["for i in {1..20}; do echo $i; sleep 0.002; done | tail -1", { stdout: "20\n" }],
    ["wait", {}]
  ])

  keeps("what a child prints before its command has ended is in that result", [
    ["(echo early) & wait; echo on", { stdout: "early\non\n" }]
  ])

  inSession("nohup, setsid and disown start what outlives its command", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("nohup sleep 1011 >/dev/null 2>&1 & setsid sleep 1012 & sleep 1013 & disown")
      yield* subject.run("setsid -f sleep 1014; (setsid nohup sleep 1015 &)")
      assert.strictEqual(
        yield* eventually(
          () => alive(subject.mark, "sleep 101"),
          (count) => count === 5
        ),
        5
      )
      assert.deepStrictEqual(yield* subject.run("exit 2"), result({ exitCode: 2 }))
      assert.deepStrictEqual(yield* subject.run("echo next"), result({ stdout: "next\n" }))
      assert.strictEqual(alive(subject.mark, "sleep 101"), 5)
      yield* assertKept(subject)
    })
  )

  keeps("a background flood disturbs nothing, and is not blocked", [
    ["(sleep 0.3; exec yes flood) & F=$!", {}],
    ["sleep 0.5", {}],
    ["echo one", { stdout: "one\n" }],
    ["for i in {1..200}; do echo $i; done | tail -1", { stdout: "200\n" }],
    ["kill $F; wait $F", { exitCode: 143 }],
    ["(sleep 0.2; exec head -c 3000000 /dev/zero) & F=$!", {}],
    ["wait $F", {}]
  ])

  keeps("coprocesses answer", [
    ['coproc { while read -r line; do echo "got $line"; done; }', {}],
    ['echo hello >&"${COPROC[1]}"; read -r answer <&"${COPROC[0]}"; echo $answer', { stdout: "got hello\n" }],
    ["kill $COPROC_PID; wait $COPROC_PID", { exitCode: 143 }]
  ])

  keeps("notices of ended jobs go nowhere", [
    ["sleep 0.01 & true", {}],
    ["sleep 0.05; echo on", { stdout: "on\n" }],
    ["true & sleep 0.01; kill -9 $! 2>/dev/null; sleep 1000 & kill -9 $!", {}],
    ["sleep 0.05; echo on", { stdout: "on\n" }],
    ["set -b; sleep 0.01 &", {}],
    ["sleep 0.05; echo on; set +b", { stdout: "on\n" }]
  ])

  inSession("sixty held pairs of pipes, and then none", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (let i = 0; i < 60; i++) {
        assert.deepStrictEqual(yield* subject.run(`sleep 1021 & echo ${i}`), result({ stdout: `${i}\n` }))
      }
      assert.deepStrictEqual(yield* subject.run("kill $(jobs -p); wait; echo done"), result({ stdout: "done\n" }))
      yield* assertKept(subject)
    })
  )
})
