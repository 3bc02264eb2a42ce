import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as PathGlob from "../../../src/sandbox/policy/PathGlob.js"

const text = (alphabet: ReadonlyArray<string>, maxLength: number) =>
  FastCheck.array(FastCheck.constantFrom(...alphabet), { minLength: 1, maxLength }).map((parts) => parts.join(""))

describe("a name's wildcards", () => {
  it("take no time over names that are made to take it", () => {
    const name = "a".repeat(255)
    assert.isFalse(PathGlob.compileNames([`${"*a".repeat(40)}*b`], false).test(name))
    assert.isTrue(PathGlob.compileNames([`${"*a".repeat(40)}*`], false).test(name))
    const path = "/a".repeat(2000)
    assert.isFalse(PathGlob.compile([`${"/**/a".repeat(20)}/**/b`], false).test(path))
    assert.isFalse(PathGlob.compile(["/**/a*a*/**/a"], false).test(`${path}/xaxa/a`))
    assert.isTrue(PathGlob.compile(["/**/a*a*/**/a"], false).test(`${path}/axa/a`))
  })

  it("mean nothing where they are escaped", () => {
    const any = FastCheck.fullUnicodeString({ minLength: 1 }).filter((name) => !name.includes("/"))
    for (const name of [...FastCheck.sample(any, 500), "~", "!a", "$HOME", "${A}", "{a,b}", "[id]", "a\\", "\\"]) {
      const escaped = PathGlob.escape(name)
      assert.isFalse(PathGlob.hasWildcard(escaped), name)
      assert.deepStrictEqual(PathGlob.expandBraces(escaped, 10), [escaped])
      assert.strictEqual(PathGlob.unescape(escaped), name)
      assert.isTrue(PathGlob.compileNames([escaped], false).test(name), name)
    }
  })
})

describe("a path's wildcards", () => {
  it("of many patterns match what each of them matches", () => {
    const patterns = ["/a/*/c", "/**/*a*b*", "/x/**/y/**/*.z*", "/[ab]?"]
    const all = PathGlob.compile(patterns, false)
    const paths = text(["/", "a", "b", "x/", "/y", ".z"], 6).map(
      (rest) => `/${rest.replace(/\/+/g, "/").replace(/^\/|\/$/g, "")}`
    )
    const each = patterns.map((pattern) => PathGlob.compile([pattern], false))
    for (const path of FastCheck.sample(paths, 2000)) {
      assert.strictEqual(
        all.test(path),
        each.some((pattern) => pattern.test(path)),
        path
      )
    }
  })

  it("never stand for a slash", () => {
    for (const pattern of ["/a[!x]b", "/a[.-0]b", "/a?b", "/a*b"]) {
      assert.isFalse(PathGlob.compile([pattern], false).test("/a/b"), pattern)
    }
  })

  it("ignore case only where they are told to", () => {
    assert.isFalse(PathGlob.compile(["/A/*.PEM"], false).test("/a/k.pem"))
    assert.isTrue(PathGlob.compile(["/A/*.PEM"], true).test("/a/k.pem"))
  })
})

describe("alternatives", () => {
  it("are refused where there are too many", () => {
    assert.isUndefined(PathGlob.expandBraces("{a,b}".repeat(20), 1000))
    assert.strictEqual(PathGlob.expandBraces("{a,b}".repeat(9), 1000)?.length, 512)
  })
})
