import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Denial from "../../../src/sandbox/denial/Denial.js"
import * as Explanation from "../../../src/sandbox/denial/Explanation.js"
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

const describeDenied = (resource: string, access: "read" | "write", how: Denial.Evidence) => {
  const verdict = decide(resource, access)
  if (verdict.allowed) throw new Error(`${resource} is allowed`)
  return Explanation.describe(Denial.make(verdict, resource, access, how), policy).split("\n")
}

describe("what a model is told", () => {
  it("of a secret", () =>
    assert.deepStrictEqual(describeDenied("/project/.env", "read", "preflight"), [
      "Blocked by the sandbox: reading /project/.env (rule **/.env: on the blacklist, built in: neither read nor written)",
      "The command was not run.",
      "Allowed: reading whatever no rule denies; writing under /project, /tmp.",
      "Do not try to get around it. If it is needed, ask the user for what you need of it."
    ]))

  it("of all places that may be written, the caches of tools too", () => {
    const cache = path("/home/tool-cache/1", "cache")
    const denial = Denial.make({ rule: glob("**/.env"), reason: "" }, "/project/.env", "read", "preflight")
    assert.include(
      Explanation.advise(denial, { ...policy, toolCache: cache }).split("\n"),
      "Allowed: reading whatever no rule denies; writing under /project, /tmp, /home/tool-cache/1."
    )
  })

  it("of what else was denied, each once and with its rule where that is another", () => {
    const denied = (resource: string, access: "read" | "write") => {
      const verdict = decide(resource, access)
      if (verdict.allowed) throw new Error(`${resource} is allowed`)
      return Denial.make(verdict, resource, access, "verified-text")
    }
    const [first, ...others] = [denied("/data/a", "write"), denied("/data/a", "write"), denied("/data/b", "write")]
    const also = (...more: ReadonlyArray<Denial.Denial>) => Explanation.alsoOf(first as Denial.Denial, more)
    assert.isUndefined(also())
    assert.isUndefined(also(...others.slice(0, 1)))
    assert.strictEqual(also(...others), "Also denied: writing /data/b.")
    assert.strictEqual(
      also(
        ...others,
        denied("/project/.env", "read"),
        Denial.network("verified-text", "a.org"),
        denied("/c\n", "write")
      ),
      "Also denied: writing /data/b, reading /project/.env (rule **/.env), reaching a.org (rule allowNetwork: false), and 1 more."
    )
    assert.deepStrictEqual(
      Explanation.describe(first as Denial.Denial, policy, others)
        .split("\n")
        .slice(1, 3),
      ["The command ran, and was refused this.", "Also denied: writing /data/b."]
    )
  })

  it("of what the user blacklisted", () =>
    assert.strictEqual(
      describeDenied("/vault/a", "write", "verified-text").at(-1),
      "Do not try to get around it. The user can take the rule back, for later sessions: synapse sandbox forget /vault"
    ))

  it("of what is not whitelisted, with the exact path to allow", () =>
    assert.deepStrictEqual(describeDenied("/data/it's new", "write", "verified-text"), [
      "Blocked by the sandbox: writing '/data/it'\\''s new' (rule not whitelisted: read only, like all that no rule allows to write)",
      "The command ran, and was refused this.",
      "Allowed: reading whatever no rule denies; writing under /project, /tmp.",
      "If it has to be there, ask the user to make it, and then to run, for later sessions: synapse sandbox allow /data"
    ]))

  it("of what is there, and not whitelisted", () =>
    assert.strictEqual(
      describeDenied("/usr/share", "write", "verified-text").at(-1),
      "If it has to be there, ask the user to run, for later sessions: synapse sandbox allow /usr/share"
    ))

  it("of what can't be allowed yet, with the nearest directory that can", () =>
    withDirectory((at) => {
      Fs.mkdirSync(`${at}/a/project`, { recursive: true })
      const advice = (resource: string, cwd = `${at}/a/project`) =>
        Explanation.describe(
          Denial.make({ rule: PolicyDecision.notWhitelisted, reason: "" }, resource, "write", "verified-text"),
          { ...policy, cwd }
        )
          .split("\n")
          .at(-1)
          ?.replace(/^.*ask the user to /, "")
          .replaceAll(at, "")
      const allow = "run, for later sessions: synapse sandbox allow"
      assert.strictEqual(advice(`${at}/cache/tmp/***`, "/project"), `${allow} `)
      assert.strictEqual(advice(`${at}/a/project`), `${allow} /a/project`)
      assert.strictEqual(advice(`${at}/a/x/.git`), `make it, and then to ${allow} /a/x`)
      assert.strictEqual(advice("/usr/new/x"), `make it, and then to ${allow} /usr/new`)
      // What no setting allows is not advised.
      for (const path of ["/", "/dev", "/proc/new", "/sys/x/y"]) {
        assert.strictEqual(advice(path), "Do not try to get around it. No setting lets commands write there.")
      }
    }))

  it("of several writes, what to ask for so that all of them can be done, each path once", () => {
    const write = (resource: string) =>
      Denial.make({ rule: PolicyDecision.notWhitelisted, reason: "" }, resource, "write", "verified-text")
    const last = (denials: ReadonlyArray<Denial.Denial>, over = policy) =>
      Explanation.advise(denials[0] as Denial.Denial, over, denials.slice(1))
        .split("\n")
        .at(-1)
    const [share, nested, usr] = [write("/usr/share"), write("/usr/share/new"), write("/usr/new")]
    const both = "synapse sandbox allow /usr/share; synapse sandbox allow /usr/new"
    const all = `If they have to be there, ask the user to make what is missing, and then to run, for later sessions: ${both}`
    assert.strictEqual(last([share, nested, usr, usr]), all)
    const one = "ask the user to run, for later sessions: synapse sandbox allow /usr/share"
    assert.strictEqual(last([share, nested]), `If it has to be there, ${one}`)
    const read = Denial.make({ rule: glob("**/.env"), reason: "" }, "/project/.env", "read", "preflight")
    assert.strictEqual(last([read, share]), `If it has to be there, ${one}`)
    assert.strictEqual(last([write("/proc/new"), share]), `If it has to be there, ${one}`)
    for (const alone of [
      { ...policy, unattended: true },
      { ...policy, shown: [] }
    ] satisfies ReadonlyArray<SandboxPolicy>) {
      assert.notInclude(last([share, usr], alone), "synapse sandbox allow")
      assert.isUndefined(Explanation.request([share], alone))
    }
    assert.strictEqual(Explanation.request([share, usr], policy), `To ask for, once made: ${both}`)
    assert.strictEqual(Explanation.request([share], policy), "To ask for: synapse sandbox allow /usr/share")
    assert.isUndefined(Explanation.request([read], policy))
    assert.strictEqual(Explanation.requestIn(all), `To ask for, once made: ${both}`)
    assert.isUndefined(Explanation.requestIn("The command was not run."))
  })

  it("of a unix socket", () =>
    assert.deepStrictEqual(Explanation.describe(Denial.socket("/run/docker.sock"), policy).split("\n"), [
      "Blocked by the sandbox: reaching /run/docker.sock (rule no unix sockets: they would reach programs outside of the sandbox)",
      "The command ran, and was refused this.",
      "Allowed: pairs of connected sockets, and TCP to localhost, within the sandbox.",
      "Do not try to get around it. If one is needed, ask the user: --allow-unix-sockets allows them, and so lets commands reach programs outside of the sandbox."
    ]))

  it("without a user who could be asked: that the answer is to say it", () => {
    const alone: SandboxPolicy = { ...policy, unattended: true }
    const last = (denial: Denial.Denial, over = alone) => Explanation.advise(denial, over).split("\n").at(-1)
    const written = Denial.make({ rule: PolicyDecision.notWhitelisted, reason: "" }, "/data/x", "write", "preflight")
    assert.deepStrictEqual(
      [
        last(written),
        last(written, { ...alone, shown: [] }),
        last(Denial.network("verified-text")),
        last(Denial.make({ rule: glob("**/.env"), reason: "" }, "/project/.env", "read", "preflight"))
      ],
      [
        "Do not try to get around it. Say in your answer what has to be written there.",
        "Do not try to get around it. You only read: say in your answer what is to be written.",
        "Do not try to get around it. Say in your answer what is needed from there.",
        "Do not try to get around it. If it is needed, say in your answer what you need of it."
      ]
    )
  })

  it("of the network", () =>
    assert.deepStrictEqual(Explanation.describe(Denial.network("counter"), policy).split("\n"), [
      "Blocked by the sandbox: reaching network (rule allowNetwork: false: no network but the sandbox's own loopback)",
      "The command ran; the system counted the attempt, which may not be why it failed.",
      "Allowed: connections to localhost, within the sandbox.",
      "Do not try to get around it. No setting allows the network; ask the user to do what needs it."
    ]))

  it("on lines of its own, whatever a name holds", () =>
    assert.strictEqual(
      describeDenied("/project/a\nb/.env", "read", "preflight")[0],
      "Blocked by the sandbox: reading $'/project/a\\nb/.env' (rule **/.env: on the blacklist, built in: neither read nor written)"
    ))
})
