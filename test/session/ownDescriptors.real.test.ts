/** Against a real bash: a command that closes the shell's own descriptors costs nothing but that shell. */
import { describe } from "@effect/vitest"
import { keeps } from "../support/Session.js"
import { told } from "../support/Told.js"

const lost = told(
  "The command closed or replaced descriptors of the shell's own, which keeps them at 10 to 13 (let bash choose: " +
    "`exec {fd}>file`). A new shell goes on with its variables, functions and options."
)

const closed = (which: string) => `Descriptors that the shell had opened are closed: ${which}.`

const coprocess = "The shell no longer reads from and writes to the coprocess COPROC."

describe("the shell's own descriptors", () => {
  const loses = (name: string, command: string, expected: Readonly<Record<string, unknown>>) =>
    keeps(name, [
      [`X=1; ${command}`, { diagnostics: lost, ...expected }],
      ["echo $X; echo err >&2", { stdout: "1\n", stderr: "err\n" }],
      ["cat; exec {fd}>file; echo said >&$fd; cat file; exec {fd}>&-", { stdout: "said\n" }]
    ])

  loses("are closed in a loop", 'for i in {3..40}; do eval "exec $i>&- 2>/dev/null"; done', {})
  loses(
    "are closed in a loop by a function",
    'f() { for i in {10..40}; do eval "exec $i>&-"; done; }; f 2>/dev/null',
    {}
  )
  loses("are closed one by one: 10", "exec 10>&- 2>/dev/null; echo hi; (exit 3)", { stdout: "hi\n", exitCode: 3 })
  loses("are closed one by one: 11", "exec 11>&- 2>/dev/null; (exit 3)", { exitCode: 3 })
  loses("are closed one by one: 12", "exec 12>&- 2>/dev/null; (exit 3)", { exitCode: 3 })
  loses("are closed beside a stopped job", "sleep 1000 & kill -STOP $!; exec 10>&-; kill -KILL $!", {})
  loses("are closed with a trap on EXIT", "trap 'echo bye' EXIT; exec 12>&- 2>/dev/null", { stdout: "bye\n" })

  keeps("are closed by what exits", [
    ['X=1; for i in {10..15}; do eval "exec $i>&- 2>/dev/null"; done; exit 3', { exitCode: 3 }],
    ["echo $X", { stdout: "1\n" }]
  ])

  keeps("are not named among those that are closed at an exit", [
    [
      "exec 7>file {log}>&7 {other}<file; exit 3",
      { exitCode: 3, diagnostics: told(closed("7, 13 (log), 14 (other)")) }
    ],
    ["coproc { kill -STOP $BASHPID; }; pid=$COPROC_PID; exec {log}>file", {}],
    ["kill -KILL $pid; exit 4", { exitCode: 4, diagnostics: told(closed("13 (log)"), coprocess) }],
    ["exit 5", { exitCode: 5 }]
  ])

  keeps("are left alone", [
    ["exec 9>file; echo x >&9; exec {fd}>&9 9>&-; echo y >&$fd; cat file", { stdout: "x\ny\n" }],
    ["echo 'echo from the file' > lines; exec 10<lines 11>mine; echo hi", { stdout: "hi\n" }],
    ["echo $fd | grep -c .", { stdout: "1\n" }]
  ])
})
