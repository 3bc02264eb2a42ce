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

  it("of what the user blacklisted", () =>
    assert.strictEqual(
      describeDenied("/vault/a", "write", "verified-text").at(-1),
      "Do not try to get around it. The user can take the rule back: synapse sandbox forget /vault"
    ))

  it("of what is not whitelisted, with the exact path to allow", () =>
    assert.deepStrictEqual(describeDenied("/data/it's new", "write", "verified-text"), [
      "Blocked by the sandbox: writing /data/it's new (rule not whitelisted: read only, like all that no rule allows to write)",
      "The command ran, and was refused this.",
      "Allowed: reading whatever no rule denies; writing under /project, /tmp.",
      "If it has to be there, ask the user to make it, and then to run: synapse sandbox allow '/data/it'\\''s new'"
    ]))

  it("of what is there, and not whitelisted", () =>
    assert.strictEqual(
      describeDenied("/etc", "write", "verified-text").at(-1),
      "If it has to be there, ask the user to run: synapse sandbox allow /etc"
    ))

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
      "Blocked by the sandbox: reading /project/a\\nb/.env (rule **/.env: on the blacklist, built in: neither read nor written)"
    ))
})
