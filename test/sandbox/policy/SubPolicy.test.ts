import { assert, describe, it } from "@effect/vitest"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import type { Rule, RuleSource, SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import * as SubPolicy from "../../../src/sandbox/policy/SubPolicy.js"

const rule = (path: string, source: RuleSource = "file", real?: string): Rule => ({
  pattern: path,
  path,
  kind: "path",
  source,
  ...(real === undefined ? {} : { real })
})

const policy = (given: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
  cwd: "/p",
  whitelist: [rule("/p", "cwd"), rule("/tmp", "tmp")],
  blacklist: [rule("/p/key")],
  readonly: [rule("/home/.synapse", "own")],
  allowNetwork: false,
  ...given
})

const paths = (rules: ReadonlyArray<Rule> = []) => rules.map(({ path }) => path)

describe("the policy in force", () => {
  it("has what a person has allowed since, and of what a file allows since, what the sandbox was given", () => {
    const enforced = policy({ environment: ["A"], granted: [rule("/old", "runtime")] })
    const built = policy({
      whitelist: [rule("/p", "cwd"), rule("/wide"), rule("/given"), rule("/asked", "runtime"), rule("/set", "user")],
      granted: [rule("/p/key", "runtime"), rule("/unread"), rule("/read")],
      opened: [rule("/wide"), rule("/given")],
      environment: ["A", "B"]
    })
    const given = { "write /wide": false, "write /given": true, "read /read": true }
    const now = SubPolicy.inForce(enforced, built, new Map(Object.entries(given)))
    assert.deepStrictEqual(paths(now.whitelist), ["/p", "/tmp", "/given", "/asked"])
    assert.deepStrictEqual(paths(now.granted), ["/p/key", "/read"])
    assert.deepStrictEqual(paths(now.opened), ["/given"])
    assert.deepStrictEqual(now.environment, ["A"])
  })

  it("denies what either denies, also a rule whose link leads elsewhere by now", () => {
    const now = SubPolicy.inForce(
      policy({ blacklist: [rule("/link", "file", "/one"), rule("/a")], readonly: [rule("/r")] }),
      policy({ blacklist: [rule("/link", "file", "/two"), rule("/b")], readonly: [rule("/s"), rule("/r")] })
    )
    assert.deepStrictEqual(
      now.blacklist.map(({ path, real = path }) => real),
      ["/one", "/a", "/two", "/b"]
    )
    assert.deepStrictEqual(paths(now.readonly), ["/r", "/s"])
  })
})

describe("a policy that only reads", () => {
  const says = (given: SandboxPolicy, path: string) =>
    (["read", "write"] as const).map((access) => PolicyDecision.make(given).decide(path, access).allowed)

  it("lets nothing be written but places of its own, also where one of them holds a place of work", () => {
    const only = SubPolicy.readOnly(policy({ whitelist: [rule("/tmp/p", "cwd"), rule("/w"), rule("/tmp", "tmp")] }), [
      "/tmp",
      "/var/tmp"
    ])
    assert.deepStrictEqual(
      [paths(only.whitelist), paths(only.shown)],
      [
        ["/tmp", "/var/tmp"],
        ["/tmp/p", "/w"]
      ]
    )
    for (const [path, expected] of [
      ["/tmp/x", [true, true]],
      ["/var/tmp/x", [true, true]],
      ["/tmp/p/x", [true, false]],
      ["/tmp/p", [true, false]],
      ["/w/x", [true, false]],
      ["/p/key", [false, false]],
      ["/etc/x", [true, false]]
    ] as const) {
      assert.deepStrictEqual(says(only, path), [...expected], path)
    }
  })

  it("has no network, no socket, and nothing that its parent opened or keeps", () => {
    const hosts = { allowed: [], denied: [] }
    const opened = [rule("/p/key", "runtime")]
    const parent = policy({
      hosts,
      opened,
      unixSockets: true,
      temporary: rule("/t", "tmp"),
      toolCache: rule("/c", "cache")
    })
    const { shown, ...only } = SubPolicy.readOnly(parent, ["/tmp"])
    assert.deepStrictEqual(only, policy({ whitelist: [rule("/tmp", "tmp")] }))
    assert.deepStrictEqual(paths(shown), ["/p"])
  })

  it("has no place of its own where its parent works", () => {
    for (const at of ["/tmp", "/"]) {
      const only = SubPolicy.readOnly(policy({ whitelist: [rule(at, "cwd")] }), ["/tmp"])
      assert.deepStrictEqual(paths(only.whitelist), [])
      assert.deepStrictEqual(says(only, "/tmp/x"), [true, false])
    }
  })
})
