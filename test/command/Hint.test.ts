import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as Hint from "../../src/command/Hint.js"
import * as Advice from "../../src/domain/Advice.js"

const names = (text: string): string => Hint.candidates(CommandLine.parse(text)).join(" ")

const named: Readonly<Record<string, string>> = {
  "ls /nonexistent": "ls",
  "FOO=1 nosuch": "nosuch",
  "cd x && make all": "cd make",
  false: "false",
  "A=1 false": "false",
  "false && true": "",
  "true; exit 3": "",
  "echo no; false": "",
  "echo no >&2; return 1": "",
  "a && b && c && d": "a b c",
  "echo start; make": "make",
  "make; ls /x": "ls",
  "make\nls /x\n": "ls",
  "cat f | grep x | sort -k": "sort",
  "make |\n  tee log": "tee",
  "make &&\n  ls": "make ls",
  "make || exit 1": "make",
  "make || { echo no; exit 1; }": "",
  "sudo -n apt-get update": "apt-get",
  "sudo -u www-data -- psql x": "psql",
  "sudo --weird foo": "sudo",
  "env -i A=1 B=2 node x.js": "node",
  env: "env",
  "time -p make": "make",
  "timeout -s KILL 5 curl x": "curl",
  "nice -n 5 nohup make": "make",
  "command -v foo": "command",
  "command ls x": "ls",
  "/usr/bin/env python3 x.py": "/usr/bin/env",
  "python3 - <<'EOF'\nls 'x && y\nEOF\n": "python3",
  "curl x 2>&1 >/dev/null": "curl",
  "ls /x # && make": "ls",
  "[ -f x ]": "[",
  "test -f x": "test",
  "exit 3": "",
  "if true; then false; fi; ls /x": "ls",
  "for f in a b; do cat $f; done && make": "",
  "f() { ls; }; f": "",
  "(cd x && make)": "",
  "{ make; }": "",
  "[[ -f x && -d y ]]": "",
  "((1 + 1))": "",
  "if make; then ls; fi": "",
  "while read x; do y; done < f": "",
  "case x in a) ls;; esac": "",
  "! grep x f": "",
  "$CMD --flag": "",
  '"$CMD" x': "",
  "A=$(false)": "",
  "set -e; make; ls": "",
  "exit 3\nls": "",
  "make &": "",
  "ls 'open": "",
  "ls )": "",
  "": ""
}

describe("the names for a hint", () => {
  for (const [text, expected] of Object.entries(named)) {
    it(`are ${expected === "" ? "unknown" : expected} for ${JSON.stringify(text)}`, () => {
      assert.strictEqual(names(text), expected)
    })
  }
})

describe("Hint", () => {
  const forModel = (advice: Advice.Advice | undefined) =>
    advice === undefined ? undefined : Advice.render([advice], Advice.model)
  const forFailed = (name: string) => forModel(Hint.forFailed(name))
  const forMissing = (name: string, canSearch = false) => forModel(Hint.forMissing(name, canSearch))

  it("S16: suggests the help of the command that failed", () => {
    assert.strictEqual(forFailed("ls"), 'Bash(command="ls --help") shows how to use ls.')
  })

  it("points to bash's own help for bash's own commands", () => {
    assert.strictEqual(forFailed("cd"), 'Bash(command="cd --help") shows how to use cd.')
    assert.strictEqual(
      forFailed("false"),
      'Bash(command="help false") (for the program of that name, Bash(command="false --help")) shows how to use false.'
    )
  })

  it("gives none for a name that can't stand in it", () => {
    assert.isUndefined(forFailed("a b"))
    assert.isUndefined(forFailed('a"b'))
    assert.isUndefined(forMissing('x"y'))
  })

  it("knows the one program of a line that can be missing", () => {
    const missing = (text: string) => Hint.missing(CommandLine.parse(text))
    assert.strictEqual(missing("cd x && sudo -n ./run y"), "./run")
    for (const text of ["a && b", "exit 127", "(nope)", "cd x"]) assert.isUndefined(missing(text), text)
  })

  it("S16: says of a missing command how to find one like it", () => {
    assert.strictEqual(
      forMissing("nosuch"),
      'Bash(command="nosuch --help") shows how to use nosuch, where there is one.'
    )
    assert.strictEqual(
      forMissing("nosuch", true),
      'Bash(command="command:search nosuch") finds commands like it; Bash(command="nosuch --help") shows how to use nosuch, where there is one.'
    )
  })
})
