import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AgentWords from "../../src/cli/AgentWords.js"
import { run } from "../support/cli/Program.js"

const refused = (...words: ReadonlyArray<string>) =>
  Effect.map(Effect.flip(AgentWords.promptOf(words, ["agent", ...words])), ({ message }) => message)

describe("synapse agent's words", () => {
  it.effect("take one argument for the prompt, whatever is in it", () =>
    Effect.gen(function* () {
      for (const prompt of ["hi", "list the files", "resume what you did", "true", "fix\nit"])
        assert.strictEqual(yield* AgentWords.promptOf([prompt], ["agent", prompt]), prompt)
      for (const prompt of ["list", "--help", "ls"])
        assert.strictEqual(yield* AgentWords.promptOf([prompt], ["agent", "--", prompt]), prompt)
      assert.strictEqual(yield* AgentWords.promptOf([], ["agent"]), "")
    })
  )

  it.effect("are refused where they are no prompt, with what is meant", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        [
          yield* refused("fix", "it's", "bug"),
          yield* refused("  "),
          yield* refused("-x"),
          yield* refused("\x1b[2J", "x")
        ],
        [
          "The prompt is one argument, and there are 3. Quote it: synapse agent -- 'fix it'\\''s bug'",
          "The prompt is empty.",
          "Unknown option, or option without its value: -x. A prompt that begins with a dash is given after --.",
          "The prompt is one argument, and there are 2. Quote it: synapse agent -- '\\u001b[2J x'"
        ]
      )
      for (const [word, meant] of [
        ["ls", "list"],
        ["lsit", "list"],
        ["rm", "remove <id>"],
        ["remvoe", "remove <id>"],
        ["resume", "--resume <id>"],
        ["contineu", "--continue"]
      ] as const) {
        assert.strictEqual(
          yield* refused(word),
          `There is no agent ${word}: it is synapse agent ${meant}. As a prompt: synapse agent -- '${word}'`
        )
      }
    })
  )

  it.effect("ask for a subcommand only where nothing follows that it does not take", () =>
    Effect.gen(function* () {
      const message = (...words: ReadonlyArray<string>) => AgentWords.refusal(["agent", ...words])
      assert.strictEqual(
        message("list", "the", "files"),
        "agent list takes no words. A prompt is one argument: synapse agent -- 'list the files'"
      )
      assert.strictEqual(
        message("show", "me", "all"),
        "agent show takes one id. A prompt is one argument: synapse agent -- 'show me all'"
      )
      for (const words of [["list"], ["list", "--json"], ["show", "abc", "--json"], ["list the files"], ["hi", "list"]])
        assert.isUndefined(message(...words))
      const { exitCode, stderr } = yield* run(["agent", "list", "the", "files"])
      assert.deepStrictEqual(
        [exitCode, stderr],
        [
          2,
          "synapse: agent list takes no words. A prompt is one argument: synapse agent -- 'list the files'\nUsage:\n  synapse agent list [--all] [--json]\nHelp: synapse agent list --help\n"
        ]
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
        const { exitCode, settings, stderr } = yield* run(["agent", ...words])
        assert.deepStrictEqual([exitCode, settings], [2, undefined])
        assert.include(stderr, reason)
      }
    })
  )
})
