/** Against a real bash: a user's trap on EXIT runs when the shell ends, and the state outlives it. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { errexitStays, keeps, withSession } from "../support/Session.js"

/** Texts that make a file when the command before it is ended, and more of them runs. */
const lists = [
  "sleep 60; echo late; >late",
  "(sleep 60; >late); >late",
  "while :; do sleep 60; >late; done",
  "sleep 60 || >late",
  "f() { sleep 60; >late; }; f; >late",
  "x=$(sleep 60; >late); >late",
  "trap '>late' INT TERM; sleep 60; >late"
]

describe("a trap on EXIT", () => {
  keeps("runs at an exit of the command that set it", [
    ["X=1; trap 'echo \"bye $?\"; echo err >&2' EXIT; exit 3", { stdout: "bye 3\n", stderr: "err\n", exitCode: 3 }],
    ["echo $X $?", { stdout: "1 3\n" }],
    ["exit 4", { exitCode: 4 }],
    ["echo $X $?", { stdout: "1 4\n" }]
  ])

  keeps("runs at an exit of a later command, and is the user's own until then", [
    ["X=1; trap 'echo bye' EXIT", {}],
    ["trap -p EXIT; (exit 5)", { stdout: "trap -- 'echo bye' EXIT\n", exitCode: 5 }],
    ["echo $?; echo over $_", { stdout: "5\nover 5\n" }],
    ["cat; Y=2; exit 3", { stdout: "bye\n", exitCode: 3 }],
    ["echo $X $Y $?", { stdout: "1 2 3\n" }],
    ["exit 4", { exitCode: 4 }]
  ])

  keeps("runs where errexit ends the shell, and prints into the result", [
    [
      "X=1; set -e; trap 'echo bye; echo err >&2' EXIT; f() { false; }; f; echo no",
      { stdout: "bye\n", stderr: "err\n", exitCode: 1, diagnostics: errexitStays }
    ],
    ["echo $X; [[ $- == *e* ]]", { stdout: "1\n" }],
    ["trap 'false; echo no' EXIT; Y=2", {}],
    // The exit code may be that of an `exit` in the text.
    ["(exit 7)", { exitCode: 1 }],
    ["trap 'false; echo no' EXIT", {}],
    ["test -e nope", { exitCode: 1 }],
    ["set +e; echo $X $Y", { stdout: "1 2\n" }]
  ])

  keeps("is left alone by what ends the command alone", [
    ["set -u; trap 'echo bye' EXIT; echo $nosuch", { stderr: "bash: nosuch: unbound variable\n", exitCode: 1 }],
    ["trap -p EXIT; (exit 3); (trap 'echo sub' EXIT)", { stdout: "trap -- 'echo bye' EXIT\nsub\n" }],
    ["set +u; echo ${nosuch?x}", { stderr: "bash: nosuch: x\n", exitCode: 1 }],
    ["exec sh -c 'exit 3' 2>/dev/null &", {}],
    ["X=1; exit", { stdout: "bye\n" }],
    ["echo $X", { stdout: "1\n" }]
  ])

  keeps("is listed where it is the user's, and the session's own are not", [
    ["trap; trap -p EXIT; trap -p | cat", {}],
    [
      "X=1; f() { :; }; trap 'echo \"on $?\"' EXIT; trap 'echo \"{ \"' USR1; (exit 3) | trap -p",
      {
        stdout: "trap -- 'echo \"on $?\"' EXIT\ntrap -- 'echo \"{ \"' SIGUSR1\n"
      }
    ],
    ["trap; trap - EXIT USR1; trap", { stdout: "trap -- 'echo \"on $?\"' EXIT\ntrap -- 'echo \"{ \"' SIGUSR1\n" }],
    ["exit 4", { exitCode: 4 }],
    ["echo $X; trap", { stdout: "1\n" }]
  ])

  keeps("may exit with another code, and change what it likes", [
    ["X=1; trap 'X=2; cd /; unset -f g; trap - EXIT; exit 9' EXIT; g() { echo g; }", {}],
    ["exit 3", { exitCode: 9 }],
    ["echo $X $?; g", { stdout: "1 9\ng\n" }]
  ])

  keeps("may be taken away or ignored, and the state is kept", [
    ["X=1; trap 'echo bye' EXIT; trap - EXIT", {}],
    ["exit 3", { exitCode: 3 }],
    ["echo $X; trap '' EXIT", { stdout: "1\n" }],
    ["exit 4", { exitCode: 4 }],
    ["set -e; trap 'echo bye' EXIT", {}],
    ["trap - EXIT; X=2", {}],
    ["false", { exitCode: 1, diagnostics: errexitStays }],
    ["set +e; echo $X", { stdout: "2\n" }]
  ])

  keeps("may be set by what is sourced, evaluated or called", [
    ["X=1; echo \"tr\\ap 'echo sourced' EXIT\" > file", {}],
    [". ./file", {}],
    ["exit 3", { stdout: "sourced\n", exitCode: 3 }],
    ['echo $X; eval "$(cat file)"', { stdout: "1\n" }],
    ["X=2; exit 4", { stdout: "sourced\n", exitCode: 4 }],
    ["echo $X; f() { trap 'echo called' EXIT; }", { stdout: "2\n" }],
    ["f; X=3; exit 5", { stdout: "called\n", exitCode: 5 }],
    ["echo $X", { stdout: "3\n" }]
  ])

  keeps("is not mistaken for one on ERR, which shows what it prints once", [
    ["X=1; trap 'echo failed $?; echo err >&2' ERR", {}],
    ["(exit 3)", { stdout: "failed 3\n", stderr: "err\n", exitCode: 3 }],
    ["false; : on", { stdout: "failed 1\n", stderr: "err\n" }],
    ["trap 'cat >&2' ERR", {}],
    ["(exit 4)", { exitCode: 4 }],
    ["exit 5", { exitCode: 5 }],
    ["echo $X $?", { stdout: "1 5\n" }]
  ])

  keeps("goes along with traces and other traps", [
    ["trap 'echo bye' EXIT; trap 'echo failed $?' ERR; (exit 3)", { stdout: "failed 3\n", exitCode: 3 }],
    ["set -T; trap 'echo debug' DEBUG; :", { stdout: "debug\n" }],
    ["set +T; PS4='+'; trap - ERR; set -x; : x", { stderr: "+++: x\n" }],
    ["X=1; exit 2", { stdout: "bye\n", stderr: "+++X=1\n+++exit 2\n", exitCode: 2 }],
    ["set +x; echo $X", { stdout: "1\n", stderr: "+++set +x\n" }]
  ])

  keeps("shows no text of the session's own beside what the shell reads, nor in a list in POSIX mode", [
    ["set -v", {}],
    ["trap 'echo bye' EXIT", { stderr: "trap 'echo bye' EXIT\n" }],
    ["echo on", { stdout: "on\n", stderr: "echo on\n" }],
    ["set +v; set -o posix", { stderr: "set +v; set -o posix\n" }],
    ["trap -p EXIT URG; trap - EXIT; set +o posix", { stdout: "trap -- 'echo bye' EXIT\n" }]
  ])

  it.live("ends with the timeout that ends its command, and the state is kept", () =>
    withSession(({ run }) =>
      Effect.gen(function* () {
        const command = "X=kept; trap 'echo first; sleep 60; echo late' EXIT; exit"
        const error = yield* Effect.flip(run(command, { timeout: 2000 }))
        assert.include(error, { kind: "timeout", stdout: "first\n" })
        assert.strictEqual((yield* run("echo $X")).stdout, "kept\n")
      })
    )
  )

  it.live("ends with a cancel, whatever it runs, and the state is kept", () =>
    withSession(({ directory, run }) =>
      Effect.gen(function* () {
        for (const list of lists) {
          const quoted = `>began; ${list}`.replaceAll("'", `'\\''`)
          const fiber = yield* Effect.fork(run(`X=${list.length}; trap '${quoted}' EXIT; exit`))
          yield* Effect.repeat(Effect.sleep(5), { until: () => Fs.existsSync(`${directory}/began`) })
          yield* Fiber.interrupt(fiber)
          assert.strictEqual((yield* run("echo $X; ls; rm began; trap - EXIT")).stdout, `${list.length}\nbegan\n`, list)
        }
      })
    )
  )
})
