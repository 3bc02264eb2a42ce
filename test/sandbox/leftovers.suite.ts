/** Real shells in this machine's own sandbox: what a command leaves behind holds its output, or does not. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Leftovers from "../support/Leftovers.js"
import { sandboxedOn } from "../support/sandbox/LocalHouse.js"

export const leftovers = (title: string, ground: string): void => {
  const sandboxed = sandboxedOn(ground)
  describe(title, () => {
    for (const [what, cases] of [
      ["what substitutions still write is in the result", Leftovers.substitutions],
      ["what `&` has started holds no result", Leftovers.background]
    ] as const) {
      it.live(what, () =>
        sandboxed(({ execute }) =>
          Effect.gen(function* () {
            for (const { command, isHeld = false, stderr = "", stdout = "" } of cases) {
              const got = yield* execute(command)
              assert.deepStrictEqual([got.exitCode, got.stdout, got.stderr], [0, stdout, stderr], command)
              assert.strictEqual(got.notices?.some(Leftovers.isLate) ?? false, isHeld, command)
            }
          })
        )
      )
    }

    it.live("what is still printed in the background can be read in the sandbox, and not be changed", () =>
      sandboxed(({ execute }) =>
        Effect.gen(function* () {
          const file = Leftovers.lateFile(yield* execute("{ until [[ -e go ]]; do sleep 0.01; done; echo late; } &"))
          assert.strictEqual((yield* execute(`cat '${file}'`)).stdout, "")
          // The file is written while the next commands run.
          const read = yield* execute(`touch go; until [[ -s '${file}' ]]; do sleep 0.01; done; cat '${file}'`)
          assert.strictEqual(read.stdout, "late\n")
          for (const change of [`echo x >> '${file}'`, `rm -f '${file}'`, `touch '${Path.dirname(file ?? "")}/x'`]) {
            assert.notStrictEqual((yield* execute(change)).exitCode, 0, change)
          }
          assert.strictEqual(Fs.readFileSync(file ?? "", "utf8"), "late\n")
        })
      )
    )
  })
}
