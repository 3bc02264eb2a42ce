import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import { masksOf } from "../../support/denial/Bubblewrap.js"
import { withWorld } from "../../support/denial/World.js"

type Told = Partial<Omit<Attribution.Outcome, "command">> & { readonly command?: string }

const named = (stderr: string, { command = "npm test", ...more }: Told = {}) =>
  withWorld((world) =>
    Attribution.make(world.policy)({
      command: CommandLine.parse(command),
      directories: [world.project],
      masks: masksOf(world),
      stderr,
      ...more
    }).map(({ rule }) => rule)
  )

const message = "cat: .env: Permission denied"

describe("a message that is only printed is no denial", () => {
  it("in quotes, in a diff, as a word of the command", async () => {
    for (const line of [
      `expected '${message}'`,
      `AssertionError: "${message}" != ""`,
      `- ${message}`,
      `  + ${message}`
    ]) {
      assert.deepStrictEqual(await named(line), [], line)
    }
    assert.deepStrictEqual(await named(message, { command: `echo '${message}' >&2; false` }), [])
    assert.deepStrictEqual(await named(message, { command: `echo '${message}' >&2; npm test` }), [])
    assert.deepStrictEqual(await named("docker: socket: operation not permitted"), ["no unix sockets"])
    const said = "socket: operation not permitted"
    assert.deepStrictEqual(await named(said, { command: `echo '${said}' >&2; false` }), [])
  })

  it("in the report of a test run, where the command does not name its speaker", async () => {
    for (const report of [
      "not ok 1 - works",
      "# fail 1",
      "2 failed, 3 passed",
      "Ran 2 tests in 0.1s",
      "FAIL src/x.ts"
    ]) {
      assert.deepStrictEqual(await named(`${message}\n${report}`), [], report)
      assert.deepStrictEqual(await named(message, { stdout: report }), [], report)
      assert.deepStrictEqual(await named(message, { stdout: report, command: "cat .env; npm test" }), ["**/.env"])
    }
    const own = "PermissionError: [Errno 13] Permission denied: '.env'"
    assert.deepStrictEqual(await named(own, { stdout: "1 failed" }), ["**/.env"])
    assert.deepStrictEqual(await named(message), ["**/.env"])
  })
})

describe("a command that only prints", () => {
  for (const [command, isIt] of [
    ['f=.en; printf "cat: ${f}v: Permission denied\\n" >&2; false', true],
    ["echo a; exit 1", true],
    ["echo a\nfalse || echo b", true],
    ["echo x > .env", false],
    ["echo < .env", false],
    ["echo $(cat .env)", false],
    ["echo `cat .env`", false],
    ["echo a; cat .env", false],
    ["echo a | tee .env", false],
    ["A=1 cat .env", false],
    ["$c .env", false],
    ["if true; then . .env; fi", false],
    ["echo\ncat .env", false]
  ] as const) {
    it(`${command}: ${isIt}`, () => assert.strictEqual(Attribution.isOnlyPrinted(CommandLine.parse(command)), isIt))
  }

  it("which is found in many empty lines at no more cost than reading them", () => {
    for (const text of ["\n", "\t\n", " ", ". \n"]) assert.isFalse(Attribution.isReport(text.repeat(500_000)))
    assert.isTrue(Attribution.isReport(`${"\n".repeat(500_000)}\tok 1 - works\n`))
    assert.isFalse(Attribution.isReport("E: setgroups 65534 failed - setgroups (1: Operation not permitted)"))
  })
})

describe("what programs say themselves in an output", () => {
  const denied = "cp: cannot open '.env' for reading: Permission denied"
  const ofGit = "fatal: could not create leading directories of '../x/.git': Read-only file system"
  const raised = "PermissionError: [Errno 13] Permission denied: '.env'"
  for (const [command, output, spoken] of [
    ["cp .e* new 2>&1", `a\n${denied}\nb`, denied],
    ["make 2>&1", denied, ""],
    ["python3 x.py 2>&1 | tail -n 3", `Traceback\n${raised}\n`, raised],
    ["touch /usr/x 2>&1", "bash: /usr/x: Read-only file system", "bash: /usr/x: Read-only file system"],
    ["cat log 2>&1; cp a b", denied, ""],
    ["cp a b 2>&1 || cat log", denied, ""],
    ["sh -c 'tail log; cp a b' 2>&1", denied, ""],
    ["git -C . log 2>&1; cp a b", denied, ""],
    ["cp a b 2>&1 |& tail -n 1", denied, denied],
    ["git worktree add ../x 2>&1 | tail -n 1", ofGit, ofGit],
    ["./build 2>&1 | tail -n 1", ofGit, ""],
    ["./cp.test 2>&1", `1 failed\n${raised}`, ""],
    ["cp a b 2>&1", `not ok: ${denied}`, ""]
  ] as const) {
    it(`${command}: ${output.split("\n")[0]}`, () => assert.strictEqual(Attribution.spokenIn(command, output), spoken))
  }
})
