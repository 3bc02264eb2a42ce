import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as PathGlob from "../../../src/sandbox/policy/PathGlob.js"
import * as PathRule from "../../../src/sandbox/policy/PathRule.js"
import type { Rule } from "../../../src/sandbox/policy/SandboxPolicy.js"

const rule = (path: string, real?: string): Rule => ({
  pattern: path,
  path,
  kind: PathGlob.hasWildcard(path) || path.startsWith("/**/") ? "glob" : "path",
  source: "user",
  ...(real === undefined ? {} : { real })
})
const rules = (...paths: ReadonlyArray<string>) => paths.map((path) => rule(path))

describe("a rule", () => {
  const matcher = PathRule.make(rules("/home/ada/.ssh", "/**/.env", "/**/*.pem", "/w/keys/**", "/w/*/k?y"), {
    ignoreCase: false
  })
  const cases: ReadonlyArray<readonly [path: string, pattern: string | undefined]> = [
    ["/home/ada/.ssh", "/home/ada/.ssh"],
    ["/home/ada/.ssh/id_rsa", "/home/ada/.ssh"],
    ["/home/ada/.ssh/a/b", "/home/ada/.ssh"],
    ["/home/ada/.ssh2", undefined],
    ["/home/ada", undefined],
    ["/home/ada/.SSH/id_rsa", undefined],
    ["/", undefined],
    ["/.env", "/**/.env"],
    ["/a/b/.env", "/**/.env"],
    ["/a/.env/bin/python", "/**/.env"],
    ["/a/.env2", undefined],
    ["/a/x.env", undefined],
    ["/a/.hidden.pem", "/**/*.pem"],
    ["/a/x.pem/y", "/**/*.pem"],
    ["/a/x\n.pem", "/**/*.pem"],
    ["/a/x.pem2", undefined],
    ["/w/keys", "/w/keys/**"],
    ["/w/keys/a/b", "/w/keys/**"],
    ["/w/a/key", "/w/*/k?y"],
    ["/w/a/key/b", "/w/*/k?y"],
    ["/w/a/b/key", undefined]
  ]
  for (const [path, pattern] of cases) {
    it(`${pattern ?? "none"} covers ${JSON.stringify(path)}`, () =>
      assert.strictEqual(matcher.find(path)?.pattern, pattern))
  }

  it("is the first that covers a path, whatever its kind", () => {
    const order = rules("/**/.env", "/a", "/a/b", "/**/b")
    assert.strictEqual(PathRule.make(order).find("/a/b/.env"), order[0])
    assert.strictEqual(PathRule.make([...order].reverse()).find("/a/b/.env"), order[3])
    assert.strictEqual(PathRule.make(order).find("/a/b"), order[1])
    const inner = rules("/a/b", "/a")
    assert.strictEqual(PathRule.make(inner).find("/a/b/c"), inner[0])
    const twice = rules("/a", "/a")
    assert.strictEqual(PathRule.make(twice).find("/a/b"), twice[0])
  })

  it("covers where it leads as well", () => {
    const linked = [rule("/home/ada/.ssh", "/data/ssh"), rule("/home/ada/k/*.pem", "/data/k/*.pem")]
    const { find } = PathRule.make(linked)
    assert.deepStrictEqual(
      ["/home/ada/.ssh/x", "/data/ssh/x", "/home/ada/k/a.pem", "/data/k/a.pem", "/data/x"].map(find),
      [linked[0], linked[0], linked[1], linked[1], undefined]
    )
  })

  it("ignores case where the file system does", () => {
    const all = rules("/Users/ada/.ssh", "/**/.env", "/**/*.pem")
    const { find, findEntry } = PathRule.make(all, { ignoreCase: true })
    assert.strictEqual(find("/users/ADA/.SSH/x"), all[0])
    assert.isUndefined(PathRule.make(all, { ignoreCase: false }).find("/users/ADA/.SSH/x"))
    assert.deepStrictEqual(
      [".ENV", "a.PEM", "b"].map((name) => findEntry("/x", name, false)),
      [all[1], all[2], undefined]
    )
  })
})

describe("a walk", () => {
  const all = rules("/a/literal", "/**/.env", "/**/*.pem", "/**/[ab].key", "/w/*/k", "/**/d/**")
  const matcher = PathRule.make(all)

  it("hears the rule of an entry", () => {
    const found = (directory: string, name: string) => matcher.findEntry(directory, name, false)?.path
    assert.deepStrictEqual(
      [
        found("/", ".env"),
        found("/x", "b.key"),
        found("/w/x", "k"),
        found("/w", "k"),
        found("/x", "d"),
        found("/a", "literal")
      ],
      ["/**/.env", "/**/[ab].key", "/w/*/k", undefined, "/**/d/**", undefined]
    )
  })

  it("down a path finds what looking at the path finds", () => {
    const name = FastCheck.constantFrom("a", "w", "k", "d", ".env", "a.key", "x.pem", "x")
    FastCheck.assert(
      FastCheck.property(FastCheck.array(name, { minLength: 1, maxLength: 5 }), (names) => {
        const globs = PathRule.make(all.slice(1))
        const step = names.findIndex(
          (entry, at) => globs.findEntry(`/${names.slice(0, at).join("/")}`, entry, false) !== undefined
        )
        assert.strictEqual(step >= 0, globs.find(`/${names.join("/")}`) !== undefined)
      })
    )
  })
})

describe("no rules", () => {
  it("cover nothing", () => {
    const matcher = PathRule.make([])
    assert.deepStrictEqual([matcher.find("/a"), matcher.findEntry("/", "a", false)], [undefined, undefined])
  })
})
