import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { run } from "../support/cli/Program.js"

const refused = (...words: ReadonlyArray<string>) =>
  Effect.map(run(["agent", ...words]), ({ exitCode, settings, stderr }) => {
    assert.deepStrictEqual([exitCode, settings], [2, undefined])
    return stderr.split("\n", 1)[0]
  })

describe("synapse agent's words", () => {
  it.effect("are one argument for the prompt", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        [
          yield* refused("fix", "it's", "bug"),
          yield* refused("  "),
          yield* refused("\x1b[2J", "x"),
          yield* refused("list", "the", "files")
        ],
        [
          "synapse: The prompt is one argument, and there are 3. Quote it: synapse agent -- 'fix it'\\''s bug'",
          "synapse: The prompt is empty.",
          "synapse: The prompt is one argument, and there are 2. Quote it: synapse agent -- '\\u001b[2J x'",
          'synapse: "the" is one operand too many.'
        ]
      )
      assert.match(
        (yield* refused("-x")) ?? "",
        /^synapse: Unknown option -x: .* A prompt that begins with a dash is given after --\.$/
      )
    })
  )

  it.effect("are checked before anything is loaded or asked", () =>
    Effect.gen(function* () {
      for (const [words, reason] of [
        [["--max-turns", "0", "x"], "--max-turns must be a whole number from 1 on"],
        [["--max-turns", "x", "y"], "--max-turns must be a whole number from 1 on"],
        [["--max-tokens", "1.5", "y"], "--max-tokens must be a whole number from 1 on"],
        [["--budget", "-1", "x"], "--budget must be a number above 0"],
        [["--budget", "abc", "x"], "--budget must be a number above 0"],
        [["--resume", "a", "--continue"], "Give either --resume or --continue: not both."],
        [["--env", "a b", "x"], "--env: "]
      ] as const) {
        assert.include(yield* refused(...words), reason)
      }
    })
  )
})
