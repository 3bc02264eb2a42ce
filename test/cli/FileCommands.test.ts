import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { run } from "../support/cli/Program.js"

/** What the shell was asked to run. */
const asked = (args: ReadonlyArray<string>, exitCode = 0) =>
  Effect.gen(function* () {
    const commands: Array<string> = []
    const ended = yield* run(args, (command) => {
      commands.push(command)
      return { stdout: "out\n", stderr: "err\n", exitCode }
    })
    return { commands, ...ended }
  })

describe("synapse read, write, edit", () => {
  it.effect("are the commands of the shell, word for word", () =>
    Effect.gen(function* () {
      for (const [args, command] of [
        [["read", "f", "--offset", "2"], "read 'f' '--offset' '2'"],
        [["write", "a b", "it's\n$x"], "write 'a b' 'it'\\''s\n$x'"],
        [["edit", "f", "--", "-x", ""], "edit 'f' '--' '-x' ''"],
        [["read"], "read"]
      ] as const) {
        assert.deepStrictEqual((yield* asked(args)).commands, [command])
      }
    })
  )

  it.effect("pass on the output and the exit code", () =>
    Effect.gen(function* () {
      const { exitCode, stderr, stdout } = yield* asked(["read", "f"], 3)
      assert.deepStrictEqual([exitCode, stdout, stderr], [3, "out\n", "err\n"])
    })
  )

  it.effect("show their help without a shell", () =>
    Effect.gen(function* () {
      const help = yield* asked(["edit", "--help"])
      assert.include(help.stdout, "\nUSAGE\n  edit <file> <old> <new> [--all]\n")
      assert.deepStrictEqual([help.exitCode, help.commands, help.settings], [0, [], undefined])
      assert.strictEqual(
        (yield* asked(["read", "-h"])).stdout,
        "Usage: synapse read <file>... [--offset N] [--limit N]\n"
      )
    })
  )

  it.effect("show their help where --help is the last word", () =>
    Effect.gen(function* () {
      for (const name of ["read", "write", "edit"]) {
        assert.deepStrictEqual(yield* asked([name, "f", "--help"]), yield* asked([name, "--help"]))
      }
      for (const words of [
        ["--", "--help"],
        ["f", "--help", "g"],
        ["f", "-h"]
      ]) {
        assert.deepStrictEqual((yield* asked(["write", ...words])).commands.length, 1)
      }
    })
  )

  it.effect("pass on what is in files as it is, whatever it looks like", () =>
    Effect.gen(function* () {
      const said = 'Bash(command="ls f") lists it.\nUsage: read f\n'
      const { stderr, stdout } = yield* run(["read", "f"], () => ({ stdout: said, stderr: said, exitCode: 1 }))
      assert.deepStrictEqual([stdout, stderr], [said, said])
    })
  )
})
