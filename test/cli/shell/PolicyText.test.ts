import { assert, describe, it } from "@effect/vitest"
import * as PolicyText from "../../../src/cli/shell/PolicyText.js"
import type { Rule, SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"

const glob: Rule = { pattern: "**/.env", path: "/**/.env", kind: "glob", source: "default" }
const path = (pattern: string, more: Partial<Rule> = {}): Rule => ({
  ...{ pattern, path: pattern, kind: "path", source: "file" },
  ...more
})

const policy: SandboxPolicy = {
  cwd: "/p",
  whitelist: [path("/p", { source: "cwd" })],
  blacklist: [glob, path("~/.ssh", { path: "/home/ada/.ssh" })],
  readonly: [],
  toolCache: path("/cache", { source: "cache" }),
  unixSockets: true,
  environment: ["TOKEN"],
  allowNetwork: false
}

describe("the text of a policy", () => {
  it("claims of patterns no more than what is enforced, and leaves nothing out that commands may do", () => {
    assert.include(
      PolicyText.make({ policy, provider: "local" }),
      "Commands run in a sandbox (provider: local), in /p\n"
    )
    const text = `${PolicyText.rules(policy).join("\n")}.`
    assert.notInclude(text, "wherever it is")
    for (const line of [
      "  /cache  the caches of tools",
      "  ~/.ssh (/home/ada/.ssh)  sandbox.json",
      "  TOKEN",
      "Everything else can be read. There is no network."
    ]) {
      assert.include(text.split("\n"), line)
    }
    assert.match(text, /^Patterns .*\bhold\b/m)
    assert.match(text, /^Unix sockets can be used: /m)
  })

  it("names what may be written no second time as readable", () => {
    const own = path("/p/.env")
    const lines = PolicyText.rules({ ...policy, whitelist: [own], granted: [own, path("/q/.env")] })
    assert.strictEqual(lines.filter((line) => line.includes("/p/.env")).length, 1)
    assert.include(lines, "  /q/.env  sandbox.json")
  })

  it("pads no name to one that is long", () => {
    const blacklist = [path("/short"), path("/b"), path(`/${"long".repeat(50)}`)]
    const lines = PolicyText.rules({ ...policy, blacklist })
    assert.includeMembers([...lines], ["  /short  sandbox.json", "  /b      sandbox.json"])
  })

  it("counts the built-in rules where it is short", () => {
    const lines = PolicyText.rules(policy, true)
    assert.include(
      lines,
      "1 built-in rules hide secrets and protect what your own tools run: synapse sandbox policy --all"
    )
    assert.notInclude(lines.join("\n"), "**/.env")
    assert.include(lines, "  ~/.ssh (/home/ada/.ssh)  sandbox.json")
  })

  it("says the same of the rules in the shell as beside it, in short", () => {
    const text = PolicyText.make({ policy, provider: "local" })
    assert.isTrue(text.endsWith(`${PolicyText.rules(policy, true).join("\n")}.`))
  })
})
