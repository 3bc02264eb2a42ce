import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as CommandWords from "../../../src/sandbox/denial/CommandWords.js"

const programsOf = (command: string): ReadonlyArray<string> =>
  CommandWords.invocations(CommandLine.parse(command)).map((words) => words.join(" "))

describe("the programs that a command runs", () => {
  for (const [command, ...programs] of [
    ["A=1 sudo -u ada -- git mv a b", "git mv a b"],
    ["timeout -k 1 0.5 nice -n 5 npm ci", "npm ci"],
    ["cd a && env -i B=2 npm i", "cd a", "npm i"],
    ["env -v -uA --default-signal=PIPE git reset --hard", "git reset --hard"],
    ["env -S 'git mv a b'", "env -S git mv a b"],
    ["sh -ec 'cd a; git mv a b'", "sh -ec cd a; git mv a b", "cd a", "git mv a b"],
    ["$git mv a b", "$git mv a b"]
  ] as const) {
    it(command, () => assert.deepStrictEqual(programsOf(command), programs))
  }
})

describe("the host that a command is to reach", () => {
  for (const [command, host] of [
    ["x=$(curl -s http://a.org/)", "a.org"],
    ['echo "`wget -q http://u@a.org:80/x`"', "a.org"],
    ["bash -ec 'curl -s https://a.org; true'", "a.org"],
    ["eval 'x=$(curl http://[fe80::1]/)'", "[fe80::1]"],
    ["`curl http://a.org`", "a.org"],
    ["curl ${x:-curl http://a.org}", undefined],
    ["for i in 1 2; do curl http://e$i.org; done", undefined],
    ["for h in a b; do curl http://$h/; done", undefined],
    ["curl http://e{1,2}.org", undefined],
    ["echo 'curl http://a.org'", undefined],
    ["curl localhost; curl http://127.0.0.1", undefined]
  ] as const) {
    it(command, () => assert.strictEqual(CommandWords.hostIn(CommandLine.parse(command)), host))
  }
})

describe("a command that surely uses no network", () => {
  for (const [command, isLocal] of [
    ["cd a && FOO=1 ls -l | grep -c x >b; git -c", false],
    ["cd a && FOO=1 ls -l | grep -c x >b; git status", true],
    ["x=1", true],
    ["edit a <<'E'\nnpm ci\nE", true],
    ["cargo build", false],
    ["go mod download", false],
    ["./deploy", false],
    ["git push", false],
    ["ls; deploy", false],
    ["echo $(deploy)", false],
    ["find . -exec deploy {} +", false],
    ["tar -cf a --checkpoint-action=exec=deploy b", false],
    ["fd -x deploy", false],
    [`awk '{ print | "deploy" }' a`, false],
    ["awk '{ print $1 }' a | sort", true],
    ["echo a >/dev/tcp/a.example/80", false],
    ["timeout 5 make", false]
  ] as const) {
    it(command, () => assert.strictEqual(CommandWords.isLocal(CommandLine.parse(command)), isLocal))
  }
})

describe("a command that surely writes no file", () => {
  for (const [command, isReading] of [
    ["true", true],
    ["cd a && echo b; test -e c", true],
    ["echo >.git", false],
    ["PATH=. ls", false],
    ["ls", false],
    ["echo $(tar xf a)", false],
    ["ls() { tar xf a; }; ls", false],
    ["./x", false],
    ["git status", false]
  ] as const) {
    it(command, () => assert.strictEqual(CommandWords.isReading(CommandLine.parse(command)), isReading))
  }
})
