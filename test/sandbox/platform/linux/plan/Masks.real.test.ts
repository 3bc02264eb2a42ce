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
