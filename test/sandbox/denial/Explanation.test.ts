import { once } from "node:events"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Diagnostic from "../../../src/domain/Diagnostic.js"
import * as Denial from "../../../src/sandbox/denial/Denial.js"
import * as Explanation from "../../../src/sandbox/denial/Explanation.js"
import * as SystemCalls from "../../../src/sandbox/denial/internal/SystemCalls.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import type { SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import { glob, path } from "../../support/denial/World.js"

const policy: SandboxPolicy = {
  cwd: "/project",
  whitelist: [path("/project", "cwd"), path("/tmp", "tmp")],
  blacklist: [glob("**/.env"), path("/vault", "file")],
  readonly: [],
  allowNetwork: false
}
/** Runs with a directory, which is removed afterwards. */
const withDirectory = (use: (directory: string) => void) => {
  const directory = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "denial-test-"))
  try {
    use(directory)
  } finally {
    Fs.rmSync(directory, { recursive: true })
  }
}

const { decide } = PolicyDecision.make(policy)

const denied = (resource: string, access: "read" | "write", how: Denial.Evidence = "verified-text") => {
  const verdict = decide(resource, access)
  if (verdict.allowed) throw new Error(`${resource} is allowed`)
  return Denial.make(verdict, resource, access, how)
}
const write = (resource: string) =>
  Denial.make({ rule: PolicyDecision.notWhitelisted, reason: "" }, resource, "write", "verified-text")
const text = (
  denial: Denial.Denial,
  over: Partial<SandboxPolicy> = {},
  others: ReadonlyArray<Denial.Denial> = [],
  rest?: string
) => Diagnostic.forModel(Explanation.of(denial, { ...policy, ...over }, others, rest))
const allow = (denials: ReadonlyArray<Denial.Denial>, over: Partial<SandboxPolicy> = {}) =>
  Explanation.of(denials[0] as Denial.Denial, { ...policy, ...over }, denials.slice(1)).allow

describe("what is told of a denial", () => {
  for (const [what, denial, expected] of [
    [
      "a secret",
      denied("/project/.env", "read", "preflight"),
      "sandbox: /project/.env is blocked by rule **/.env: on the blacklist (built in). The command was not run. Do not work around it. Ask the user to run: synapse sandbox allow /project/.env"
    ],
    [
      "what the user blacklisted",
      denied("/vault/a", "write"),
      "sandbox: /vault/a is blocked by rule /vault: on the blacklist (sandbox.json). Do not work around it. The user can lift the rule, and you then call with restart: true: synapse sandbox forget /vault"
    ],
    [
      "what is not whitelisted, with the exact path to allow",
      denied("/data/it's new", "write"),
      "sandbox: '/data/it'\\''s new' is read-only. Writable: /project, /tmp. Ask the user to create /data and run: synapse sandbox allow /data"
    ],
    [
      "what is there, and not whitelisted",
      denied("/usr/share", "write"),
      "sandbox: /usr/share is read-only. Writable: /project, /tmp. Ask the user to run: synapse sandbox allow /usr/share"
    ],
    [
      "what can't be allowed",
      write("/proc/new"),
      "sandbox: /proc/new is read-only. Writable: /project, /tmp. It can't be allowed."
    ],
    [
      "what only a directory that is too wide could let be removed",
      { ...denied("/usr/share", "write"), next: "Ask the user to do it." },
      "sandbox: /usr/share is read-only. Writable: /project, /tmp. Ask the user to do it."
    ],
    [
      "an allowed path that was to be removed",
      Denial.mounted("/data"),
      "sandbox: /data is allowed, but as a mount point of the sandbox, it can be neither replaced, moved nor removed. Ask the user to do it."
    ],
    [
      "the directory of what was to be replaced",
      { ...denied("/data/d", "write"), isOfEntry: true },
      "sandbox: /data/d is read-only: to replace, move or remove a file takes its directory. Writable: /project, /tmp. Ask the user to create /data and run: synapse sandbox allow /data"
    ],
    [
      "what is allowed, and missing",
      Denial.unmade("/data/new"),
      "sandbox: /data/new is allowed, but it does not exist, so that it has to be made outside of the sandbox. Ask the user to create it, then call with restart: true."
    ],
    [
      "a unix socket",
      Denial.system(SystemCalls.unixSocket, "/run/nosuch.sock"),
      'sandbox: /run/nosuch.sock is blocked by rule "no unix sockets": they would reach programs outside of the sandbox. No program outside of the sandbox listens there. Socket pairs and TCP to localhost work. Ask the user for it.'
    ],
    [
      "the network",
      Denial.network("verified-text", "a.org"),
      "sandbox: there is no network, so a.org can't be reached. Ask the user to run: synapse sandbox allow a.org"
    ],
    [
      "a name that holds a newline",
      denied("/project/a\nb/.env", "read", "preflight"),
      "sandbox: $'/project/a\\nb/.env' is blocked by rule **/.env: on the blacklist (built in). The command was not run. Do not work around it. Ask the user to run: synapse sandbox allow $'/project/a\\nb/.env'"
    ]
  ] as const) {
    it(`${what}`, () => assert.strictEqual(text(denial), expected))
  }

  it("all that lifts the user's own rule, where a built-in one denies the same", () => {
    const own = { ...glob("**/.env"), source: "file" } as const
    const blacklist = [own, glob("**/.env")]
    const verdict = PolicyDecision.make({ ...policy, blacklist }).decide("/project/.env", "read")
    if (verdict.allowed) throw new Error("it is allowed")
    assert.strictEqual(
      Explanation.of(Denial.make(verdict, "/project/.env", "read", "preflight"), { ...policy, blacklist }).lift,
      "forget '**/.env' && synapse sandbox allow /project/.env"
    )
  })

  it("that a setting for the network has no effect", () => {
    const asking = { asksForNetwork: true } as const
    assert.match(
      text(Denial.network("verified-text", "a.org"), asking),
      /a\.org can't be reached \(`allowNetwork: true` in sandbox\.json has no effect: name the hosts in `allowedHosts`, or start with `--allow-network`\)\. Ask/
    )
    assert.notInclude(text(Denial.system(SystemCalls.unixSocket, "/x"), asking), "allowNetwork")
    assert.notInclude(text(write("/usr/share"), asking), "allowNetwork")
  })

  it("all places that may be written, the caches of tools too", () =>
    assert.include(
      text(write("/usr/share"), { toolCache: path("/home/tool-cache/1", "cache") }),
      "Writable: /project, /tmp, /home/tool-cache/1."
    ))

  it("what else was denied, each once and with its rule where that is another", () => {
    const [first, ...others] = [denied("/data/a", "write"), denied("/data/a", "write"), denied("/data/b", "write")]
    const also = (...more: ReadonlyArray<Denial.Denial>) => Explanation.of(first as Denial.Denial, policy, more).also
    assert.deepStrictEqual(also(...others.slice(0, 1)), [])
    assert.deepStrictEqual(also(...others, denied("/project/.env", "read"), Denial.network("verified-text", "a.org")), [
      "/data/b",
      "/project/.env (rule **/.env)",
      "a.org (synapse sandbox allow a.org)"
    ])
    const secret = denied("/project/.env", "read")
    assert.deepStrictEqual(Explanation.of(secret, policy, [denied("/project/.env", "write")]).also, [])
  })

  it("how to allow a start-up file, once", () => {
    const hooks = { ...path("/project/.git/hooks", "startup") }
    const verdict = { rule: hooks, reason: "read-only" }
    const denial = Denial.make(verdict, "/project/.git/hooks/pre-commit", "write", "verified-text")
    assert.strictEqual(
      Diagnostic.forPerson(Explanation.of(denial, policy))?.split("\n").slice(1).join("\n"),
      "To let commands write there: synapse sandbox allow /project/.git/hooks"
    )
  })

  it("what does the rest", () =>
    assert.include(
      text(denied("/project/.env", "read"), {}, [], "git add -u adds the rest."),
      " git add -u adds the rest."
    ))

  it("the nearest directory that can be allowed", () =>
    withDirectory((at) => {
      Fs.mkdirSync(`${at}/a/project`, { recursive: true })
      const found = (resource: string, cwd = `${at}/a/project`) => {
        const allowed = allow([write(resource)], { cwd })
        return allowed && `${allowed.exist ? "" : "new "}${allowed.paths.join().replaceAll(at, "")}`
      }
      assert.strictEqual(found(`${at}/cache/tmp/***`, "/project"), "")
      assert.strictEqual(found(`${at}/a/project`), "/a/project")
      assert.strictEqual(found(`${at}/a/x/.git`), "new /a/x")
      assert.strictEqual(found("/usr/new/x"), "new /usr/new")
      for (const path of ["/", "/dev", "/proc/new", "/sys/x/y"]) assert.isUndefined(found(path), path)
    }))

  it("with the option for a socket that is there, to a person too", async () => {
    const directory = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "denial-test-"))
    const server = Net.createServer().listen(`${directory}/s`)
    await once(server, "listening")
    const told = (path: string, more = {}) =>
      Diagnostic.forPerson(Explanation.of(Denial.system(SystemCalls.unixSocket, path), { ...policy, ...more })) ?? ""
    const way = `\n--allow-socket ${directory}/s lets commands use it, with all that its program may do.`
    assert.isTrue(told(`${directory}/s`).endsWith(way))
    assert.include(told(`${directory}/none`), "--unix-sockets own")
    for (const other of [told(`${directory}/none`), told(`${directory}/s`, { unattended: true })])
      assert.notInclude(other, "--allow-socket")
    server.close()
    Fs.rmSync(directory, { recursive: true })
  })

  it("with what several writes can be done, each path once", () => {
    const [share, nested, usr] = [write("/usr/share"), write("/usr/share/new"), write("/usr/new")]
    assert.deepStrictEqual(allow([share, nested, usr, usr]), { paths: ["/usr/share", "/usr/new"], exist: false })
    const one = { paths: ["/usr/share"], exist: true }
    assert.deepStrictEqual(allow([share, nested]), one)
    assert.deepStrictEqual(allow([denied("/project/.env", "read"), share]), one)
    assert.deepStrictEqual(allow([write("/proc/new"), share]), one)
    assert.isUndefined(allow([share], { unattended: true }))
    assert.isUndefined(allow([share], { shown: [] }))
  })

  it("to a sub-agent: that the answer is to say it", () => {
    const alone = { unattended: true } as const
    const secret = denied("/project/.env", "read", "preflight")
    const unasked = / Do not work around it: say in your answer what you need of it\.$/
    assert.match(text(write("/data/x"), alone), unasked)
    assert.match(
      text(write("/data/x"), { ...alone, shown: [] }),
      / You only read: say in your answer what is to be written\.$/
    )
    for (const each of [Denial.network("verified-text"), Denial.system(SystemCalls.unixSocket), secret])
      assert.match(text(each, alone), unasked)
  })
})
