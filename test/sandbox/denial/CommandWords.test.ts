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
