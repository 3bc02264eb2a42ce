/** Against a real bash: a shell in any state that its user can bring it into goes on to serve. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import { assertKept, errexitStays, inSession, keeps, prepare, result } from "../support/Session.js"
import { told } from "../support/Told.js"

type Step = readonly [command: string, expected: Partial<CommandResult>]

const names = ["printf", "echo", "read", "test", "eval", "command", "source", "builtin", "exit", "unset", "trap", "cd"]

/** The next commands run, succeed and fail as ever. */
const serves: ReadonlyArray<Step> = [
  ["/bin/echo said", { stdout: "said\n" }],
  [`/bin/sh -c "exit 6"`, { exitCode: 6 }],
  ["[[ $? = 6 ]]", {}]
]

const removed = (name: string) =>
  told(`No alias may have the name of a reserved word that the session needs: removed ${name}.`)

describe("hostile state", () => {
  for (const name of names) {
    keeps(`an alias and a function named ${name}`, [
      [`alias ${name}='/bin/echo mine'`, {}],
      ...serves,
      [`\\unalias ${name}`, {}],
      [`${name}() { /bin/echo mine; return 9; }`, {}],
      ...serves
    ])
  }

  keeps("functions with all of these names but the way to undo them", [
    [
      names
        .filter((name) => name !== "unset")
        .map((name) => `${name}() { return 9; }`)
        .join("; "),
      {}
    ],
    ...serves
  ])

  keeps("functions and aliases with the names of reserved words", [
    ["function select { /bin/echo mine; }; function [[ { return 9; }; function in { :; }", {}],
    ...serves,
    ["alias then=mine fi=mine for=mine while=mine time=mine", {}],
    ...serves
  ])

  keeps("an alias with the name of a word that the protocol needs is removed, and the result says so", [
    ["alias }=mine", { diagnostics: removed("}") }],
    ...serves,
    ["alias {='/bin/echo mine'; (exit 7)", { exitCode: 7, diagnostics: removed("{") }],
    ...serves,
    ["alias select=mine in=mine do=mine done=mine; (exit 7)", { exitCode: 7 }],
    ["alias -p | grep -c mine; unalias select in do done", { stdout: "4\n" }],
    ...serves,
    ["for i in 1 2; do /bin/echo $i; done", { stdout: "1\n2\n" }]
  ])

  keeps("builtins that are disabled", [
    ["enable -n echo read test eval command source unset cd kill", {}],
    ...serves,
    ["enable echo read test eval command source unset cd kill; enable -n printf", {}],
    ...serves,
    ["enable printf", {}]
  ])

  keeps("streams that are redirected or closed for good", [
    ["exec >/dev/null; echo lost", {}],
    ["echo heard", { stdout: "heard\n" }],
    ["exec 1>&- 2>&-", {}],
    ["echo heard; echo heard >&2", { stdout: "heard\n", stderr: "heard\n" }],
    ["exec 2>&1; echo heard >&2", { stdout: "heard\n" }],
    ["echo heard >&2", { stderr: "heard\n" }],
    ["exec 5<<<'my own'", {}],
    ["exec 3>&- 4>&- 0<&-", {}],
    ["cat <&5; cat", { stdout: "my own\n" }],
    ["exec 6>own; exec 5<&-", {}],
    ["echo kept >&6; cat own", { stdout: "kept\n" }]
  ])

  keeps("the descriptors that bash itself uses", [
    ["exec 7>&1 8>&2 9</dev/null; echo on >&7", { stdout: "on\n" }],
    ["exec 7>&- 8>&- 9<&-", {}],
    ["exec 200>file; echo text >&200; cat file", { stdout: "text\n" }],
    ["exec {fd}>other; echo text >&$fd; cat other; exec {fd}>&-", { stdout: "text\n" }]
  ])

  keeps("noexec means the command's own rest only", [
    ["set -n", {}],
    ["echo heard", { stdout: "heard\n" }]
  ])

  keeps("the POSIX mode, with a syntax error and an error of a special builtin", [
    ["set -o posix", {}],
    ["echo $(", { stdout: "", stderr: "bash: line 2: unexpected EOF while looking for matching `)'\n", exitCode: 2 }],
    [". ./nosuch 2>/dev/null; echo on", { stdout: "on\n" }],
    ["readonly fixed=1; fixed=2; echo no", { stderr: "bash: fixed: readonly variable\n", exitCode: 1 }],
    ["set +o posix; POSIXLY_CORRECT=1", {}],
    [")", { stderr: "bash: line 1: syntax error near unexpected token `)'\nbash: line 1: `)'\n", exitCode: 2 }],
    ["unset POSIXLY_CORRECT", {}]
  ])

  keeps("separators and locales of any kind", [
    ["IFS=0123456789", {}],
    ["(exit 42)", { exitCode: 42 }],
    ["(exit 6)", { exitCode: 6 }],
    ["IFS=$' \\t\\n'; export LC_ALL=C", {}],
    ["echo ü😀; (exit 3)", { stdout: "ü😀\n", exitCode: 3 }],
    ["unset LC_ALL; LC_NUMERIC=C; unset IFS", {}]
  ])

  inSession("a locale that does not exist", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("LC_ALL=bogus; LANG=nothing")
      assert.deepStrictEqual(yield* subject.run("echo ü"), result({ stdout: "ü\n" }))
      yield* assertKept(subject)
    })
  )

  keeps("a trace prompt that runs commands", [
    ["PS4='$(echo x; echo y >&2; exit 7)+ '; set -x", {}],
    ["echo on; (exit 3)", { stdout: "on\n", stderr: "y\nxx+ echo on\ny\nxx+ exit 3\n", exitCode: 3 }],
    ["set +x 2>/dev/null", { stderr: "y\nxx+ set +x\n" }]
  ])

  keeps("readonly variables that the protocol sets", [
    ["declare -r REPLY=fixed PS0=p0 PS1=p1 PS2=p2 PS4=+ OLDPWD TMOUT=0 HISTFILE=x MAILCHECK=5", {}],
    ...serves,
    ["exit 4", { exitCode: 4 }],
    ["echo $REPLY $PS1 $?", { stdout: "fixed p1 4\n" }]
  ])

  keeps("a readonly PWD", [
    ["declare -r PWD", {}],
    ...serves,
    ["exit 4", { exitCode: 4 }],
    ["echo $?", { stdout: "4\n" }]
  ])

  keeps("no PWD at all", [["there=$PWD; set -u; unset PWD OLDPWD", {}], ...serves, ["PWD=$there; set +u", {}]])

  keeps("globbing and clobbering options", [
    ["set -C -f; shopt -s nullglob failglob dotglob nocasematch", {}],
    ...serves,
    ["exit 3", { exitCode: 3 }],
    ...serves,
    ["echo x > made; echo y >| made; cat made", { stdout: "y\n" }]
  ])

  keeps("shell options that change how scripts run", [
    ["set -e -u -o pipefail -E -T; shopt -s inherit_errexit lastpipe expand_aliases xpg_echo", {}],
    ...serves.slice(0, 1),
    [`/bin/sh -c "exit 6"`, { exitCode: 6, diagnostics: errexitStays }],
    ["set +e", {}],
    ["set -k -a -h -B; set -p", {}],
    ...serves
  ])

  keeps("prompts that run commands", [
    ["PROMPT_COMMAND='echo noise; false'; PS0='$(echo noise)'; PS1='$(echo noise >&2)'", {}],
    ...serves,
    ["unset PROMPT_COMMAND; PROMPT_COMMAND=('echo noise' 'false')", {}],
    ...serves
  ])

  keeps("editing modes and history", [
    ["set -o vi", {}],
    ...serves,
    ["set -o emacs; set -o history; set -H; HISTFILE=$PWD/history", {}],
    ['echo "!!" wow!', { stdout: "!! wow!\n" }],
    ["history -c; set +o history; set +H", {}]
  ])

  keeps("an idle time limit ends the shell, and keeps the state", [
    ["TMOUT=1", {}],
    ["/bin/sleep 1.5; echo on", { stdout: "on\n" }]
  ])

  inSession("an idle time limit passes while nobody commands", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("TMOUT=1; big=$(head -c 300000 /dev/zero | tr '\\0' b)")
      yield* Effect.sleep(2500)
      assert.deepStrictEqual(yield* subject.run("echo ${#big}"), result({ stdout: "300000\n" }))
      yield* assertKept(subject)
    })
  )

  keeps("no PATH", [
    ["unset PATH", {}],
    ["echo on; [[ -z ${PATH-} ]]", { stdout: "on\n" }],
    ["PATH=/usr/bin:/bin", {}],
    ...serves
  ])

  inSession("the current directory is removed", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("mkdir gone; cd gone; rmdir ../gone")
      assert.deepStrictEqual(yield* subject.run("echo on"), result({ stdout: "on\n" }))
      assert.deepStrictEqual(yield* subject.run("exit 3"), result({ exitCode: 3 }))
      assert.deepStrictEqual(
        yield* subject.run('echo $?; cd "${OLDPWD}"'),
        result({
          stdout: "3\n",
          movedTo: `${subject.directory}/kept here`,
          diagnostics: told(`The directory that the shell was in is gone: this command ran in ${subject.directory}.`)
        })
      )
      yield* assertKept(subject)
    })
  )

  keeps("limits on files, cores and stacks", [
    ["ulimit -f 1; ulimit -c 0; ulimit -s 1024", {}],
    ...serves,
    ["for i in {1..3000}; do echo $i; done | tail -1", { stdout: "3000\n" }]
  ])

  keeps("a start file of the user's", [
    [
      'printf \'PS1="\\\\u$ "; alias ll="ls -l"; HISTSIZE=5; set -o vi; shopt -s histappend; trap : WINCH\\n\' > rc; source ./rc',
      {}
    ],
    ...serves,
    ["[[ -e ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1; true", {}],
    ...serves
  ])

  keeps("directories with names of any kind", [
    ["top=$PWD; mkdir -p $'new\\nline' -- '-dash' $'bad\\xff' '  blank '; cd $'new\\nline'", {}],
    ['echo "${PWD#$top/}"; cd -- "$top/-dash"', { stdout: "new\nline\n" }],
    ["exit 2", { exitCode: 2 }],
    ['echo "${PWD#$top/}"; cd "$top/"$\'bad\\xff\'', { stdout: "-dash\n" }],
    ["pwd | tail -c 5 | od -An -c", { stdout: "   b   a   d 377  \\n\n" }],
    ["exit 2", { exitCode: 2 }],
    ['pwd | tail -c 5 | od -An -c; cd "$top"', { stdout: "   b   a   d 377  \\n\n" }]
  ])
})
