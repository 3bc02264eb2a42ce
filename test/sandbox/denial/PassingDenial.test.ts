import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Diagnostic from "../../../src/domain/Diagnostic.js"
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
  isFailed: false,
  policy: { cwd: "/p", whitelist: [], blacklist: [], readonly: [], allowNetwork: false },
  ...passing
})

const reading = "sandbox: /p/.env is blocked by rule **/.env: on the blacklist."
const asking = "Do not work around it. Ask the user to run: synapse sandbox allow /p/.env"
/** Reports what was denied, in the words for a model. */
const tell = (passing: PassingDenial.PassingDenials, command: PassingDenial.SucceededCommand): string | undefined => {
  const denied = passing.denied(command)
  return denied && Diagnostic.forModel(denied)
}

const hiding = "The sandbox hides /p/.env (rule **/.env): git can't read it, and takes it for changed."

describe("a denial to a command that went on", () => {
  it("is told once for each path and command, with what to ask for", () => {
    const passing = new PassingDenial.PassingDenials()
    const notices = [1, 2].map(() => tell(passing, passed({ denials: [denial] })))
    assert.deepStrictEqual(notices, [`${reading} ${asking}`, undefined])
    const write = (path: string) =>
      Denial.make({ rule: PolicyDecision.notWhitelisted, reason: "" }, path, "write", "verified-text")
    const written = (...paths: ReadonlyArray<string>) => tell(passing, passed({ denials: paths.map(write) }))
    assert.strictEqual(
      written("/usr/a", "/usr/b"),
      "sandbox: /usr/a is read-only. Also denied: /usr/b. Writable: nothing. Ask the user to create what is missing and run: synapse sandbox allow /usr/a; synapse sandbox allow /usr/b"
    )
    assert.isUndefined(written("/usr/b"))
    const asked = "Ask the user to create /usr/new and run: synapse sandbox allow /usr/new"
    assert.strictEqual(written("/usr/new/c"), `sandbox: /usr/new/c is read-only. Writable: nothing. ${asked}`)
  })

  it("is told each time where it made a part of a pipeline fail", () => {
    const passing = new PassingDenial.PassingDenials()
    const failed = passed({ denials: [denial], isFailed: true })
    const notices = [1, 2].map(() => tell(passing, failed))
    assert.deepStrictEqual(notices, [`${reading} ${asking}`, `${reading} ${asking}`])
    assert.isUndefined(passing.denied({ ...failed, denials: [{ ...denial, isMet: true }] }))
  })

  it("is told again for another command, but for what a command has met in passing", () => {
    const passing = new PassingDenial.PassingDenials()
    const told = (command: string, isMet: boolean) =>
      tell(passing, passed({ command, denials: [isMet ? { ...denial, isMet } : denial] }))
    passing.note(denial)
    assert.deepStrictEqual(
      ["wc .env || true", "wc .env || true", "head .env; ls"].map((command) => told(command, false)),
      [`${reading} ${asking}`, undefined, `${reading} ${asking}`]
    )
    assert.isUndefined(told("grep -r x .; ls", true))
  })

  it("is told again where git stopped at what a command before has met", () => {
    const passing = new PassingDenial.PassingDenials()
    passing.note(denial)
    const stderr = "error: open(\".env\"): Permission denied\nerror: unable to index file '.env'\n"
    const stopped = passed({ command: "git add -A; git status", denials: [{ ...denial, isMet: true }], stderr })
    const notices = [1, 2].map(() => tell(passing, stopped))
    assert.deepStrictEqual(notices, [`${reading} git add -A -- ':!/.env' adds the rest.`, undefined])
  })

  it("is not told where it is not certain", () => {
    const passing = new PassingDenial.PassingDenials()
    assert.isUndefined(passing.denied(passed({ denials: [Denial.network("counter")] })))
  })

  it("is told once of the network where no host is named: by a message, or of a program that was to fetch", () => {
    const told = (command: string, how: Denial.Evidence) => {
      const passing = new PassingDenial.PassingDenials()
      const denials = [Denial.network(how)]
      return [1, 2].map(() => tell(passing, passed({ command, denials })))
    }
    const offline = "sandbox: there is no network."
    const asked = "Tell the user which host it needs: synapse sandbox allow lets commands reach it."
    assert.deepStrictEqual(told("./x; echo on", "verified-text"), [offline, undefined])
    for (const command of [
      "pip install x | tail -n 3; echo on",
      "cd a && /usr/bin/npm ci 2>&1 | tail; ls",
      "npm install || npm ls",
      "if npm install; then ls; fi",
      "npm install; npm test",
      "npm install &",
      "bash -c 'npm install; true'",
      'echo "$(npm install)"',
      "curl -s http://a.org | jq .; ls"
    ])
      assert.deepStrictEqual(told(command, "counter"), [`${offline} ${asked}`, undefined], command)
    // The exit code says that these have not failed.
    for (const command of ["npm install", "cd a && npm install --no-audit 2>&1 | tail && npm ls"])
      assert.deepStrictEqual(told(command, "counter"), [undefined, undefined], command)
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
    const told = new PassingDenial.PassingDenials().ofHosts([refused("a.org"), refused("b.org")])
    const calls = "synapse sandbox allow a.org:443; synapse sandbox allow b.org:443"
    const what = "The sandbox refused a connection: a.org:443 is not allowed: no rule. So were: b.org:443."
    const worded = told && [
      Diagnostic.forModel(told),
      Diagnostic.forPerson(told),
      Diagnostic.forPerson(told, Diagnostic.shell)
    ]
    assert.deepStrictEqual(worded, [
      `${what} Ask the user to run: ${calls}`,
      `${what} To allow them: ${calls}`,
      `${what} To allow them: /allow a.org:443, /allow b.org:443`
    ])
  })

  it("is told of a unix socket, with the name of a message or without, once", () => {
    const passing = new PassingDenial.PassingDenials()
    const nameless = passed({ denials: [Denial.system(SystemCalls.unixSocket)] })
    assert.match(tell(new PassingDenial.PassingDenials(), nameless) ?? "", /^sandbox: a unix socket is blocked/)
    const told = tell(passing, passed({ denials: [Denial.system(SystemCalls.unixSocket, "/tmp/tmux-0/q")] }))
    assert.match(told ?? "", /^sandbox: \/tmp\/tmux-0\/q is blocked by rule "no unix sockets": .* Ask the user for /)
    assert.isUndefined(passing.denied(nameless))
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
      tell(passing, passed({ command: "./x", denials: [Denial.network("verified-text", host)], stderr }))
    const told = (host: string) => `sandbox: there is no network, so ${host} can't be reached.`
    assert.deepStrictEqual(
      [notice("a.org"), notice("a.org"), notice("b.org", "no b.org"), notice("b.org"), notice()],
      [told("a.org"), undefined, undefined, told("b.org"), undefined]
    )
  })

  it("is told with the command that adds the rest, where git add stopped at it", () => {
    const stderr = "error: open(\".env\"): Permission denied\nerror: unable to index file '.env'\n"
    const notice = (command: string) =>
      tell(new PassingDenial.PassingDenials(), passed({ command, denials: [denial], stderr }))
    assert.strictEqual(notice("git add -A; git status"), `${reading} git add -A -- ':!/.env' adds the rest. ${asking}`)
    assert.strictEqual(notice("git add .\ngit status"), `${reading} git add . -- ':!/.env' adds the rest. ${asking}`)
    assert.strictEqual(
      notice("git commit -am x"),
      `${reading} git commit -m x -- ':/' ':!/.env' commits the rest. ${asking}`
    )
    for (const command of ["git add .env", "git commit -m all", "git add ../x", "git add .; git diff"])
      assert.strictEqual(notice(command), `${reading} ${asking}`, command)
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
