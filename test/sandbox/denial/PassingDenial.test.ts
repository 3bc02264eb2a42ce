import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Denial from "../../../src/sandbox/denial/Denial.js"
import * as SystemCalls from "../../../src/sandbox/denial/internal/SystemCalls.js"
import * as PassingDenial from "../../../src/sandbox/denial/PassingDenial.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import type { Rule } from "../../../src/sandbox/policy/SandboxPolicy.js"

const rule: Rule = { pattern: "**/.env", path: "**/.env", kind: "glob", source: "default" }
const denial = Denial.make({ rule, reason: "on the blacklist" }, "/p/.env", "read", "verified-text")
const masks = [
  { path: "/p/.env", kind: "file", rule },
  { path: "/p/sub/.env", kind: "file", rule }
] as const

type Told = Partial<Omit<PassingDenial.SucceededCommand, "command">> & { readonly command?: string }

const passed = ({ command = "cat .env | wc -l", ...passing }: Told): PassingDenial.SucceededCommand => ({
  command: CommandLine.parse(command),
  directories: ["/p"],
  stdout: "",
  stderr: "",
  masks,
  denials: [],
  policy: { cwd: "/p", whitelist: [], blacklist: [], readonly: [], allowNetwork: false },
  ...passing
})

const reading = "sandbox: /p/.env is blocked by rule **/.env: on the blacklist; the command went on without it."
const hiding = "The sandbox hides /p/.env (rule **/.env): git can't read it, and takes it for changed."

describe("a denial to a command that went on", () => {
  it("is told once for each path, with what to ask for", () => {
    const passing = new PassingDenial.PassingDenials()
    const notices = [1, 2].map(() => passing.notice(passed({ denials: [denial] })))
    assert.deepStrictEqual(notices, [reading, undefined])
    const write = (path: string) =>
      Denial.make({ rule: PolicyDecision.notWhitelisted, reason: "" }, path, "write", "verified-text")
    const written = (...paths: ReadonlyArray<string>) => passing.notice(passed({ denials: paths.map(write) }))
    assert.strictEqual(
      written("/usr/a", "/usr/b"),
      "sandbox: /usr/a is read-only. Also denied: /usr/b. Ask the user to create what is missing and run: synapse sandbox allow /usr/a; synapse sandbox allow /usr/b"
    )
    assert.isUndefined(written("/usr/b"))
    const asked = "Ask the user to create /usr/new and run: synapse sandbox allow /usr/new"
    assert.strictEqual(written("/usr/new/c"), `sandbox: /usr/new/c is read-only. ${asked}`)
    assert.strictEqual(written("/usr/new/d"), "sandbox: /usr/new/d is read-only.")
  })

  it("is not told where a result has named the rule before", () => {
    const passing = new PassingDenial.PassingDenials()
    passing.note(denial)
    assert.isUndefined(passing.notice(passed({ denials: [denial] })))
  })

  it("is not told where it is not certain", () => {
    const passing = new PassingDenial.PassingDenials()
    assert.isUndefined(passing.notice(passed({ denials: [Denial.network("counter")] })))
  })

  it("is told once of the network where no host is named: by a message, or of a program that was to fetch", () => {
    const told = (command: string, how: Denial.Evidence) => {
      const passing = new PassingDenial.PassingDenials()
      const denials = [Denial.network(how)]
      return [1, 2].map(() => passing.notice(passed({ command, denials })))
    }
    const offline = (who: string) => [`The sandbox has no network, which ${who} tried to reach.`, undefined]
    assert.deepStrictEqual(told("./x; echo on", "verified-text"), offline("the command"))
    assert.deepStrictEqual(told("pip install x | tail -n 3; echo on", "counter"), offline("pip"))
    assert.deepStrictEqual(told("cd a && /usr/bin/npm ci 2>&1 | tail; ls", "counter"), offline("npm"))
    assert.deepStrictEqual(told("curl -s http://a.org | jq .; ls", "counter"), offline("curl"))
    for (const command of [
      "npm test; ls",
      "curl -s localhost; ls",
      "curl -s http://[::1]/; ls",
      "echo 'pip install x'"
    ])
      assert.deepStrictEqual(told(command, "counter"), [undefined, undefined], command)
  })

  it("is told of all hosts that were refused, with what allows each", () => {
    const refused = (host: string) => Denial.host({ host, port: 443, rule: undefined, reason: "no rule", grant: host })
    assert.strictEqual(
      new PassingDenial.PassingDenials().ofHosts([refused("a.org"), refused("b.org")]),
      "The sandbox refused a connection: a.org:443 is not allowed: no rule. So were: b.org:443. To allow them: synapse sandbox allow a.org:443; synapse sandbox allow b.org:443"
    )
  })

  it("is told of a unix socket, with the name of a message or without, once", () => {
    const passing = new PassingDenial.PassingDenials()
    const nameless = passed({ denials: [Denial.system(SystemCalls.unixSocket)] })
    assert.match(new PassingDenial.PassingDenials().notice(nameless) ?? "", /^sandbox: a unix socket is blocked/)
    const told = passing.notice(passed({ denials: [Denial.system(SystemCalls.unixSocket, "/tmp/tmux-0/q")] }))
    assert.match(told ?? "", /^sandbox: \/tmp\/tmux-0\/q is blocked by rule "no unix sockets": .*; the command went on/)
    assert.isUndefined(passing.notice(nameless))
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

  it("is told of each host once, and of a further one only where no message names it", () => {
    const passing = new PassingDenial.PassingDenials()
    const notice = (host?: string, stderr = "") =>
      passing.notice(passed({ command: "pip install x", denials: [Denial.network("verified-text", host)], stderr }))
    const told = (host: string) => `sandbox: there is no network, so ${host} can't be reached`
    assert.deepStrictEqual(
      [notice("a.org"), notice("a.org"), notice("b.org", "no b.org"), notice("b.org"), notice()],
      [`${told("a.org")}; the command went on without it.`, undefined, undefined, `${told("b.org")}.`, undefined]
    )
  })

  it("is told with the command that adds the rest, where git add stopped at it", () => {
    const stderr = "error: open(\".env\"): Permission denied\nerror: unable to index file '.env'\n"
    const notice = (command: string) =>
      new PassingDenial.PassingDenials().notice(passed({ command, denials: [denial], stderr }))
    assert.strictEqual(notice("git add -A; git status"), `${reading} git add -A -- ':!/.env' adds the rest.`)
    assert.strictEqual(notice("git add .\ngit status"), `${reading} git add . -- ':!/.env' adds the rest.`)
    assert.strictEqual(notice("git commit -am x"), `${reading} git commit -m x -- ':/' ':!/.env' commits the rest.`)
    for (const command of ["git add .env", "git commit -m all", "git add ../x", "git add .; git diff"])
      assert.strictEqual(notice(command), reading, command)
  })

  it("is told once of what git stopped at, though a status has told it before", () => {
    const passing = new PassingDenial.PassingDenials()
    const stdout = "Changes not staged for commit:\n\tmodified:   .env\n"
    assert.strictEqual(passing.notice(passed({ command: "git status", stdout })), hiding)
    const stopped = [1, 2].map(() => passing.hidden(passed({ command: "git commit -m x", stdout })))
    assert.deepStrictEqual(stopped, [hiding, undefined])
    assert.isUndefined(passing.hidden(passed({ command: "make", stdout })))
  })

  it("is looked for in a huge command and in much white space at no more cost than reading them", () => {
    assert.isFalse(PassingDenial.isLikely(CommandLine.parse("git ".repeat(1_000_000)), { stderr: "", merged: "" }))
    const passing = new PassingDenial.PassingDenials()
    assert.isUndefined(passing.notice(passed({ command: "git status", stdout: "\n".repeat(1_000_000) })))
  })
})
