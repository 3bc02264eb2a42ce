import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Masks from "../../../../../src/sandbox/platform/linux/plan/Masks.js"
import * as Directory from "../../../../support/sandbox/Directory.js"

const blacklist = [{ pattern: "**/.env", path: "/**/.env", kind: "glob", source: "file" }] as const

describe("a link with a name that the blacklist forbids", () => {
  it.scoped("hides a file wherever that lies, and a directory only where commands may write", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      const project = `${base}/project`
      for (const name of ["project/a/own", "project/b", "project/c", "other"]) {
        Fs.mkdirSync(`${base}/${name}`, { recursive: true })
      }
      Fs.writeFileSync(`${base}/other/shared`, "")
      Fs.symlinkSync("own", `${project}/a/.env`)
      Fs.symlinkSync(`${base}/other`, `${project}/b/.env`)
      Fs.symlinkSync(`${base}/other/shared`, `${project}/c/.env`)
      const area = { roots: [project], needed: [project], hidden: [] }
      const masks = yield* Effect.promise(() => Masks.find({ blacklist }, area))
      assert.deepStrictEqual(masks.map(({ kind, path }) => `${kind} ${path.slice(base.length)}`).sort(), [
        "directory /project/a/own",
        "file /other/shared"
      ])
    })
  )
})

describe("what a link leads to", () => {
  it("is not hidden where that would take the system or the place of work from commands", () => {
    const needed = ["/work/project"]
    const harmful = ["/", "/usr/lib/x", "/etc", "/etc/passwd", "/home", "/work", "/work/project", process.execPath]
    const others = ["/etc/app/token", "/home/ann/key", "/work/project/key", "/work/other"]
    assert.deepStrictEqual(
      [...harmful, ...others].filter((path) => Masks.isHarmful(path, needed)),
      harmful
    )
  })
})

describe("a search", () => {
  it.scoped("finds all names of a file that is masked by one of them", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      for (const name of ["b", "c"]) Fs.mkdirSync(`${base}/${name}`)
      Fs.writeFileSync(`${base}/.env`, "")
      // The walk comes to the masked name first, and counts it as no other one.
      for (const name of ["b/x", "c/z"]) Fs.linkSync(`${base}/.env`, `${base}/${name}`)
      const masks = yield* Effect.promise(() => Masks.find({ blacklist }, { roots: [base], needed: [], hidden: [] }))
      assert.deepStrictEqual(masks.map(({ path }) => path.slice(base.length)).sort(), ["/.env", "/b/x", "/c/z"])
    })
  )

  it.scoped("names the directories that may be git directories", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      Fs.mkdirSync(`${base}/bare.git`)
      Fs.writeFileSync(`${base}/bare.git/HEAD`, "")
      const area = { roots: [base], needed: [], hidden: [] }
      const { heads } = yield* Effect.promise(() => Masks.search({ blacklist }, area))
      assert.deepStrictEqual(heads, [`${base}/bare.git`])
    })
  )
})

describe("a path that a rule names and that does not exist", () => {
  it.scopedLive("is found as soon as it does, whatever was known of its directory", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      Fs.mkdirSync(`${base}/rest/deep`, { recursive: true })
      Fs.mkdirSync(`${base}/aside`)
      Fs.symlinkSync(`${base}/target`, `${base}/rest/link`)
      const paths = ["rest/file", "rest/link", "rest/deep/file", "rest/new/file", "aside/file"]
      const rules = paths.map((name) => {
        const path = `${base}/${name}`
        return { pattern: path, path, kind: "path", source: "file" } as const
      })
      const found = () => Masks.literals(rules, [base]).map(({ path }) => path.slice(base.length))
      // Directories are remembered once they have not changed for a while.
      yield* Effect.sleep(1600)
      assert.deepStrictEqual([found(), found()], [[], []])
      // The link's directory stays as it is.
      Fs.writeFileSync(`${base}/target`, "")
      assert.deepStrictEqual(found(), ["/target"])
      Fs.mkdirSync(`${base}/rest/new`)
      for (const name of ["rest/file", "rest/deep/file", "rest/new/file"]) Fs.writeFileSync(`${base}/${name}`, "")
      const all = ["/rest/file", "/target", "/rest/deep/file", "/rest/new/file"]
      assert.deepStrictEqual(found(), all)
      yield* Effect.sleep(1600)
      assert.deepStrictEqual(found(), all)
      // Another directory takes the place of one at rest.
      Fs.renameSync(`${base}/aside`, `${base}/gone`)
      Fs.renameSync(`${base}/rest/deep`, `${base}/aside`)
      assert.deepStrictEqual(found(), ["/rest/file", "/target", "/rest/new/file", "/aside/file"])
    })
  )
})

describe("a root that a link has come to the place of", () => {
  it.scoped("is not calm, though nothing is named where the link leads", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      Fs.mkdirSync(`${base}/outside`)
      Fs.symlinkSync("outside", `${base}/root`)
      const area = { roots: [`${base}/root`], needed: [], hidden: [] }
      const search = () => Effect.promise(() => Masks.search({ blacklist }, area, Date.now() + 1000))
      assert.strictEqual((yield* search()).calm, "moving")
      Fs.unlinkSync(`${base}/root`)
      Fs.mkdirSync(`${base}/root`)
      assert.strictEqual((yield* search()).calm, "still")
    })
  )
})
