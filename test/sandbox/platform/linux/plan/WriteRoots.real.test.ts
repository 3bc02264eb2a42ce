import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as WriteRoots from "../../../../../src/sandbox/platform/linux/plan/WriteRoots.js"
import type { Rule } from "../../../../../src/sandbox/policy/SandboxPolicy.js"
import * as Directory from "../../../../support/sandbox/Directory.js"

const rule = (path: string, real = path): Rule => ({
  pattern: path,
  path,
  kind: "path",
  source: "user",
  ...(real === path ? undefined : { real })
})

describe("the roots that commands may write", () => {
  it.scoped("leave out what a link leads to that a command may have made", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      for (const name of ["project", "other", "links"]) Fs.mkdirSync(`${base}/${name}`)
      Fs.symlinkSync("../other", `${base}/project/link`)
      Fs.symlinkSync("../other", `${base}/links/own`)
      const made = rule(`${base}/project/link`, `${base}/other`)
      const make = (...whitelist: ReadonlyArray<Rule>) => WriteRoots.make({ whitelist, readonly: [] })
      const { refused, roots } = make(rule(`${base}/project`), made)
      assert.deepStrictEqual([roots, refused], [[`${base}/project`], [made]])
      // No command can make this one.
      const own = rule(`${base}/links/own`, `${base}/other`)
      assert.deepStrictEqual(make(rule(`${base}/project`), own).roots, [`${base}/other`, `${base}/project`])
      // It led elsewhere when the policy was built.
      const moved = rule(`${base}/links/own`)
      assert.deepStrictEqual(make(moved).refused, [moved])
    })
  )
  it.scoped("make the way to a missing file that must stay read-only, but not to a home that is gone", () =>
    Effect.gen(function* () {
      const base = yield* Directory.make
      const file = rule(`${base}/settings/file`)
      const home: Rule = { ...rule(`${base}/gone/.synapse`), mayBeGone: true }
      const { readonly } = WriteRoots.make({ whitelist: [rule(base)], readonly: [file, home] })
      assert.deepStrictEqual([readonly, Directory.list(base)], [[`${base}/settings`], ["settings"]])
    })
  )
})
