import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Handlers from "../support/Handlers.js"
import { result, type Subject, withSession } from "../support/Session.js"

/** A command line, and what it gives; `$D` stands for the test's directory. */
const gives = (
  name: string,
  command: string,
  expected: Partial<ReturnType<typeof result>> | string,
  prepare: (subject: Subject) => void = () => {}
) =>
  it.live(
    name,
    () =>
      withSession(
        (subject) =>
          Effect.gen(function* () {
            prepare(subject)
            const { stderr, ...given } = yield* subject.run(command)
            const fields = typeof expected === "string" ? { stdout: expected } : expected
            assert.deepStrictEqual(
              { ...given, stderr, stdout: given.stdout.replaceAll(subject.directory, "$D") },
              result(fields)
            )
          }),
        {},
        Handlers.all
      ),
    60_000
  )

const file = (name: string, text: string) => (subject: Subject) =>
  Fs.writeFileSync(`${subject.directory}/${name}`, text)

describe("a Synapse command", () => {
  gives(
    "gets the words that bash makes of them",
    `x='a  b'; show "$x" $x 'c"d' $'\\t' '' *`,
    `["show","a  b","a","b","c\\"d","\\t","","*","$D",null]\n`
  )
  gives("reads a pipe, and writes to one", "printf 'a\\nb' | show x | cat", `["show","x","$D","a\\nb"]\n`)
  gives(
    "reads a here-document and a here-string",
    "show <<E\n$((1+1))\nE\nshow <<<z",
    `["show","$D","2\\n"]\n["show","$D","z\\n"]\n`
  )
  gives(
    "is called in the directory that the line is in",
    "mkdir s; (cd s && show); show",
    `["show","$D/s",null]\n["show","$D",null]\n`
  )
  gives("stands in loops and substitutions", `for i in 1 2; do echo "[$(fail 0 $i)]"; done`, "[1]\n[2]\n")
  gives("has its exit code, and both outputs", "fail 3 out err; echo $?; fail 0 && echo yes || echo no", {
    stdout: "out3\nyes\n",
    stderr: "err"
  })
  gives(
    "is run by xargs, find, env and timeout",
    "echo a b | xargs -n1 fail 0; touch f; find . -name f -exec fail 0 found \\;; env fail 0 env; timeout 5 fail 0 in",
    "abfoundenvin"
  )
  gives("runs in the background, in a subshell, in a pipeline", "fail 0 a & wait; (fail 0 b); fail 0 c | cat", "abc")
  gives("takes redirections", "show >out 2>&1 x; cat out; fail 1 o e 2>err; cat err", `["show","x","$D",null]\noe`)
  gives(
    "is there for scripts, by way of bash and of sh",
    "printf 'fail 0 $1' >s; bash s a; sh s b; chmod +x s; ./s c",
    "abc"
  )
  gives("has a prefix's name", "mcp:a:b c | cat; (mcp:d)", `["mcp:a:b","c","$D",null]\n["mcp:d","$D",null]\n`)
  gives(
    "takes words that are longer than a program's can be",
    `x=$(printf '%0500000d' 0 | tr 0 '~'); show "$x" | tr -cd '~' | wc -c; y=$(printf '%0500000d' 0); write f "$y"; wc -c <f`,
    "500000\nwritten\n500000\n"
  )
  gives(
    "takes an input and puts out an output of any length",
    "head -c 3000000 /dev/zero | tee f | count; read f | cmp - f && echo same",
    "3000000\nsame\n"
  )
  gives("says how its error is to be mended, with the error's kind", "misuse", {
    stderr: "misuse: no way\nUsage: misuse\n",
    exitCode: 1,
    category: "invalid_usage"
  })
  gives("that is unknown is answered as it is elsewhere", "skill:no:such | cat; task:x", {
    stderr:
      "Unknown skill: no (in skill:no:such).\nThere are no skills.\n" +
      "Unknown command: task:x.\nThere are these commands besides the shell's own: " +
      "count, fail, half, mcp:*, misuse, read, show, write.\n",
    exitCode: 127,
    category: "command_not_found"
  })
  gives(
    "ends like any program that writes to nobody",
    `head -c 3000000 /dev/zero >f; read f | head -c1 >/dev/null; echo \${PIPESTATUS[0]}`,
    "141\n"
  )
  gives(
    "works where the shell has other settings",
    "set -euo pipefail; set -C; IFS=,; set -f; PATH=/nowhere; show a; set -o posix; show b",
    `["show","a","$D",null]\n["show","b","$D",null]\n`
  )
  gives(
    "works where the shell's own words were redefined",
    "printf() { :; }; exec() { :; }; alias read=false; local() { :; }; set() { :; }; show a",
    `["show","a","$D",null]\n`
  )
})

describe("a call", () => {
  gives(
    "works with a closed input, and with closed outputs",
    "fail 0 a <&-; exec 0<&-; fail 0 b; fail 0 c >&- 2>/dev/null; echo $?",
    "ab1\n"
  )
  gives(
    "that can't put out its output fails",
    "fail 0 x >/dev/full 2>/dev/null; echo $?; read f >/dev/full 2>/dev/null; echo $?",
    "1\n1\n",
    file("f", "text")
  )
  gives(
    "gets words byte for byte",
    "write f $'x\\xe9y'; od -An -tx1 f; write $'\\xff' z; read $'\\xff'; rm $'\\xff'",
    "written\n 78 e9 79\nwritten\nz"
  )
  gives(
    "refuses a path that is too long",
    'p=$(printf "%070000d" 0); read "$p" 2>&1 | tail -c 21; write "$p/$p" x 2>&1 | tail -c 21; echo ${PIPESTATUS[0]}',
    ": File name too long\n: File name too long\n1\n"
  )
  gives("works with a low limit of descriptors", "ulimit -n 64; fail 0 a; write f x; read f", "awritten\nx")
})

describe("read", () => {
  gives("leaves BASH_REMATCH alone", "[[ foo42 =~ [0-9]+ ]]; read x <<<v; echo ${BASH_REMATCH[0]}", "42\n")
  gives(
    "ends a loop whose variable has a file's name",
    "touch host; while read host; do echo LOOP; done; echo 'while read host; do echo LOOP; done; echo over' >s; bash s",
    "over\n"
  )
  gives(
    "takes what follows -- for names, as bash does",
    "read -- y <<<w; echo $y; read a[1] <<<v; echo ${a[1]}",
    "w\nv\n"
  )
  gives(
    "is bash's own where it reads variables",
    "printf 'a b\\nc' | { read x y; echo $y; read -r z; echo $z; }; IFS=: read u _ <<<k:v; echo $u; read -a l <<<'1 2'; echo ${l[1]}",
    "b\nc\nk\n2\n"
  )
  gives(
    "is bash's own in loops",
    "printf 'a\\nb\\n' | while read line; do echo \"<$line>\"; done; while IFS= read -r l; do echo $l; done < <(echo c)",
    "<a>\n<b>\nc\n"
  )
  gives(
    "is the command where its word is no variable's name",
    'read f.txt | tail -n1; (read ./f.txt) | head -n1; for i in f.txt; do read "$i"; done',
    "two\none\none\ntwo\n",
    file("f.txt", "one\ntwo\n")
  )
  gives(
    "is the command where there is nothing that bash could read",
    "read Makefile; cat Makefile | { read x; echo $x; }",
    "all:\nall:\n",
    file("Makefile", "all:\n")
  )
  gives(
    "is the command for programs and for scripts",
    "find . -name '*.txt' -exec read {} \\;; echo ./f.txt | xargs read; echo 'read f.txt' >s; bash s",
    "1\n1\n1\n",
    file("f.txt", "1\n")
  )
  gives("reads what a substitution gives", "read <(echo from it)", "from it\n")
  gives("shows little of itself in a trace", "set -x; read -r x <<<a", {
    stderr: "++ read -r x\n++ [[ -r == -@([!h-]*|h?*) ]]\n++ builtin read -r x\n"
  })
  gives(
    "shows five lines of itself in a trace where it is the command",
    "printf one >f; { set -x; read ./f; set +x; } 2>trace; grep -c '^+' trace",
    "one6\n"
  )
  gives(
    "has one function of six lines in the environment of programs",
    "env | grep -c ^BASH_FUNC; printenv BASH_FUNC_read%% | grep -c ''",
    "1\n6\n"
  )
  gives(
    "is bash's own in what outlives the session's directory",
    `printf 'read x y <<<"a b"; echo $y; read q/f 2>&1 | grep -c identifier; while read -r l; do echo $l; done <<<c' >s; bash s
     env "BASH_FUNC_read%%=$(printenv BASH_FUNC_read%% | sed "s#'[^']*'/read#/gone/read#g")" bash s`,
    "b\n0\nc\nb\n1\nc\n"
  )
  gives(
    "shows six lines a turn of a loop in a trace",
    "printf 'a b\\nc d\\n' >f; { set -x; while read x y; do :; done <f; set +x; } 2>trace; grep -c '^+' trace",
    "21\n"
  )
})
