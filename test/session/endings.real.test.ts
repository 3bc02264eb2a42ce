/** Against a real bash: however a command ends the shell, the result tells it, and the next command runs. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { errexitStays, inSession, keeps, prepare, result, type Subject, stateLost } from "../support/Session.js"

/** A command that costs the shell its state: the directory is kept, and a notice tells. */
const loses = (name: string, command: string, exitCode: number, output: { stdout?: string; stderr?: string } = {}) =>
  inSession(name, (subject: Subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      assert.deepStrictEqual(
        yield* subject.run(command),
        result({ ...output, exitCode, diagnostics: stateLost(there) })
      )
      assert.deepStrictEqual(
        yield* subject.run('echo "$? <$PWD> <${kept-}>"'),
        result({ stdout: `${exitCode} <${there}> <>\n` })
      )
      assert.deepStrictEqual(yield* subject.run("kept=again; exit 3"), result({ exitCode: 3 }))
      assert.deepStrictEqual(yield* subject.run("echo $kept"), result({ stdout: "again\n" }))
    })
  )

describe("endings", () => {
  keeps("exit gives its code, and keeps the state", [
    ["exit 3", { exitCode: 3 }],
    ["echo $?", { stdout: "3\n" }],
    ["echo said; exit", { stdout: "said\n" }],
    ["false", { exitCode: 1 }],
    ["exit", { exitCode: 1 }],
    ["exit 300", { exitCode: 44 }]
  ])

  keeps("exit in a function, a loop, an eval and a sourced file ends the command", [
    [
      "f() { for i in 1 2 3; do echo $i; [[ $i = 2 ]] && exit 5; done; echo no; }; f; echo no",
      {
        stdout: "1\n2\n",
        exitCode: 5
      }
    ],
    ["f; echo no", { stdout: "1\n2\n", exitCode: 5 }],
    ["eval 'exit 6'; echo no", { exitCode: 6 }],
    ["echo 'exit 7' > file; . ./file; echo no", { exitCode: 7 }]
  ])

  keeps("exit in a subshell, a pipe or a substitution ends only that", [
    ["(exit 3); echo $?", { stdout: "3\n" }],
    ["exit 4 | true; echo $?", { stdout: "0\n" }],
    ["x=$(exit 5); echo $?", { stdout: "5\n" }],
    ["{ exit 6; } & wait $!", { exitCode: 6 }]
  ])

  keeps("all that bash can say of itself outlives an exit", [
    [
      "declare -A map=(['a b']=$'c\\nd'); list=(1 '2 3'); declare -ir number=4; bytes=$'\\xff\\xfe'; export EXPORTED=e",
      {}
    ],
    [
      "f() { echo \"f $1\"; }; export -f f; alias hi='echo hello'; set -- p 'q r'; umask 027; trap 'echo usr1' USR1",
      {}
    ],
    [
      "shopt -s extglob; set -o pipefail; set -f; cd /usr; cd - >/dev/null; unset LANG PAGER; multi=$'x\\ndeclare -x PAGER'",
      {}
    ],
    ["exit 9", { exitCode: 9 }],
    [
      'printf \'<%s>\' "${map[a b]}" "${list[@]}" $number "$@" "$OLDPWD" "${PAGER-unset}"; umask',
      {
        stdout: "<c\nd><1><2 3><4><p><q r></usr><unset>0027\n"
      }
    ],
    [
      "printf %s \"$bytes\" | od -An -tx1; bash -c 'f x; echo $EXPORTED'; hi; kill -USR1 $$",
      {
        stdout: " ff fe\nf x\ne\nhello\nusr1\n"
      }
    ],
    [
      "[[ -o pipefail && -o noglob ]] && shopt -q extglob && number=5",
      {
        stderr: "bash: number: readonly variable\n",
        exitCode: 1
      }
    ]
  ])

  keeps("a state of a megabyte outlives an exit", [
    ["big=$(head -c 1000000 /dev/zero | tr '\\0' b); exit 1", { exitCode: 1 }],
    ["echo ${#big}", { stdout: "1000000\n" }]
  ])

  loses("exec of a program gives the program's exit code", "echo before; exec sh -c 'echo in; exit 8'", 8, {
    stdout: "before\nin\n"
  })
  loses("a shell that is killed gives 137", "echo before; kill -9 $$; echo no", 137, { stdout: "before\n" })
  // With the usual 8 MB of stack, bash alone takes ten seconds of CPU for it.
  loses("endless recursion ends the shell alone", "ulimit -Ss 1024; f() { f; }; f", 139)
  loses("an exit in a function runs a user's own EXIT trap there", "trap 'echo bye' EXIT; f() { exit 2; }; f", 2, {
    stdout: "bye\n"
  })

  keeps("signals that an interactive bash ignores end nothing, and an interrupt ends the command", [
    ["kill -TERM $$; echo alive", { stdout: "alive\n" }],
    ["kill -INT $$; echo no", { exitCode: 130 }],
    ["kill -QUIT $$; echo alive", { stdout: "alive\n" }],
    ["kill -URG $$; echo no", { exitCode: 130 }]
  ])

  keeps("a hang-up ends the shell, and keeps the state", [
    ["kill -HUP $$; sleep 0.01; echo no", { exitCode: 129 }],
    ["echo $?", { stdout: "129\n" }]
  ])

  keeps("errexit ends the command, and keeps the state", [
    ["set -e; false; echo no", { exitCode: 1, diagnostics: errexitStays }],
    ["f() { set -e; (sh -c 'kill $$'); echo no; }; f", { exitCode: 143 }],
    ["true", {}],
    ["set +e", {}],
    ["set -e", {}],
    ["exit 3", { exitCode: 3 }],
    ["f() { exit 5; }; { f; }", { exitCode: 5 }],
    ["false", { exitCode: 1, diagnostics: errexitStays }]
  ])

  keeps("unset variables end the command alone", [
    ["set -u; echo $nosuch; echo no", { stderr: "bash: nosuch: unbound variable\n", exitCode: 1 }],
    ["echo ${nosuch-default}", { stdout: "default\n" }],
    ["set +u", {}],
    ["echo ${nosuch:?is missing}; echo no", { stderr: "bash: nosuch: is missing\n", exitCode: 1 }]
  ])

  keeps("return, break and continue at the top level", [
    ["return 5; echo no", { exitCode: 5 }],
    ["echo $?", { stdout: "5\n" }],
    ["break 2>/dev/null; continue 2>/dev/null; echo on", { stdout: "on\n" }],
    ["for i in 1 2; do break; done; echo $i", { stdout: "1\n" }]
  ])

  keeps("a failed exec ends the command alone", [
    ["exec nosuch", { stderr: "bash: exec: nosuch: not found\n", exitCode: 127 }],
    ["exec /etc/passwd 2>/dev/null", { exitCode: 126 }]
  ])

  keeps("traps run when they should, and not at each command's end", [
    ["trap 'echo bye' EXIT", {}],
    ["echo on", { stdout: "on\n" }],
    ["trap - EXIT; trap 'echo failed $?' ERR", {}],
    ["(exit 3); true", { stdout: "failed 3\n" }],
    ["trap - ERR; f() { :; }; trap 'echo returned' RETURN; f", { stdout: "returned\n" }],
    ["f", {}],
    ["trap 'echo debugged' DEBUG; :", { stdout: "debugged\n" }],
    ["trap 'echo usr1' USR1", {}],
    ["kill -USR1 $$", { stdout: "usr1\n" }]
  ])
})
