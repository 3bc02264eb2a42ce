import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import * as ShellLauncher from "../../src/session/ShellLauncher.js"

const options = ["--norc", "--noprofile", "-p"]

const wordsOf = (text: string): ReadonlyArray<string> =>
  Either.match(ShellLauncher.parse(text), {
    onLeft: (error) => [error.message],
    onRight: ({ args, program }) => [program, ...args.slice(0, -options.length)]
  })

/** A word as somebody may write it: parts in every kind of quoting, next to each other. */
const part = FastCheck.oneof(
  FastCheck.stringMatching(/^[A-Za-z0-9_./:=@%+,-]{1,8}$/),
  FastCheck.stringMatching(/^[ -&(-~\t]{0,8}$/).map((text) => `'${text}'`),
  FastCheck.stringMatching(/^[A-Za-z0-9 '|&;<>()*?~#{}-]{0,8}$/).map((text) => `"${text}"`),
  FastCheck.constantFrom(
    '"\\""',
    '"\\\\"',
    '"\\$HOME"',
    '"\\a"',
    "\\ ",
    "\\'",
    '\\"',
    "\\\\",
    "\\$",
    "ü",
    "'😀'",
    "''",
    '""'
  )
)
const word = FastCheck.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""))
const line = FastCheck.array(word, { minLength: 1, maxLength: 5 }).filter(
  (words) => !/^(['"]{2}|[#~]|\w+=)/.test(words[0] ?? "")
)

describe("ShellCommand", () => {
  it("S25: the default shell command is /bin/bash", () => {
    assert.strictEqual(SessionSettings.defaults.shellCommand, "/bin/bash")
    assert.deepStrictEqual(
      ShellLauncher.parse(SessionSettings.defaults.shellCommand),
      Either.right({ program: "/bin/bash", args: options })
    )
  })

  it("S26: a wrapper's arguments keep their order, and the shell's options follow", () => {
    assert.deepStrictEqual(
      ShellLauncher.parse("sandbox-exec -f /tmp/test.sb /bin/bash"),
      Either.right({ program: "sandbox-exec", args: ["-f", "/tmp/test.sb", "/bin/bash", ...options] })
    )
  })

  it("respects quotes and backslashes, and expands nothing", () => {
    assert.deepStrictEqual(wordsOf(`  'my wrapper'  --name="a b"\\ c '$HOME' "" \t/bin/bash `), [
      "my wrapper",
      "--name=a b c",
      "$HOME",
      "",
      "/bin/bash"
    ])
  })

  it("refuses what names no program", () => {
    for (const text of ["", "  \t", "''", '"" /bin/bash']) {
      assert.deepStrictEqual(wordsOf(text), ["shellCommand is empty: name a bash, for example /bin/bash"])
    }
  })

  it("refuses open quotes", () => {
    for (const text of ["'open", 'bash "open', "bash 'a' 'b"]) {
      assert.isTrue(Either.isLeft(ShellLauncher.parse(text)), text)
    }
  })

  it("splits generated quotings as a real bash does", () => {
    const lines = FastCheck.sample(line, { numRuns: 400, seed: 11 })
    const script = lines.map((words) => `printf '%s\\0' ${words.join("  ")}; printf '\\n\\0'`).join("\n")
    const { stdout } = ChildProcess.spawnSync("/bin/bash", ["-f", "+H", "+B"], { input: script, encoding: "utf8" })
    const expected = stdout.split("\0\n\0")
    lines.forEach((words, i) => {
      const text = words.join("  ")
      assert.deepStrictEqual(wordsOf(text), (expected[i] ?? "").split("\0"), text)
    })
  })
})
