import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import { FileHints } from "../../src/cli/FileHints.js"
import { run } from "../support/cli/Program.js"

/** What a person sees of what a command says on standard error. */
const forPerson = (said: ReadonlyArray<Uint8Array | string>): string => {
  const written: Array<Uint8Array> = []
  const hints = new FileHints(["read", "write", "edit"], (stream, chunk) => {
    assert.strictEqual(stream, "stderr")
    written.push(Buffer.from(chunk as Uint8Array))
  })
  for (const chunk of said) hints.push(chunk)
  hints.end()
  return Buffer.concat(written).toString("latin1")
}

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
      assert.strictEqual((yield* asked(["read", "-h"])).stdout, "Usage: synapse read <file> [--offset N] [--limit N]\n")
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

  it.effect("tell a person what to type", () =>
    Effect.gen(function* () {
      const stderr = 'read: f: Is a directory\nBash(command="ls f") lists it.\n'
      const { stderr: shown, stdout } = yield* run(["read", "f"], () => ({ stdout: stderr, stderr, exitCode: 1 }))
      assert.deepStrictEqual([stdout, shown], [stderr, "read: f: Is a directory\n`ls f` lists it.\n"])
    })
  )
})

describe("FileHints", () => {
  const lines: ReadonlyArray<readonly [said: string, shown: string]> = [
    ['Bash(command="edit --help") shows more.', "`synapse edit --help` shows more."],
    ['Bash(command="ls \'a \\"b\'") lists it.', "`ls 'a \"b'` lists it."],
    [
      'Bash(command="ls -lh $\'a\\\\xff\'") shows its size, Bash(command="od x") its beginning.',
      "`ls -lh $'a\\xff'` shows its size, `od x` its beginning."
    ],
    ["Usage: read <file> [--offset N]", "Usage: synapse read <file> [--offset N]"],
    ["  write notes.txt <<'EOF'", "  synapse write notes.txt <<'EOF'"],
    ["  any number of lines", "  any number of lines"],
    [
      "read: f: more lines follow line 12: read f --offset 12",
      "read: f: more lines follow line 12: synapse read f --offset 12"
    ],
    // What is in a file, and what is none of ours.
    ['     3\tBash(command="ls")', '     3\tBash(command="ls")'],
    ["  1000\tread it", "  1000\tread it"],
    ['Bash(command="ls', 'Bash(command="ls'],
    ['Bash(command="\\x") lists it.', 'Bash(command="\\x") lists it.'],
    ["edit: \xe9\xff: caf\xc3\xa9", "edit: \xe9\xff: caf\xc3\xa9"]
  ]
  const said = `${lines.map(([said]) => said).join("\n")}\n`
  const shown = `${lines.map(([, shown]) => shown).join("\n")}\n`

  it("puts hints in words for a person, in however many chunks they come", () => {
    const bytes = Buffer.from(said, "latin1")
    assert.strictEqual(forPerson([bytes]), shown)
    assert.strictEqual(forPerson([bytes.subarray(0, -1)]), shown.slice(0, -1))
    assert.strictEqual(forPerson(Array.from(bytes, (byte) => Uint8Array.of(byte))), shown)
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.nat(bytes.length)), (cuts) => {
        const ends = [...cuts.sort((a, b) => a - b), bytes.length]
        assert.strictEqual(forPerson(ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))), shown)
      })
    )
  })

  it("holds no line that is longer than any of ours, and no line that has ended", () => {
    const long = `Bash(command="${"x".repeat(100_000)}`
    const written: Array<string> = []
    const hints = new FileHints(["read"], (_, chunk) => void written.push(Buffer.from(chunk as Uint8Array).toString()))
    hints.push("a\nb")
    assert.deepStrictEqual(written, ["a\n"])
    hints.push(`\n${long}`)
    hints.push('")')
    assert.deepStrictEqual(written, ["a\n", `b\n${long}`, '")'])
    hints.push(" Usage: read\nUsage: read x\nUsage: read")
    assert.deepStrictEqual(written.slice(3), [" Usage: read\nUsage: synapse read x\n"])
    hints.end()
    assert.deepStrictEqual(written.slice(4), ["Usage: read"])
  })
})
