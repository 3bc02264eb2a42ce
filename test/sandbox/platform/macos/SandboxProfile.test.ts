import { assert, describe, it } from "@effect/vitest"
import * as MacOsPlatform from "../../../../src/sandbox/platform/macos/MacOsPlatform.js"
import type { Rule, SandboxPolicy } from "../../../../src/sandbox/policy/SandboxPolicy.js"

const path = (path: string, source: Rule["source"] = "user"): Rule => ({ pattern: path, path, kind: "path", source })
const glob = (pattern: string): Rule => ({ pattern, path: `/${pattern}`, kind: "glob", source: "default" })

const policy: SandboxPolicy = {
  cwd: "/Users/u/project",
  whitelist: [path("/Users/u/project", "cwd"), path("/tmp/x", "tmp")],
  blacklist: [path("/Users/u/.ssh", "default"), path("/Users/u/project/a/secret"), glob("**/.env")],
  readonly: [path("/Users/u/project/.synapse", "own")],
  allowNetwork: false
}

const textOf = (changes: Partial<SandboxPolicy> = {}) => MacOsPlatform.make({ ...policy, ...changes })

/** Every clause, without the words in strings. */
const clauses = (text: string): ReadonlyArray<string> => {
  const bare = text.replace(/#?"(?:\\.|[^"\\])*"/gs, '""')
  const found: Array<string> = []
  let depth = 0
  let start = 0
  for (let at = 0; at < bare.length; at++) {
    if (bare[at] === "(" && depth++ === 0) start = at
    if (bare[at] === ")" && --depth === 0) found.push(bare.slice(start, at + 1))
  }
  assert.strictEqual(depth, 0)
  return found
}

describe("the profile", () => {
  it("S69: denies the network", () => {
    assert.include(textOf(), "\n(deny network*)\n")
    assert.notMatch(textOf(), /allow [^\n]*(?:network|system-socket)/)
  })

  it("S70: denies globs by expressions, after all that it allows", () => {
    const text = textOf()
    const clause =
      '(deny file-read* file-write* (with message "synapse:blacklist:2")\n  (regex #"^(/[^/]+)*/\\.[eE][nN][vV]($|/)"))'
    assert.include(text, clause)
    assert.isAbove(text.indexOf(clause), text.lastIndexOf("(allow "))
    const denies = ["\n(deny file-read*", "\n(deny file-write*", "\n(deny network*"].map((deny) => text.indexOf(deny))
    for (const at of denies) assert.isAbove(at, text.lastIndexOf("\n(allow "))
  })

  it("denies by default, and has no clause without a filter that is not meant for everything", () => {
    const all = clauses(textOf())
    assert.deepStrictEqual(
      all.filter((clause) => !/\((?:subpath|literal|regex|target|sysctl-name|global-name)/.test(clause)),
      [
        "(version 1)",
        '(deny default (with message ""))',
        "(allow process-fork)",
        "(allow ipc-posix-sem)",
        "(deny network*)"
      ]
    )
    assert.isFalse(all.some((clause) => clause.startsWith("(allow default")))
  })

  it("stands without rules: nothing is writable then, and nothing is all of a kind", () => {
    const text = textOf({ whitelist: [], blacklist: [], readonly: [] })
    assert.notInclude(text, "(allow file-write*")
    assert.deepStrictEqual(
      clauses(text).filter((clause) => /file-write/.test(clause)),
      ['(allow file-write-data file-ioctl\n  (literal "")\n  (literal "")\n  (literal ""))']
    )
  })

  it("knows the real names of the three linked directories, and both encodings of letters", () => {
    const text = textOf({ blacklist: [path("/etc/shadow"), path("/Users/u/\u00fc")] })
    assert.include(text, '(subpath "/tmp/x")\n  (subpath "/private/tmp/x")')
    assert.include(text, '(subpath "/etc/shadow")\n  (subpath "/private/etc/shadow")')
    assert.include(text, '(subpath "/Users/u/\u00fc")\n  (subpath "/Users/u/u\u0308")')
  })

  it("knows where a rule led when the policy was built", () => {
    const rule: Rule = { ...path("/Users/u/keys"), real: "/Volumes/keys" }
    assert.include(textOf({ blacklist: [rule] }), '(subpath "/Users/u/keys")\n  (subpath "/Volumes/keys")')
  })

  it("keeps the directories that hold what is blacklisted where they are", () => {
    assert.include(
      textOf(),
      '(deny file-write-unlink (with message "synapse:pin:1")\n  (literal "/Users/u/project/a")\n  (literal "/Users/u/project"))'
    )
  })

  it("keeps what is read-only from being written, whitelisted or not", () => {
    assert.include(
      textOf(),
      '(deny file-write* (with message "synapse:readonly:0")\n  (subpath "/Users/u/project/.synapse"))'
    )
  })

  it("lets what a person granted be read, and not be written", () => {
    const text = textOf({ granted: [path("/Users/u/.ssh/config"), path("/Users/u/project/.env")] })
    assert.include(text, '(allow file-read*\n  (subpath "/Users/u/.ssh/config")\n  (subpath "/Users/u/project/.env"))')
    assert.notInclude(text, '(allow file-write*\n  (subpath "/Users/u/project/.env"))')
  })

  it("lets the shell write to its session's pipes", () => {
    assert.include(
      MacOsPlatform.make(policy, "/tmp/session"),
      '(allow file-write-data\n  (subpath "/tmp/session")\n  (subpath "/private/tmp/session"))'
    )
  })

  it("is one profile whatever a path holds", () => {
    for (const name of [
      'a"b',
      "a\\",
      'a\\"',
      "a)\n(allow default)",
      '") (allow default) ("',
      "a;b",
      "#|",
      "ü\u2028",
      "a\tb"
    ]) {
      const rules = [path(`/Users/u/${name}`), glob(`**/${name.replaceAll("\\", "\\\\")}*`)]
      const expected = clauses(textOf({ whitelist: [path("/w")], blacklist: [path("/x"), glob("**/x*")] })).length
      assert.strictEqual(clauses(textOf({ whitelist: [path(`/${name}`)], blacklist: rules })).length, expected, name)
    }
  })
})
