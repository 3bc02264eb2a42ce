import { assert, describe, it } from "@effect/vitest"
import * as Synapse from "../src/index.js"

describe("the package", () => {
  it("exports what a sandbox provider of a user's own is made with", () => {
    const needed = [
      "LocalSandboxProvider",
      "Permission",
      "SandboxBackend",
      "SandboxManager",
      "SandboxPlatform",
      "SandboxProvider"
    ]
    assert.includeMembers(Object.keys(Synapse), needed)
  })
})
