/** Against a real bash: a command that is no bash fails alone, and at once. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { quote } from "../../src/bash/Quote.js"
import { InvalidUsage } from "../../src/domain/CommandError.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import { assertKept, inSession, keeps, prepare, result } from "../support/Session.js"

/** What this bash, whatever its version, says of a script with this text. */
const fails = (text: string): readonly [string, Partial<CommandResult>] => {
  const directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "syntax-"))
  const script = Path.join(directory, "script")
  Fs.writeFileSync(script, `${text}\n`)
  const { status, stderr, stdout } = ChildProcess.spawnSync("/bin/bash", [script], { encoding: "utf8" })
  Fs.rmSync(directory, { recursive: true })
  return [text, { stdout, stderr: stderr.replaceAll(script, "bash"), exitCode: status ?? -1 }]
}

describe("syntax", () => {
  keeps("what is left open is that command's own error", [
    fails('echo "open'),
    fails("echo 'open"),
    fails("echo `open"),
    fails("echo $("),
    fails("echo ${x"),
    fails("{ echo"),
    fails("( echo"),
    fails("if true"),
    fails("while true; do"),
    fails("case x in"),
    fails("f() {"),
    fails("true &&"),
    fails("true |"),
    ["echo $?", { stdout: "2\n" }]
  ])

  // bash 5.2 would abort, some commands later.
  keeps("what is left open within a substitution harms no later command", [
    ...["echo $(", 'echo "$(ls', "echo <(", "x=$(ls", "[[ $("].flatMap((text) => [
      fails(text),
      ['echo \'a\'"b"$(echo "c")', { stdout: "abc\n" }] as const,
      [`eval ${quote(text)} 2>/dev/null; echo on`, { stdout: "on\n" }] as const,
      [
        `eval ${quote(text)}; echo on`,
        { stdout: "on\n", stderr: fails(text)[1].stderr?.replaceAll("bash: ", "bash: eval: ") ?? "" }
      ] as const,
      ["x=$(echo \"'c'\"); echo \"$x\" 'd'", { stdout: "'c' d\n" }] as const
    ])
  ])

  keeps("an open heredoc ends with the command", [
    [
      "cat <<EOF 2>/dev/null\nbody",
      { stdout: "body\n", stderr: fails("cat <<EOF\nbody")[1].stderr?.replace("line 2: ", "") ?? "" }
    ]
  ])

  keeps("stray tokens are that command's own error", [
    fails(")"),
    fails("}"),
    fails("fi"),
    fails("done"),
    fails(";;"),
    fails("&"),
    fails("|"),
    fails(";"),
    fails("&& true"),
    fails("echo )")
  ])

  keeps("nor does it with errexit, nor what is evaluated whole", [
    ["set -e", {}],
    ["eval true", {}],
    [`eval 'echo $(' 2>/dev/null || echo on`, { stdout: "on\n" }],
    ['echo "$-"', { stdout: "ehiBs\n" }],
    ['x=$(echo "\'c\'"); echo "$x"', { stdout: "'c'\n" }],
    ["set +e", {}]
  ])

  // At that depth, some versions of bash write outside of their memory.
  keeps("open substitutions, again and again", [
    ...["echo $(", "x=$(foo", 'echo "$(', "f() { $(", "echo a\necho $(echo $("].flatMap((text) =>
      Array.from({ length: 6 }, () => fails(text))
    ),
    ["set -o posix", {}],
    ...Array.from({ length: 6 }, () => fails("echo $(")),
    [`echo '${"xxxxxxxxx\n".repeat(300)}'`, { stdout: `${"xxxxxxxxx\n".repeat(300)}\n` }],
    ["exit 3", { exitCode: 3 }],
    ["set +o posix", {}]
  ])

  keeps("lines before the error run, as bash reads line by line", [fails("echo first\necho second; )")])

  keeps("a backslash or comment at the end swallows nothing", [
    ["echo said \\", { stdout: "said\n" }],
    ["echo said \\\n", { stdout: "said\n" }],
    ["echo said #\\", { stdout: "said\n" }],
    ["\\", {}],
    ["#", {}]
  ])

  keeps("carriage returns, control bytes, emoji and bangs are text like any other", [
    ["echo one\r\necho two\r\n", { stdout: "one\r\ntwo\r\n" }],
    ["echo '\u0001\u0007\u001b[31m\u001e\u007f'", { stdout: "\u0001\u0007\u001b[31m\u001e\u007f\n" }],
    ["echo 😀 '👩‍👩‍👧' ü \ufffd \ufeff", { stdout: "😀 👩‍👩‍👧 ü \ufffd \ufeff\n" }],
    ['echo !! "!$" !-1 wow!', { stdout: "!! !$ !-1 wow!\n" }],
    ["echo $'\\u20ac' \u2028", { stdout: "€ \u2028\n" }]
  ])

  inSession("two hundred kilobytes in a line, and five megabytes of lines, run", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const line = "x".repeat(200_000)
      assert.deepStrictEqual(yield* subject.run(`a=${line}; echo \${#a}`), result({ stdout: "200000\n" }))
      const lines = `: ${"y".repeat(97)}\n`.repeat(50_000)
      assert.deepStrictEqual(yield* subject.run(`${lines}echo done`), result({ stdout: "done\n" }))
      assert.deepStrictEqual(yield* subject.run("echo short"), result({ stdout: "short\n" }))
      yield* assertKept(subject)
    })
  )

  inSession("a NUL byte is refused, and says how to write one", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      assert.deepStrictEqual(
        yield* Effect.flip(subject.run("echo a\0b")),
        new InvalidUsage({
          reason: "The command holds a NUL byte, which no shell can take. Write it as \\0 in a printf."
        })
      )
      yield* assertKept(subject)
    })
  )

  keeps("a missing program is told from a program that exits with 127", [
    ["nosuch --flag", { stderr: "bash: nosuch: command not found\n", exitCode: 127, notFound: "nosuch" }],
    ["A=1 nosuch", { stderr: "bash: nosuch: command not found\n", exitCode: 127, notFound: "nosuch" }],
    ["bash -c 'exit 127'", { exitCode: 127 }],
    ["nosuch; echo after", { stdout: "after\n", stderr: "bash: nosuch: command not found\n" }],
    ["true | nosuch", { stderr: "bash: nosuch: command not found\n", exitCode: 127, notFound: "nosuch" }],
    [
      "'no such\nprogram'",
      { stderr: "bash: no such\nprogram: command not found\n", exitCode: 127, notFound: "no such\nprogram" }
    ]
  ])
})
