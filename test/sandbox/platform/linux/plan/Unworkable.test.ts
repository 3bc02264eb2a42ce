import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layout from "../../../../../src/sandbox/platform/linux/plan/Layout.js"
import type { Rule, RuleSource, SandboxPolicy } from "../../../../../src/sandbox/policy/SandboxPolicy.js"
import * as Directory from "../../../../support/sandbox/Directory.js"

const exact = (path: string, source: RuleSource): Rule => ({ pattern: path, path, kind: "path", source })

const flawOf = (
  source: RuleSource,
  change: (place: string) => void,
  back: (place: string) => void = () => {}
): Effect.Effect<readonly [string | undefined, string | undefined]> =>
  Effect.scoped(
    Effect.gen(function* () {
      const directory = yield* Directory.make
      const place = `${directory}/place`
      for (const name of ["place", "other", "outside"]) Fs.mkdirSync(`${directory}/${name}`)
      const cwd = source === "cwd" ? place : `${directory}/other`
      const policy: SandboxPolicy = {
        ...{ cwd, blacklist: [], readonly: [], allowNetwork: false },
        whitelist: [exact(cwd, "cwd"), exact(place, source)]
      }
      change(place)
      const layout = yield* Effect.promise(() => Layout.make(policy, { session: `${directory}/sessions/session` }))
      const flaw = Layout.unworkable(policy, layout)
      back(place)
      return [flaw, Layout.missed(policy, layout)].map((text) => text?.replaceAll(place, "P")) as never
    })
  )

const link = (place: string) => {
  Fs.renameSync(place, `${place}-gone`)
  Fs.symlinkSync("outside", place)
}

const replaced = "while it was built, P was replaced, or a link led there; try again when it rests"

describe("a place that commands may write", () => {
  it.live("keeps a sandbox from starting where a link has come to its place", () =>
    Effect.gen(function* () {
      for (const source of ["cwd", "user", "tmp"] as const) {
        assert.deepStrictEqual((yield* flawOf(source, link))[0], replaced, source)
      }
    })
  )

  it.live("keeps it from starting where it is gone, and is the sandbox's own directory", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* flawOf("cwd", (place) => Fs.rmdirSync(place)))[0], replaced)
      assert.deepStrictEqual(yield* flawOf("user", (place) => Fs.rmdirSync(place)), [undefined, undefined])
    })
  )

  it.live("is missed where it was away for a moment only", () =>
    Effect.gen(function* () {
      const away = yield* flawOf(
        "user",
        (place) => Fs.renameSync(place, `${place}-away`),
        (place) => Fs.renameSync(`${place}-away`, place)
      )
      assert.deepStrictEqual(away, [undefined, "P"])
      assert.deepStrictEqual(yield* flawOf("user", () => {}), [undefined, undefined])
    })
  )
})
