import { assert, describe, it } from "@effect/vitest"
import * as Masks from "../../../../../src/sandbox/platform/linux/plan/Masks.js"
import type { Mask } from "../../../../../src/sandbox/platform/SandboxPlatform.js"
import * as BytePath from "../../../../../src/sandbox/policy/BytePath.js"

const rule = { pattern: "**/.env", path: "/**/.env", kind: "glob", source: "default" } as const
const masksOf = (paths: ReadonlyArray<string>): ReadonlyArray<Mask> =>
  paths.map((path) => ({ path, kind: "file", rule }))
const many = (directory: string, count = 50) => Array.from({ length: count }, (_, n) => `${directory}/d${n}/.env`)
const roots = ["/p", "/tmp"]
const fold = (paths: ReadonlyArray<string>, needed = ["/p/work"], limit = 20) =>
  Masks.foldMasks(masksOf(paths), roots, needed, limit).map(({ kind, path, reason }) =>
    reason === Masks.crowded ? `${kind} ${path}` : path
  )

describe("masks that are too many", () => {
  it("are left as they are up to the limit", () => {
    assert.deepStrictEqual(fold(many("/p/x", 20)), many("/p/x", 20))
  })

  it("become one of the directory that holds nearly all of them, and of no more than is needed", () => {
    assert.deepStrictEqual(fold([...many("/tmp/a/b/c"), "/tmp/.env", "/p/work/.env", "/etc/shadow"]), [
      "/tmp/.env",
      "/p/work/.env",
      "/etc/shadow",
      "directory /tmp/a/b/c"
    ])
    assert.deepStrictEqual(fold([...many("/p/x"), ...many("/tmp/y", 10)]), [...many("/tmp/y", 10), "directory /p/x"])
  })

  it("become one of a whole root where no command needs it", () => {
    assert.deepStrictEqual(fold([...many("/tmp"), "/p/.env"]), ["/p/.env", "directory /tmp"])
  })

  it("are no sandbox where they lie around the work itself", () => {
    assert.throws(() => fold(many("/p/work")), /50 files are named by the blacklist, such as \/p\/work\/d49\/\.env/)
    assert.throws(() => fold(many("/elsewhere")), /no sandbox can hide that many/)
  })
})

describe("a long text with one byte that is not UTF-8", () => {
  it("is encoded", () => {
    const text = `${"/tmp/many/d1/credentials.json none bind 0 0\n".repeat(50_000)}\udcff`
    assert.strictEqual(BytePath.encode(text).length, text.length)
  })
})
