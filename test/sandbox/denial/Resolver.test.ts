import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import * as Directory from "../../support/sandbox/Directory.js"

describe("the resolver", () => {
  it.scoped("is local where it names no server beyond this machine", () =>
    Effect.gen(function* () {
      const file = `${yield* Directory.make}/resolv.conf`
      assert.isTrue(Attribution.isLocal(file))
      for (const [text, local] of [
        ["nameserver 127.0.0.53\noptions edns0\n", true],
        ["nameserver ::1\n", true],
        ["nameserver 127.0.0.1\nnameserver 10.0.0.1\n", false],
        ["# nameserver 10.0.0.1\n", true]
      ] as const) {
        Fs.writeFileSync(file, text)
        assert.strictEqual(Attribution.isLocal(file), local, text)
      }
    })
  )
})
