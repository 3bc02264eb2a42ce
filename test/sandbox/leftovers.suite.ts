/** Real shells in this machine's own sandbox: what a command leaves behind holds its output, or does not. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Leftovers from "../support/Leftovers.js"
import { sandboxedOn } from "../support/sandbox/LocalApp.js"

export const leftovers = (title: string, ground: string): void => {
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    for (const [what, cases] of [
      ["what substitutions still write is in the result", Leftovers.substitutions],
      ["what `&` has started holds no result", Leftovers.background]
    ] as const) {
      it.live(what, () =>
        sandboxed(({ execute }, { jobs }) =>
          Effect.gen(function* () {
            for (const { command, isHeld = false, stderr = "", stdout = "" } of cases) {
              const got = yield* execute(command)
              assert.deepStrictEqual([got.exitCode, got.stdout, got.stderr], [0, stdout, stderr], command)
              assert.strictEqual(
                jobs.takeNews().some(({ state }) => state === "running"),
                isHeld,
                command
              )
            }
          })
        )
      )
    }

    it.live("what it prints later is in the log of its job, which ends with its exit code", () =>
      sandboxed(({ execute }, { jobs }) =>
        Effect.gen(function* () {
          yield* execute("{ until [[ -e go ]]; do sleep 0.01; done; echo late; echo err >&2; exit 7; } &")
          assert.strictEqual(jobs.takeNews().at(-1)?.state, "running")
          assert.strictEqual((yield* execute("touch go; echo mine")).stdout, "mine\n")
          const { exitCode, id } = yield* Stream.runHead(
            Stream.filter(
              Stream.repeatEffect(Effect.zipRight(Effect.sleep(20), execute("true"))).pipe(
                Stream.flatMap(() => Stream.fromIterable(jobs.takeNews()))
              ),
              ({ state }) => state !== "running"
            )
          ).pipe(Effect.flatten)
          assert.strictEqual(exitCode, 7)
          assert.strictEqual(yield* jobs.output(id), "late\nerr\n")
        })
      )
    )
  })
}
