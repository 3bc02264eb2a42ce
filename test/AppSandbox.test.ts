import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { make } from "../src/promise.js"
import * as Synapse from "../src/Synapse.js"

/** Settings of the Promise face that can't work, and what is said of them. */
const unworkable = [
  [{ cwd: "/nosuch" }, /"cwd" must be a directory/],
  [{ shellCommand: "/nosuch/bash -x" }, /"shellCommand" can't work: there is no program \/nosuch\/bash$/],
  [{ sandbox: { allow: ["/etc"] } }, /"sandbox\.allow\[0\]" can't work: \/etc can't be on the whitelist: the system/],
  [{ sandbox: { allow: ["/srv/b", "*"] } }, /"sandbox\.allow\[1\]" can't work: /],
  [{ sandbox: { deny: ["x", "!y"] } }, /"sandbox\.deny\[1\]" can't work: /]
] as const

describe("a setting that can't work", () => {
  for (const [settings, said] of unworkable) {
    it(`is refused by the Promise face: ${JSON.stringify(settings)}`, async () => {
      const refused = await make(settings).then(
        (synapse) => synapse.dispose(),
        (error) => error
      )
      assert.match(refused?.message ?? "", said)
    })
  }

  for (const [settings, sandbox, name] of [
    [{ cwd: "/nosuch" }, {}, "cwd"],
    [{ shellCommand: "nosuchbash" }, {}, "shellCommand"],
    [{}, { whitelist: ["/srv", "/etc"] }, "sandbox.whitelist[1]"],
    [{}, { env: ["A=1"] }, "sandbox.env[0]"]
  ] as const) {
    it.effect(`fails the layer: ${name}`, () =>
      Effect.map(Effect.flip(Effect.scoped(Layer.build(Synapse.layer(settings, { sandbox })))), (error) => {
        assert.strictEqual(error._op === "InvalidData" ? error.path.join(".") : error._op, name)
      })
    )
  }

  it.effect("is shown with one pair of quotes around the reason", () =>
    Effect.map(
      Effect.flip(Effect.scoped(Layer.build(Synapse.layer({}, { sandbox: { whitelist: ["/etc"] } })))),
      (error) => assert.match(String(error), /^\(Invalid data at sandbox\.whitelist\[0\]: "\/etc can't be on [^"]*"\)$/)
    )
  )

  it.effect("is no shell by its path from the directory that it starts in", () =>
    Effect.scoped(Layer.build(Synapse.layer({ cwd: "/", shellCommand: "bin/bash" })))
  )

  it.effect("is not looked at where there is no sandbox", () =>
    Effect.scoped(Layer.build(Synapse.layer({}, { sandbox: { enabled: false, whitelist: ["/etc"] } })))
  )
})
