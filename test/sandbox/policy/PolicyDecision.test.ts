import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as PolicyBuilder from "../../../src/sandbox/config/PolicyBuilder.js"
import * as SandboxFile from "../../../src/sandbox/config/SandboxFile.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import * as Directory from "../../support/sandbox/Directory.js"

const policy = (cwd: string, runtime?: PolicyBuilder.RuntimeRules) =>
  Either.getOrThrow(
    PolicyBuilder.merge(
      cwd,
      "/nowhere/ada/.synapse/sandbox.json",
      SandboxFile.defaults,
      SandboxSettings.make({ userHome: "/nowhere/ada", temporary: "/tmp", program: ["/nowhere/synapse"] }),
      runtime
    )
  )

/** In a word: which rule, and whether it allows. */
const say = (verdict: PolicyDecision.Verdict) => `${verdict.allowed ? "+" : "-"}${verdict.rule?.pattern ?? ""}`

describe("a policy", () => {
  const { decide } = PolicyDecision.make(
    policy("/nowhere/ada", { blacklist: ["/nowhere/ada/work/key"], granted: ["/nowhere/ada/.ssh/config"] })
  )
  const cases: ReadonlyArray<readonly [path: string, read: string, write: string]> = [
    ["/nowhere/ada/work/a", "+", "+/nowhere/ada"],
    ["/nowhere/ada", "+", "+/nowhere/ada"],
    ["/tmp/x", "+", "+/tmp"],
    ["/etc/passwd", "+", "-not whitelisted"],
    ["/", "+", "-not whitelisted"],
    ["/dev/null", "+", "+"],
    ["/dev/zero", "+", "+"],
    ["/dev/full", "+", "+"],
    ["/dev/random", "+", "+"],
    ["/dev/urandom", "+", "+"],
    ["/dev/tty", "+", "+"],
    ["/dev/ptmx", "+", "+"],
    ["/dev/pts/3", "+", "+"],
    ["/dev/shm/a/b", "+", "+"],
    ["/dev/stderr", "+", "+"],
    ["/dev/fd/7", "+", "+"],
    ["/dev/fd/7/x", "+", "-not whitelisted"],
    ["/dev/nullx", "+", "-not whitelisted"],
    ["/x/dev/null", "+", "-not whitelisted"],
    ["/dev/sda", "+", "-not whitelisted"],
    // The blacklist wins over the whitelist.
    ["/nowhere/ada/.ssh", "-~/.ssh", "-~/.ssh"],
    ["/nowhere/ada/.ssh/id_rsa", "-~/.ssh", "-~/.ssh"],
    ["/nowhere/ada/work/.env", "-**/.env", "-**/.env"],
    ["/etc/shadow", "-/etc/shadow", "-/etc/shadow"],
    ["/nowhere/ada/work/key/x", "-/nowhere/ada/work/key", "-/nowhere/ada/work/key"],
    // What a person granted to read wins over that, and over nothing else.
    ["/nowhere/ada/.ssh/config", "+/nowhere/ada/.ssh/config", "-~/.ssh"],
    // Our own is hidden, but for what commands need.
    ["/nowhere/ada/.synapse/sandbox.json", "-/nowhere/ada/.synapse", "-/nowhere/ada/.synapse"],
    ["/nowhere/ada/.synapse", "-/nowhere/ada/.synapse", "-/nowhere/ada/.synapse"],
    ["/nowhere/ada/.synapse/history", "-/nowhere/ada/.synapse", "-/nowhere/ada/.synapse"],
    ["/nowhere/ada/.synapse/skills/a/SKILL.md", "+", "-/nowhere/ada/.synapse"],
    ["/nowhere/ada/.synapse/tool-cache/other/x", "-/nowhere/ada/.synapse", "-/nowhere/ada/.synapse"],
    ["/nowhere/synapse/bin/x.cjs", "+", "-/nowhere/synapse"]
  ]
  for (const [path, read, write] of cases) {
    it(`decides on ${path}`, () =>
      assert.deepStrictEqual([decide(path, "read"), decide(path, "write")].map(say), [read, write]))
  }

  it("gives the reason with the rule", () => {
    const one = policy("/w")
    assert.deepStrictEqual(PolicyDecision.make(one).decide("/etc/shadow", "read"), {
      allowed: false,
      rule: { pattern: "/etc/shadow", path: "/etc/shadow", kind: "path", source: "default" },
      reason: "on the blacklist (built in)"
    })
    assert.deepStrictEqual(PolicyDecision.make(one).decide("/etc/passwd", "write"), {
      allowed: false,
      rule: PolicyDecision.notWhitelisted,
      reason: "read-only, since no rule allows writing"
    })
  })
})

describe("a path as it is written", () => {
  it.scoped("is decided on where it leads, and by the links on the way", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.mkdirSync(`${root}/w/sub`, { recursive: true })
      Fs.mkdirSync(`${root}/out`)
      Fs.writeFileSync(`${root}/out/plain`, "")
      Fs.symlinkSync("../out/plain", `${root}/w/.env`)
      Fs.symlinkSync("../out", `${root}/w/away`)
      Fs.symlinkSync(`${root}/w/.env`, `${root}/w/innocent`)
      const at = (path: string, access: PolicyDecision.Access, runtime?: PolicyBuilder.RuntimeRules) =>
        PolicyDecision.make({
          ...policy(`${root}/w`, runtime),
          whitelist: policy(`${root}/w`).whitelist.slice(0, 1)
        }).explain(path, `${root}/w/sub`, access)
      assert.strictEqual(say(at("../sub/x", "write")), `+${root}/w`)
      assert.strictEqual(say(at("../away/x", "write")), "-not whitelisted")
      assert.strictEqual(say(at("../.env", "read")), "-**/.env")
      assert.deepStrictEqual(
        { ...at("../innocent", "read"), rule: 0, reason: 0 },
        {
          allowed: false,
          real: `${root}/out/plain`,
          rule: 0,
          reason: 0
        }
      )
      assert.strictEqual(say(at("../innocent", "read", { granted: [`${root}/out/plain`] })), `+${root}/out/plain`)
      assert.strictEqual(say(at(`${root}/w/new/.env`, "read")), "-**/.env")
    })
  )

  it.scoped("is denied under a rule whose own path is a link", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.mkdirSync(`${root}/real`)
      Fs.symlinkSync("real", `${root}/secrets`)
      const { decide } = PolicyDecision.make(
        policy("/w", { blacklist: [`${root}/secrets`, `${root}/secrets/../*.key`] })
      )
      assert.strictEqual(say(decide(`${root}/real/x`, "read")), `-${root}/secrets`)
    })
  )

  it.scoped.runIf(process.platform === "linux")("is shown as its target is, where a built-in rule names the link", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      const home = `${root}/home`
      const made = (cwd: string) => {
        const settings = SandboxSettings.make({ userHome: home, temporary: "/nowhere", temporaryFiles: "host" })
        const merged = PolicyBuilder.merge(cwd, `${root}/sandbox.json`, SandboxFile.defaults, settings)
        const { explain } = PolicyDecision.make(Either.getOrThrow(merged))
        return (name: string) => {
          const verdict = explain(`${home}/${name}`, "/", "read")
          return verdict.allowed ? "allowed" : verdict.standIn
        }
      }
      Fs.mkdirSync(`${home}/dot`, { recursive: true })
      ChildProcess.execFileSync("git", ["init", "-q", `${home}/dot`])
      Fs.writeFileSync(`${home}/dot/git`, "[user]\n\tname = Ada\n[github]\n\ttoken = hunter\n")
      Fs.writeFileSync(`${home}/dot/npm`, "save-exact=true\n")
      ChildProcess.execFileSync("git", ["-C", `${home}/dot`, "add", "."])
      for (const [link, target] of Object.entries({ ".gitconfig": "git", ".npmrc": "npm", ".yarnrc": "gone" }))
        Fs.symlinkSync(`dot/${target}`, `${home}/${link}`)
      const shown = made("/w")
      assert.match(shown(".gitconfig") ?? "", /name = Ada\n\[github\]\n$/)
      assert.deepStrictEqual([shown(".npmrc"), shown(".yarnrc")], ["allowed", "allowed"])
      // Commands that may write the repository could commit the text without its secrets.
      assert.isUndefined(made(`${home}/dot`)(".gitconfig"))
    })
  )
})
