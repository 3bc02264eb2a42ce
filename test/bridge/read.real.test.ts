/** Which `read` runs: bash's own, or the command. What tells is where it is called, not what else the line says. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApps } from "../support/toolset/App.js"

/** Lines, and what each puts out; `#` stands for the number that is before a line of a file. */
const gives = (name: string, lines: Readonly<Record<string, string>>) =>
  inApps(name, ({ put, run }) =>
    Effect.gen(function* () {
      put("Makefile", "all:\n\twhile read x\n")
      put("host", "one\n")
      put("hosts", "a b\nc d\n")
      for (const [line, expected] of Object.entries(lines)) {
        const { stdout = "" } = yield* run(line)
        assert.strictEqual(stdout.replaceAll(/^ +(?=\d+\t)/gm, ""), expected, line)
      }
    })
  )

describe("read", () => {
  gives("S50: is the command at the top level of a line, where bash could read nothing", {
    "read host": "1\tone\n",
    "read host; echo $?": "1\tone\n0\n",
    "(read host)": "1\tone\n",
    "echo $(read host)": "1 one\n",
    "read host && echo yes": "1\tone\nyes\n",
    "read host || echo no": "1\tone\n",
    "if read host; then echo yes; fi": "1\tone\nyes\n",
    "! read host; echo $?": "1\tone\n1\n",
    "for f in host host; do read $f; done": "1\tone\n1\tone\n",
    "eval read host": "1\tone\n",
    "read nosuch 2>/dev/null; echo $?": "1\n",
    "read Makefile --offset 1": "2\t\twhile read x\n"
  })

  gives("does not depend on words elsewhere in the line", {
    "read Makefile | grep while": "2\t\twhile read x\n",
    "read Makefile && echo while until": "1\tall:\n2\t\twhile read x\nwhile until\n",
    "read host; while read x y; do echo $y; done <hosts": "1\tone\nb\nd\n",
    "while read x y; do echo $y; done <hosts; read host": "b\nd\n1\tone\n",
    "# while\nread host": "1\tone\n",
    'x="while read"; read host': "1\tone\n"
  })

  gives("is bash's own in the condition of a loop, which ends", {
    "while read host; do echo LOOP; done; echo over": "over\n",
    "while IFS= read host; do echo LOOP; done; echo over": "over\n",
    "until ! read host; do echo LOOP; done; echo over": "over\n",
    "while :; do read host || break; echo LOOP; done; echo over": "over\n",
    "while ! read nosuch; do echo $?; break; done": "0\n",
    "while\nread host\ndo echo LOOP; done; echo over": "over\n",
    "if true; then while read host; do echo LOOP; done; fi; echo over": "over\n",
    "(while read host; do echo LOOP; done); echo over": "over\n"
  })

  gives("is bash's own where there is something to read, in functions, and with options", {
    "read host <hosts; echo $host": "a b\n",
    "cat hosts | { read host; echo $host; }": "a b\n",
    "read host other <hosts; echo $other": "b\n",
    "IFS=: read host other <<<x:y; echo $host $other": "x y\n",
    "IFS=, read a b <<<1,2; echo $b": "2\n",
    "read -r host <<<x; echo $host": "x\n",
    "read __synapse_own <<<x; echo $__synapse_own": "x\n",
    "read -- own <<<x; echo $own": "x\n",
    "read a[2] <<<x; echo ${a[2]}": "x\n",
    "f() { read host; echo $?; }; f": "1\n",
    f: "1\n"
  })

  gives("is bash's own in a script, but for words that are no names", {
    "echo 'read host; echo $?; read host <hosts; echo $host; read ./host; read host --limit 1' >s; bash s":
      "1\na b\n1\tone\n1\tone\n",
    "bash -c 'read host; echo $?; read ./host'": "1\n1\tone\n",
    "echo 'while read host; do echo LOOP; done; read Makefile; echo $?' >s.sh; bash s.sh": "1\n",
    "chmod +x s.sh; printf '#!/bin/bash\\nread host; echo $? # while' >s.sh; ./s.sh": "1\n",
    ". ./s.sh": "1\n",
    "printf '%s\\n' a b | bash -c 'while read host; do echo $host; done'": "a\nb\n"
  })

  gives("keeps a failure where set -e and a trap on ERR look for it", {
    "(set -e; trap 'echo ERR' ERR; read nosuch; echo on) 2>/dev/null; echo $?": "ERR\n1\n",
    "(set -eu; if read nosuch; then :; fi; read host; echo on) 2>/dev/null": "1\tone\non\n"
  })

  gives("is the command with several names too, where bash could read nothing", {
    "read host hosts": "==> host <==\n1\tone\n\n==> hosts <==\n1\ta b\n2\tc d\n",
    "read host nosuch 2>/dev/null; echo $?": "==> host <==\n1\tone\n1\n",
    "while ! read host hosts; do echo $?; break; done": "0\n"
  })

  gives("is neither where a loop over names may mean the file or the variable, and takes no line away", {
    'printf "%s\\n" Makefile host other | while read f; do read "$f" || echo "$f: $?"; done; echo x':
      "Makefile: 1\nhost: 1\nother: 1\nx\n",
    "printf '%s\\n' host hosts | while read f; do read $f 2>&1; done":
      'read: host: the file, or a variable? "read ./host" shows the file, "builtin read host" sets the variable\nread: hosts: the file, or a variable? "read ./hosts" shows the file, "builtin read hosts" sets the variable\n',
    "mkdir -p dir; printf 'dir\\n' | while read f; do read \"$f\" 2>&1; done":
      'read: dir: the directory, or a variable? "ls ./dir" lists the directory, "builtin read dir" sets the variable\n',
    "printf '%s\\n' host hosts | while IFS= read -r f; do read \"$(echo $f)\" 2>/dev/null || echo $f; done":
      "host\nhosts\n",
    // What it names does.
    'ls | while read f; do read "./$f"; done | head -1': "1\tall:\n",
    'echo x | while read f; do host=1; builtin read host <hosts; read ./host; echo "$host"; done': "1\tone\na b\n",
    // A name that no file has, and one that the line itself says, are variables.
    'echo "a b" | { v=name; read "$v"; echo "$name"; }': "a b\n",
    "for f in 1 2; do read host; echo $host; done <hosts": "a b\nc d\n"
  })
})
