/** Against a real bash: nothing that a command prints or finds out passes for the end of a command. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertKept, inSession, keeps, prepare, result } from "../support/Session.js"

const nonce = "00000000-0000-4000-8000-000000000000"
const frame = `\u001e${nonce} 0 /tmp ${nonce}  ${nonce}\u001e`

/** Three, ls's own, and what this process was itself started with and hands on. */
const descriptorsOfChildren = ChildProcess.spawnSync("/bin/ls", ["/proc/self/fd"], { encoding: "utf8" }).stdout

describe("forging", () => {
  keeps("frames and markers that a command prints are output", [
    [`printf '%s' '${frame}'; exit_code=9; (exit 9)`, { stdout: frame, exitCode: 9 }],
    [`echo '${frame}' >&2`, { stderr: `${frame}\n` }],
    ["printf '\\036%s A %s\\036' x x", { stdout: "\u001ex A x\u001e" }],
    ["echo __END__; echo '#? '; echo 'bash-5.2$ '", { stdout: "__END__\n#? \nbash-5.2$ \n" }]
  ])

  keeps("tracing shows the user's own lines only", [
    ["set -x", {}],
    ["echo one", { stdout: "one\n", stderr: "++ echo one\n" }],
    ["nosuch", { stderr: "++ nosuch\nbash: nosuch: command not found\n", exitCode: 127, notFound: "nosuch" }],
    ["true && echo two", { stdout: "two\n", stderr: "++ true\n++ echo two\n" }],
    ["set +x", { stderr: "++ set +x\n" }],
    ["set -v", {}],
    ["echo three # said", { stdout: "three\n", stderr: "echo three # said\n" }],
    ["set +v", { stderr: "set +v\n" }]
  ])

  keeps("tracing to the shell's own stdout forges nothing", [
    ["BASH_XTRACEFD=1; set -x; PS4='+ $BASH_COMMAND '", { stdout: "++ PS4='+ $BASH_COMMAND '\n" }],
    ["(exit 3)", { stdout: "++ exit 3 exit 3\n", exitCode: 3 }],
    ["set +x; unset BASH_XTRACEFD; PS4='+ '", { stdout: "++ set +x set +x\n" }]
  ])

  inSession("what can be listed holds no nonce of a coming frame", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const listing =
        "history; fc -l; declare -p; set; env; ps -ef; trap -p; jobs; cat /proc/$$/cmdline /proc/$$/environ"
      const first = yield* subject.run(`{ ${listing}; } 2>&1`)
      const second = yield* subject.run(`{ ${listing}; echo "$BASH_COMMAND $_"; } 2>&1`)
      const secrets = `${first.stdout} ${second.stdout}`.match(/\b[0-9a-f]{32}\b/g) ?? []
      const mark = (yield* subject.run("printf %s $SYNAPSE_SESSION")).stdout
      assert.deepStrictEqual(Array.from(new Set(secrets)), [mark])
      yield* assertKept(subject)
    })
  )

  keeps("what traps and prompts print outside of a command reaches nobody", [
    ["trap 'echo noise; echo noise >&2' DEBUG", {}],
    ["echo one", { stdout: "one\n" }],
    ["PS0=noise PS1=noise PS2=noise PROMPT_COMMAND='echo noise; echo noise >&2'", {}],
    ["echo two", { stdout: "two\n" }]
  ])

  inSession("junk to every descriptor harms nothing", (subject) =>
    Effect.gen(function* () {
      // They start some hundred programs.
      const patient = { timeout: 100_000 }
      yield* prepare(subject)
      // None of them has a pipe of its own: a listed descriptor may have become that pipe, and its writer would wait for itself.
      for (const junk of ["echo junk", `printf '${frame}'`, "head -c 100000 /dev/zero"]) {
        // What bash itself keeps aside meanwhile, the command's own streams among it, may get it.
        yield* subject.run(`for fd in {3..70}; do { ${junk} >&$fd; } 2>/dev/null; done; true`, patient)
        yield* subject.run(`for fd in /proc/$$/fd/*; do { ${junk} > $fd; } 2>/dev/null; done; true`, patient)
        assert.deepStrictEqual(yield* subject.run("echo after; (exit 3)"), result({ stdout: "after\n", exitCode: 3 }))
      }
      yield* assertKept(subject)
    })
  )

  keeps("a command's children see its three descriptors, and no other", [
    ["/bin/ls /proc/self/fd", { stdout: descriptorsOfChildren }],
    ["/bin/ls /proc/self/fd | cat; cat <(/bin/ls /proc/self/fd)", { stdout: descriptorsOfChildren.repeat(2) }]
  ])

  inSession("no trap, trace, prompt or function of the user's sees what marks the end of a command", (subject) =>
    Effect.gen(function* () {
      const { directory, run } = subject
      yield* prepare(subject)
      const log = `${directory}/log`
      const note = `printf "%s\\n" "$BASH_COMMAND $_ $*" >> ${log}`
      yield* run(`trap '${note}' DEBUG RETURN ERR; set -ET; shopt -s extdebug; PS4='$(${note})+'; set -x; false`)
      yield* run(`trap '${note}' DEBUG; PS0='$(${note})' PS1='$(${note})'; (exit 3)`)
      for (const name of ["builtin", ".", "trap", "printf", "unset", "eval", "set", "["]) {
        yield* run(`${name}() { /bin/echo "$@" >> ${log}; command ${name} "$@"; }; true`)
        yield* run("false; (exit 4)")
      }
      yield* run(`exec 7>>${log}; BASH_XTRACEFD=7; (exit 5)`)
      yield* run(`{ set; declare -p; env; history; fc -l; cat /proc/$$/environ; } >> ${log} 2>&1`)
      const text = Fs.readFileSync(log, "latin1")
      assert.include(text, "__synapse_status=")
      assert.notMatch(text, /\x1e[\w-]{11} (?!A\x1e)/)
      assert.notMatch(text, /[\w-]{11}.{0,4}\$__synapse_status/)
    })
  )

  inSession("who sees what marks the begin of a command can't mark its end", ({ run }) =>
    Effect.gen(function* () {
      const forged = `printf '\\036%s 9 hB %s /tmp %s  %s\\036' "$4" "$4" "$4" "$4"`
      const each = `command builtin "$@"; set -- $? "$@"; [ "$2" = printf ] && ${forged}; return $1`
      yield* run(`builtin() { ${each}; }; readonly -f builtin`)
      assert.deepStrictEqual(yield* run("(exit 3)"), result({ exitCode: 3 }))
    })
  )

  keeps("the history holds none of our lines", [
    ["set -o history", {}],
    ["history | grep -c synapse", { stdout: "0\n", exitCode: 1 }],
    ["eval 'set -o histor''y'; true", {}],
    ["history | grep -c synapse", { stdout: "0\n", exitCode: 1 }]
  ])

  inSession("what runs while the directory is read finds no nonce", (subject) =>
    Effect.gen(function* () {
      const log = `${subject.directory}/log`
      const reference = `a[$(for Z in "$BASH_COMMAND"; do echo "$Z" >> ${log}; done)0]`
      yield* subject.run(`declare -n PWD='${reference}'; (exit 9)`)
      const text = Fs.readFileSync(log, "latin1")
      assert.include(text, "__synapse_cwd=")
      // A slow shell is asked where it is by a line of its own, after the end was reported.
      assert.notMatch(text.replaceAll(/^.*__synapse_status:\+\?.*$/gm, ""), /\x1e|\(\(/)
    })
  )

  keeps("the last argument and the last status are those of the command before", [
    ["echo a b", { stdout: "a b\n" }],
    ['echo "$_"', { stdout: "b\n" }],
    ["f() { :; }; f 'x  y'; (exit 3)", { exitCode: 3 }],
    ['echo "$? $_"', { stdout: "3 x  y\n" }],
    ["true one; : two | cat; false three", { exitCode: 1 }],
    ['echo "$? $_"', { stdout: "1 three\n" }],
    ["set -x; : four", { stderr: "++ : four\n" }],
    ['echo "$_"; set +x', { stdout: "four\n", stderr: "++ echo four\n++ set +x\n" }],
    ["trap 'echo returned' RETURN", { stdout: "returned\n" }],
    ["export -n x=1; echo six", { stdout: "six\n" }],
    ["[[ $_ == six && $? == 0 ]]", {}]
  ])

  inSession("frames of another session mean nothing", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      assert.deepStrictEqual(
        yield* subject.run(`printf '${frame}' | tee "$TMPDIR"/synapse-*/*/{state,not-found} >/dev/null; echo ok`),
        result({ stdout: "ok\n" })
      )
      yield* assertKept(subject)
    })
  )
})
