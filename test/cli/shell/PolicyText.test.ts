import { assert, describe, it } from "@effect/vitest"
import * as PolicyText from "../../../src/cli/shell/PolicyText.js"
import type { SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import { glob, path } from "../../support/denial/World.js"

const policy: SandboxPolicy = {
  cwd: "/project",
  whitelist: [path("/project", "cwd")],
  blacklist: [glob("**/.env")],
  readonly: [],
  allowNetwork: false,
  toolCache: path("/home/tool-cache/1", "cache")
}

describe("what a person is told of the policy", () => {
  it("names all places that may be written, the caches of tools too", () =>
    assert.deepStrictEqual(PolicyText.make({ policy, provider: "local" }).split("\n").slice(1, 5), [
      "",
      "Read and write:",
      "  /project  (the working directory)",
      "  /home/tool-cache/1  (the caches of tools)"
    ]))
})
