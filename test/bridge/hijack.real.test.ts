/** The user's functions and settings that have the names of what a call of a Synapse command uses. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApps } from "../support/toolset/App.js"

/** Calls of each command that is used most, and what they put out. */
const calls = 'read ./a.txt; write w hi; edit w hi ho; cat w; x=$(read ./a.txt); echo "$x"'
const shown = [
  "     1\tone",
  "Written 2 bytes (1 line) to w",
  "Replaced 1 occurrence in w (line 1)",
  "-hi",
  "+ho",
  "ho     1\tone",
  ""
].join("\n")

const named = (...names: ReadonlyArray<string>) => names.map((name) => `function ${name} { echo MINE; }`).join("\n")

const settings: ReadonlyArray<string> = [
  named("builtin"),
  `${named("builtin")}\nexport -f builtin`,
  named("command", "printf", "local", "test", "[", "eval", "exec", "cd", "mv", "perl", "stat", "declare", "type"),
  named("exit", "return", "set", "trap", "ulimit", "shopt", "true", ":", "break", "shift", "mapfile"),
  "set -u",
  "set -e",
  "set -f",
  "IFS=",
  "IFS=0123456789",
  "shopt -s nullglob extglob failglob nocasematch",
  "set -o posix",
  "POSIXLY_CORRECT=1",
  "readonly POSIXLY_CORRECT=1",
  "readonly REPLY IFS PWD OLDPWD LC_ALL",
  "alias builtin='echo MINE' unset='echo MINE' exec='echo MINE'; shopt -s expand_aliases",
  "set -TE; trap : DEBUG ERR RETURN",
  "umask 077"
]

describe("Synapse commands", () => {
  inApps("work beside the functions and the settings of the user", ({ put, run }) =>
    Effect.gen(function* () {
      put("a.txt", "one\n")
      for (const setting of settings) {
        const { stderr, stdout } = yield* run(`(\n${setting}\n${calls}\n)`)
        assert.deepStrictEqual({ stderr, stdout }, { stderr: "", stdout: shown }, setting)
      }
      // `unset` can't stand in the way of a call, which is in a subshell; bash's posix mode knows no function of that name.
      const both = `${named("builtin", "unset")}\nwrite w hi; edit w hi ho`
      assert.strictEqual((yield* run(`(\n${both}\n)`)).stdout, shown.split("\n").slice(1, 5).join("\n").concat("\n"))
    })
  )

  inApps("leave the user's functions and bash's mode as they are", ({ run }) =>
    Effect.gen(function* () {
      const { stdout } = yield* run(
        "f() { echo MINE; }; write w hi >/dev/null; f; shopt -o posix; export POSIXLY_CORRECT=2; write w hi >/dev/null; env | grep POSIX; shopt -o posix"
      )
      assert.strictEqual(stdout, "MINE\nposix          \toff\nPOSIXLY_CORRECT=2\nposix          \ton\n")
    })
  )

  inApps("say in their own name that their output can't be written", ({ run }) =>
    Effect.gen(function* () {
      yield* run("seq 5000 >many")
      for (const [command, said] of [
        ["write x hi", "write: standard output: No space left on device\n"],
        ["edit x hi ho", "edit: standard output: No space left on device\n"],
        ["read x", "read: standard output: No space left on device\n"],
        ["read many --limit 2000", "read: write error: No space left on device\n"],
        ["TodoWrite --show", "TodoWrite: standard output: No space left on device\n"],
        ["edit --help", "edit: write error: No space left on device\n"]
      ] as const) {
        const seen = yield* run(`${command} >/dev/full`)
        assert.deepStrictEqual(seen, { exitCode: 1, stdout: "", stderr: said }, command)
      }
      const closed = yield* run("write x hi >&-")
      assert.deepStrictEqual(closed, {
        exitCode: 1,
        stdout: "",
        stderr: "write: standard output: Bad file descriptor\n"
      })
      assert.deepStrictEqual(yield* run("read nofile 2>/dev/full"), { exitCode: 1, stdout: "", stderr: "" })
    })
  )
})
