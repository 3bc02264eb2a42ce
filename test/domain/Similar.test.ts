import { assert, describe, it } from "@effect/vitest"
import * as Similar from "../../src/domain/Similar.js"

const names = [
  "git",
  "grep",
  "egrep",
  "make",
  "cmake",
  "python3",
  "node",
  "ls",
  "ld",
  "src",
  "README.md",
  "index.test.ts"
]

const meant: Readonly<Record<string, string | undefined>> = {
  gti: "git",
  gerp: "grep",
  grpe: "grep",
  LS: "ls",
  scr: "src",
  mkae: "make",
  makee: "make",
  python: "python3",
  phyton3: "python3",
  "readme.md": "README.md",
  "index.tst.ts": "index.test.ts",
  "indx.tst.ts": "index.test.ts",
  // Nothing is near, or more than one is.
  nope: undefined,
  l: undefined,
  foo: undefined,
  sl: undefined,
  dl: undefined,
  git: undefined,
  "": undefined
}

describe("the nearest name", () => {
  for (const [written, name] of Object.entries(meant)) {
    it(`is ${name ?? "unknown"} for ${JSON.stringify(written)}`, () => {
      assert.strictEqual(Similar.nearest(written, names), name)
      if (name !== undefined) assert.isTrue(Similar.isNear(written)(name))
    })
  }

  it("is unknown where two are as near", () => {
    assert.isUndefined(Similar.nearest("index.ts", ["indexa.ts", "indexb.ts"]))
    assert.strictEqual(Similar.nearest("index.ts", ["Index.ts", "indexb.ts"]), "Index.ts")
  })

  it("is found without comparing long texts", () => {
    assert.isUndefined(Similar.nearest("a".repeat(1_000_000), ["a".repeat(999_999)]))
  })

  it("counts what is more, less, other, and exchanged", () => {
    const pairs: ReadonlyArray<readonly [string, string, number]> = [
      ["", "", 0],
      ["", "abc", 3],
      ["abc", "abc", 0],
      ["abc", "acb", 1],
      ["ca", "abc", 3],
      ["kitten", "sitting", 3]
    ]
    for (const [a, b, count] of pairs) assert.strictEqual(Similar.distance(a, b), count, `${a} ${b}`)
  })

  it("knows a name by its beginning, its end, a part and its letters", () => {
    const of = (written: string, ...names: ReadonlyArray<string>) => Similar.likely(written, names)
    assert.deepStrictEqual(of("read_text", "read_file", "read_text_file"), ["read_text_file"])
    assert.deepStrictEqual(of("ech", "echo", "add"), ["echo"])
    assert.deepStrictEqual(of("file_path", "path", "content"), ["path"])
    assert.deepStrictEqual(of("msg", "message", "count"), ["message"])
    assert.deepStrictEqual(of("readFile", "read-file"), ["read-file"])
    assert.deepStrictEqual(of("read", "read_file", "read_text_file", "write"), ["read_file", "read_text_file"])
    assert.deepStrictEqual(of("read", "read_a", "read_b", "read_c", "read_d"), [])
    assert.deepStrictEqual(of("zz", "zzz"), [])
    assert.deepStrictEqual(of("x".repeat(100_000), "xxx"), [])
  })
})
