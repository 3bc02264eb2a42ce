/** Against a real bash: what one command sets, the next one finds. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertKept, inSession, keeps, prepare, result } from "../support/Session.js"

describe("state", () => {
  inSession("the current directory persists, and the session knows it", ({ directory, run, session }) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* session.cwd, directory)
      yield* run("mkdir -p a/b && cd a")
      assert.strictEqual(yield* session.cwd, `${directory}/a`)
      assert.deepStrictEqual(
        yield* run("cd b; pwd; cd - >/dev/null; pwd"),
        result({ stdout: `${directory}/a/b\n${directory}/a\n` })
      )
      yield* run("cd /")
      assert.strictEqual(yield* session.cwd, "/")
      assert.deepStrictEqual(yield* run("echo $OLDPWD"), result({ stdout: `${directory}/a\n` }))
    })
  )

  keeps("variables of every kind persist", [
    ["text=$'two\\nlines \\' \" $x'; declare -i number=7; list=(one 'two three' [5]=six)", {}],
    ["declare -A map=([key]=value ['a b']='c d'); declare -r fixed=forever; declare -n alias=text", {}],
    [
      'printf \'%s|\' "$text" "$((number + 1))" "${list[@]}" "${!list[@]}" "${map[a b]}" "$fixed" "$alias"',
      {
        stdout: "two\nlines ' \" $x|8|one|two three|six|0|1|5|c d|forever|two\nlines ' \" $x|"
      }
    ],
    ["number+=1; list+=(seven); echo $number ${list[6]}", { stdout: "8 seven\n" }],
    ["fixed=never", { stderr: "bash: fixed: readonly variable\n", exitCode: 1 }],
    ["unset number; echo ${number-unset}", { stdout: "unset\n" }]
  ])

  keeps("exports reach programs, and so do exported functions", [
    ["export EXPORTED='a b'; greet() { echo \"hello $1\"; }; export -f greet", {}],
    ["bash -c 'echo $EXPORTED; greet world'", { stdout: "a b\nhello world\n" }],
    ["export -n EXPORTED; bash -c 'echo ${EXPORTED-gone}'", { stdout: "gone\n" }]
  ])

  keeps("functions persist", [
    ["double() { local n=$1; echo $((2 * n)); }", {}],
    ["double 21", { stdout: "42\n" }],
    ["unset -f double; declare -f double", { exitCode: 1 }]
  ])

  keeps("positional parameters persist", [
    ["set -- one 'two three' ''", {}],
    ["printf '<%s>' $# \"$@\"", { stdout: "<3><one><two three><>" }],
    ["shift; echo $1", { stdout: "two three\n" }]
  ])

  keeps("umask and limits persist", [
    ["umask 027; ulimit -S -c 0; ulimit -S -n 200", {}],
    ["umask; ulimit -S -n; touch made; stat -c %a made", { stdout: "0027\n200\n640\n" }]
  ])

  keeps("options persist", [
    ["shopt -s extglob nullglob; set -f; set -o pipefail", {}],
    [
      "[[ -o pipefail && -o noglob ]] && shopt extglob nullglob",
      { stdout: "extglob        \ton\nnullglob       \ton\n" }
    ],
    ["false | true", { exitCode: 1 }],
    ["echo *", { stdout: "*\n" }],
    ["set +f; echo *.none", { stdout: "\n" }]
  ])

  keeps("after set -a, programs get no variable of the session's, nor a prompt", [
    ["set -a; false | true; ulimit -n 200; trap : EXIT; read -r word <<<x", {}],
    ["sleep 0 & env | grep -aE '^(PS[0-4]|__synapse.*|word)='", { stdout: "word=x\n" }],
    ["exit 3", { exitCode: 3 }],
    ["env | grep -aE '^(PS[0-4]|__synapse.*|word)='", { stdout: "word=x\n" }]
  ])

  keeps("an alias serves the next command", [
    ["alias hi='echo hello'", {}],
    ["hi there", { stdout: "hello there\n" }],
    ["unalias hi", {}],
    ["hi", { stderr: "bash: hi: command not found\n", exitCode: 127, notFound: "hi" }]
  ])

  inSession("the directory stack persists", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      assert.deepStrictEqual(
        yield* subject.run("pushd /usr >/dev/null; pushd /tmp >/dev/null"),
        result({ movedTo: "/tmp" })
      )
      assert.deepStrictEqual(yield* subject.run("dirs -p -l"), result({ stdout: `/tmp\n/usr\n${there}\n` }))
      assert.deepStrictEqual(
        yield* subject.run("popd >/dev/null; popd >/dev/null; dirs -l"),
        result({ stdout: `${there}\n`, movedTo: there })
      )
      yield* assertKept(subject)
    })
  )

  keeps("a job of an earlier command can be waited for", [
    ["(sleep 0.1; exit 7) & J=$!", {}],
    ["wait $J", { exitCode: 7 }],
    ["sleep 1000 & kill %1; wait %1", { exitCode: 143 }]
  ])

  keeps("REPLY persists, whatever it holds", [
    ["read -r <<< 'from read'", {}],
    ['echo "$REPLY"', { stdout: "from read\n" }],
    ["REPLY=$'two\\nlines \\xff '", {}],
    ['printf %s "$REPLY" | od -An -c', { stdout: "   t   w   o  \\n   l   i   n   e   s     377    \n" }],
    ["REPLY=(an array)", {}],
    ["declare -p REPLY", { stdout: 'declare -a REPLY=([0]="an" [1]="array")\n' }],
    ["unset REPLY; declare -i REPLY=5", {}],
    ["REPLY+=1; echo $REPLY", { stdout: "6\n" }],
    ["unset REPLY; declare -r REPLY=fixed", {}],
    ["echo $REPLY", { stdout: "fixed\n" }]
  ])

  keeps("two exit codes and their pipeline are those of the user's own commands", [
    ["true | false | (exit 3)", { exitCode: 3 }],
    ["echo $?", { stdout: "3\n" }]
  ])

  keeps("a shell option set for a subshell stays there", [
    ["(set -e; cd /; kept=lost; exit 4)", { exitCode: 4 }],
    ["x=$(cd /; kept=lost; echo said); echo $x", { stdout: "said\n" }]
  ])
})
