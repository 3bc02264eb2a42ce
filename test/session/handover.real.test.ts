/** Against a real bash: what bash can say of its state outlives an `exit`, each part by itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Handlers from "../support/Handlers.js"
import {
  assertKept,
  errexitStays,
  inSession,
  keeps,
  prepare,
  result,
  stateLost,
  withSession
} from "../support/Session.js"
import { notices, told } from "../support/Told.js"

describe("after an exit", () => {
  keeps("functions that need extglob, those with here-documents, and all others", [
    [
      "shopt -s extglob; eval 'glob() { case $1 in +(a|b)) echo yes ;; *) echo no ;; esac; }'; latter() { echo last; }",
      {}
    ],
    ['heredoc() { cat <<X\nlatter ()\n}\nX\n}; lines() { echo "a\n}\nb"; }', {}],
    ["exit 3", { exitCode: 3 }],
    ["glob ab; glob c; latter; lines; heredoc", { stdout: "yes\nno\nlast\na\n}\nb\nlatter ()\n}\n" }]
  ])

  keeps("attributes of functions and variables", [
    [
      "f() { :; }; declare -ft f; readonly -f f; g() { echo g; }; export -f g; declare -u up=low; declare -n ref=up",
      {}
    ],
    [
      "declare -A map=(['a]b']=1 [$'x\\ny']='\"' ['$(echo no)']='`no`'); declare -ai nums=(1 2); v=$'\\x01\\e\\xff'",
      {}
    ],
    ["exit", {}],
    [
      "declare -F; bash -c g; echo $ref; up=x; echo $ref ${nums[1]} \"${map['a]b']}${map[$'x\\ny']}${map['$(echo no)']}\"",
      {
        stdout:
          ["__synapse_call", "__synapse_return", "command_not_found_handle"]
            .map((name) => `declare -f ${name}\n`)
            .join("") + 'declare -frt f\ndeclare -fx g\ng\nLOW\nX 2 1"`no`\n'
      }
    ],
    ['printf %s "$v" | od -An -tx1', { stdout: " 01 1b ff\n" }]
  ])

  keeps("aliases, arguments, options, traps, umask", [
    [
      "alias hi='echo hello' '-x=y' 2>/dev/null; alias hi='echo \"it'\\''s\"'; set -- '' 'b c' $'d\\n'; set -o pipefail; umask 027",
      {}
    ],
    ["trap 'echo \"usr1\n'\\''\"' USR1; trap '' USR2; shopt -s nullglob; set -f", {}],
    ["exit", {}],
    [
      "hi; printf '<%s>' $# \"$@\"; umask; kill -USR1 $$; kill -USR2 $$; [[ -o pipefail && -o noglob ]] && shopt -q nullglob",
      {
        stdout: "it's\n<3><><b c><d\n>0027\nusr1\n'\n"
      }
    ]
  ])

  inSession("the directory stack, in its order", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      const { movedTo } = yield* subject.run(
        "mkdir $'a\\nb'; pushd /usr >/dev/null; pushd /tmp >/dev/null; pushd -n \"$PWD/nosuch\"; exit 1"
      )
      assert.deepStrictEqual(
        yield* subject.run("dirs -p -l"),
        result({ stdout: `/tmp\n/tmp/nosuch\n/usr\n${there}\n` })
      )
      assert.strictEqual(movedTo, "/tmp")
      assert.deepStrictEqual(
        yield* subject.run("dirs -c; cd -- /usr; cd - >/dev/null; cd /; dirs -l"),
        result({ stdout: "/\n", movedTo: "/" })
      )
    })
  )

  keeps("completions, remembered programs, disabled builtins and limits", [
    ["complete -W 'a b' thing; hash -p /bin/ls lister; enable -n kill test; ulimit -S -n 222; ulimit -H -c 0", {}],
    ["exit", {}],
    [
      "complete -p thing; hash -t lister; lister -d /; enable -n; ulimit -S -n; ulimit -H -c",
      {
        stdout: "complete -W 'a b' thing\n/bin/ls\n/\nenable -n kill\nenable -n test\n222\n0\n"
      }
    ],
    ["enable kill test; [[ -t 0 ]] || /bin/echo on", { stdout: "on\n" }]
  ])

  keeps("errexit itself", [
    ["set -e; false", { exitCode: 1, diagnostics: errexitStays }],
    ["echo on; case $- in *e*) echo set ;; esac", { stdout: "on\nset\n" }],
    ["(exit 5); echo no", { exitCode: 5 }],
    [
      'set -u; false || echo "$?"; nosuch; echo no',
      {
        stdout: "1\n",
        stderr: "bash: nosuch: command not found\n",
        exitCode: 127,
        notFound: "nosuch"
      }
    ],
    ["set +eu", {}],
    ["set -e; false", { exitCode: 1, diagnostics: errexitStays }],
    // bash itself would end with the exit code of the command before.
    ["sh -c 'exit 5'", { exitCode: 5 }],
    ["source nosuch", { stderr: "bash: nosuch: No such file or directory\n", exitCode: 1 }],
    ["set +e", {}]
  ])

  inSession("the directory, which the result tells, and the parts of the last pipeline", (subject) =>
    Effect.gen(function* () {
      const { directory } = subject
      yield* subject.run("mkdir -p 'a b/é'")
      assert.deepStrictEqual(
        yield* subject.run("cd 'a b'; exit 3"),
        result({ exitCode: 3, movedTo: `${directory}/a b` })
      )
      assert.deepStrictEqual(
        yield* subject.run("set -e; cd é; false | cat; sh -c 'exit 2'"),
        result({ exitCode: 2, movedTo: `${directory}/a b/é`, diagnostics: errexitStays })
      )
      assert.deepStrictEqual(yield* subject.run("pwd"), result({ stdout: `${directory}/a b/é\n` }))
      assert.deepStrictEqual(yield* subject.run("set +e; (exit 4) | cat; exit"), result({ pipeline: [4, 0] }))
      assert.deepStrictEqual(yield* subject.run("exit 4"), result({ exitCode: 4 }))
    })
  )

  keeps("tracing, without a word of ours", [
    ["set -x; exit 2", { stderr: "++ exit 2\n", exitCode: 2 }],
    ["echo on", { stdout: "on\n", stderr: "++ echo on\n" }],
    ["set +x", { stderr: "++ set +x\n" }]
  ])

  keeps("all of it, although a part can't be read again", [
    ["declare -r HOME PWD UID BASHOPTS; complete -F nosuch x 2>/dev/null; trap 'echo \"' USR2", {}],
    ["after=1; f() { echo f; }; alias a='echo a'; exit 4", { exitCode: 4 }],
    ["f; a; echo $after", { stdout: "f\na\n1\n" }]
  ])

  inSession("twenty megabytes in one variable", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("printf -v big %20000000s; f() { echo f; }; exit 6")
      assert.deepStrictEqual(yield* subject.run("echo $? ${#big}; f; unset big"), result({ stdout: "6 20000000\nf\n" }))
      yield* assertKept(subject)
    })
  )

  inSession("more than the session takes in is lost, which the result says", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      assert.deepStrictEqual(
        yield* subject.run("printf -v big %80000000s; exit 6"),
        result({ exitCode: 6, diagnostics: stateLost(there) })
      )
      assert.deepStrictEqual(yield* subject.run('echo "$? ${#big} $PWD"'), result({ stdout: `6 0 ${there}\n` }))
    })
  )
})

describe("names of Synapse's commands", () => {
  it.live(
    "that the user gave to functions and aliases stay the user's, and the result says so once",
    () =>
      withSession(
        (subject) =>
          Effect.gen(function* () {
            yield* prepare(subject)
            const { run } = subject
            yield* run("write() { builtin echo mine \"$@\"; }; alias read='builtin echo read'")
            assert.deepStrictEqual(yield* run("write x; read y"), result({ stdout: "mine x\nread y\n" }))
            assert.deepStrictEqual(
              yield* run('command_not_found_handle() { builtin echo "none: $1"; }; exit 3'),
              result({
                exitCode: 3,
                diagnostics: told(
                  "Your own `write`, `read` go before the session's; call those as `command write`, `command read`."
                )
              })
            )
            assert.deepStrictEqual(
              yield* run("write x; read y; nosuch"),
              result({ stdout: "mine x\nread y\nnone: nosuch\n" })
            )
            assert.deepStrictEqual(yield* run("exit 4"), result({ exitCode: 4 }))
            yield* assertKept(subject)
          }),
        {},
        [Handlers.read, Handlers.write]
      ),
    60_000
  )

  inSession("names the descriptors that are closed, and the directory that is gone", ({ directory, run }) =>
    Effect.gen(function* () {
      const closed = yield* run("exec 7>seven 9>nine; exit 3")
      assert.deepStrictEqual(notices(closed), ["Descriptors that the shell had opened are closed: 7, 9."])
      for (const end of ["exit 1", "kill -9 $$", "exec true"]) {
        yield* run("mkdir gone; cd gone")
        yield* run(`rmdir ../gone; ${end}`)
        const next = yield* run("pwd")
        assert.deepStrictEqual(
          [next.stdout, notices(next)],
          [`${directory}\n`, [`The directory that the shell was in is gone: this command ran in ${directory}.`]]
        )
      }
    })
  )
})
