import { assert, describe, it } from "@effect/vitest"
import * as Denial from "../../../src/sandbox/denial/Denial.js"
import * as PassingDenial from "../../../src/sandbox/denial/PassingDenial.js"
import type { Rule } from "../../../src/sandbox/policy/SandboxPolicy.js"

const rule: Rule = { pattern: "**/.env", path: "**/.env", kind: "glob", source: "default" }
const denial = Denial.make({ rule, reason: "on the blacklist" }, "/p/.env", "read", "verified-text")
const masks = [
  { path: "/p/.env", kind: "file", rule },
  { path: "/p/sub/.env", kind: "file", rule }
] as const

const passed = (passing: Partial<PassingDenial.Passed>): PassingDenial.Passed => ({
  command: "cat .env | wc -l",
  directories: ["/p"],
  stdout: "",
  stderr: "",
  masks,
  denials: [],
  isPipeline: false,
  ...passing
})

const reading = "Blocked by the sandbox: reading /p/.env (rule **/.env); the command went on without it."
const hiding = "The sandbox hides /p/.env (rule **/.env): git can't read it, and takes it for changed."

describe("a denial to a command that went on", () => {
  it("is told once for each rule", () => {
    const passing = new PassingDenial.PassingDenials()
    const notices = [1, 2].map(() => passing.notice(passed({ denials: [denial] })))
    assert.deepStrictEqual(notices, [reading, undefined])
  })

  it("is not told where a result has named the rule before", () => {
    const passing = new PassingDenial.PassingDenials()
    passing.note(denial)
    assert.isUndefined(passing.notice(passed({ denials: [denial] })))
  })

  it("is not told where it is not certain, or of the network", () => {
    const passing = new PassingDenial.PassingDenials()
    const denials = [Denial.network("verified-text"), Denial.network("counter"), Denial.socket()]
    assert.isUndefined(passing.notice(passed({ denials })))
  })

  it("is told of a unix socket that a message names", () => {
    const passing = new PassingDenial.PassingDenials()
    const told = passing.notice(passed({ denials: [Denial.socket("/tmp/tmux-0/q")] }))
    assert.match(told ?? "", /^Blocked by the sandbox: reaching \/tmp\/tmux-0\/q \(rule no unix sockets\); /)
  })

  for (const [what, stdout] of Object.entries({
    "git status": "Changes not staged for commit:\n\tmodified:   .env\n",
    "git status of what seems to be gone": "Changes not staged for commit:\n\tdeleted:    .env\n",
    "git status --short": "?? new\n M .env\n",
    "git status --short of what is staged": "AM .env\n"
  })) {
    it(`is told for ${what}, once`, () => {
      const passing = new PassingDenial.PassingDenials()
      const notices = [1, 2].map(() => passing.notice(passed({ command: "git status", stdout })))
      assert.deepStrictEqual(notices, [hiding, undefined])
    })
  }

  for (const [what, stdout] of Object.entries({
    "git tells that others are changed": "\tmodified:   .env.example\n M a/.env\n",
    "a log of git names the file": "commit 1\n\n    remove .env\n M\t.env\n",
    "the file is only staged": "M  .env\n"
  })) {
    it(`is not told where ${what}`, () => {
      assert.isUndefined(new PassingDenial.PassingDenials().notice(passed({ command: "git status", stdout })))
    })
  }

  it("is not told for the output of other programs", () => {
    const stdout = "\tmodified:   .env\n"
    assert.isUndefined(new PassingDenial.PassingDenials().notice(passed({ command: "cat notes", stdout })))
  })

  it("is not told for what the command prints itself, or where git tells of no files", () => {
    const stdout = " modified:   .env\n"
    for (const command of ["echo ' modified:   .env'; git status", "cat log; git --version", "cat log | git x; status"])
      assert.isUndefined(new PassingDenial.PassingDenials().notice(passed({ command, stdout })), command)
  })

  it("is told of a host that is named, once, and where no remark on a pipeline tells it", () => {
    const denials = [Denial.network("verified-text", "example.com")]
    const passing = new PassingDenial.PassingDenials()
    const notices = [true, false, false].map((isPipeline) => passing.notice(passed({ denials, isPipeline })))
    const told =
      "Blocked by the sandbox: reaching example.com (rule allowNetwork: false); the command went on without it."
    assert.deepStrictEqual(notices, [undefined, told, undefined])
  })

  it("is told with the command that adds the rest, where git add stopped at it", () => {
    const stderr = "error: open(\".env\"): Permission denied\nerror: unable to index file '.env'\n"
    const notice = (command: string) =>
      new PassingDenial.PassingDenials().notice(passed({ command, denials: [denial], stderr }))
    assert.strictEqual(notice("git add -A; git status"), `${reading} git add -A -- ':!/.env' adds the rest.`)
    assert.strictEqual(notice("git add .\ngit status"), `${reading} git add . -- ':!/.env' adds the rest.`)
    for (const command of ["git add .env", "git commit -am x", "git add . -v", "git add ./src"])
      assert.strictEqual(notice(command), reading, command)
  })

  it("is looked for in a huge command and in much white space at no more cost than reading them", () => {
    assert.isFalse(PassingDenial.isLikely("git ".repeat(1_000_000), { stderr: "" }))
    const passing = new PassingDenial.PassingDenials()
    assert.isUndefined(passing.notice(passed({ command: "git status", stdout: "\n".repeat(1_000_000) })))
  })
})
