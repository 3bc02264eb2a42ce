import { assert, describe, it } from "@effect/vitest"
import * as Synapse from "../src/index.js"

describe("the package", () => {
  it("exports what a sandbox provider of a user's own is made with", () => {
    const needed = ["Permission", "SandboxBackend", "SandboxManager", "SandboxPlatform", "SandboxProvider"]
    assert.includeMembers(Object.keys(Synapse), needed)
  })

  it("exports nothing that makes a shell past the sandbox manager", () => {
    const internal = ["BashSession", "LocalSandboxProvider", "UnsandboxedProvider"]
    assert.deepStrictEqual(
      Object.keys(Synapse).filter((name) => internal.includes(name)),
      []
    )
  })
})
