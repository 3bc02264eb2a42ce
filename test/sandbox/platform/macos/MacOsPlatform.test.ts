import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as MacOsPlatform from "../../../../src/sandbox/platform/macos/MacOsPlatform.js"
import { SandboxPlatform } from "../../../../src/sandbox/platform/SandboxPlatform.js"
import type { SandboxPolicy } from "../../../../src/sandbox/policy/SandboxPolicy.js"

const policy: SandboxPolicy = { cwd: "/p", whitelist: [], blacklist: [], readonly: [], allowNetwork: false }

const wrap = (program: string) =>
  Effect.flatMap(SandboxPlatform, ({ wrap }) =>
    wrap({
      policy,
      shell: { program: "/bin/bash", args: ["--norc"] },
      directory: "/session",
      environment: { PATH: "/bin", API_KEY: "secret" }
    })
  ).pipe(Effect.provide(MacOsPlatform.layer({ program })), Effect.scoped)

describe("the adapter for macOS", () => {
  it.effect("runs the shell under sandbox-exec with the policy's profile", () =>
    Effect.map(wrap("/bin/sh"), ({ environment, masks, spawnable }) => {
      const profile = MacOsPlatform.make(policy, "/session")
      assert.deepStrictEqual(spawnable, { program: "/bin/sh", args: ["-p", profile, "/bin/bash", "--norc"] })
      assert.deepStrictEqual(masks, [])
      assert.strictEqual(environment["PATH"], "/bin")
      assert.isFalse("API_KEY" in environment)
    })
  )

  it.effect("refuses where there is no sandbox-exec", () =>
    Effect.map(Effect.flip(wrap("/nowhere/sandbox-exec")), (error) => {
      assert.strictEqual(error.kind, "sandbox")
      assert.match(error.message, /^sandbox-exec is required/)
    })
  )
})
