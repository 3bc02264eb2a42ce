/** Synapse as a client under the official conformance suite: connecting, calling, and logging in by OAuth. */
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import * as Conformance from "../../support/mcp/Conformance.js"
import * as Temporary from "../../support/Temporary.js"

const person = path.resolve(import.meta.dirname, "../../fixtures/mcp/person.mjs")

/**
 * Left out: a client's own address as its name (`basic-cimd`, a warning), and metadata of another issuer
 * (`oauth-metadata-backcompat`), which the official client refuses.
 */
const scenarios = ["initialize", "tools_call"].concat(
  [
    ...["metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "scope-from-www-authenticate"],
    ...["scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-retry-limit", "scope-step-up"],
    ...["token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "resource-mismatch"],
    ...["offline-access-scope", "offline-access-not-supported", "2025-03-26-oauth-endpoint-fallback"]
  ].map((name) => `auth/${name}`)
)

for (const scenario of scenarios)
  it(`passes the scenario ${scenario}`, (context) =>
    Temporary.using(async (directory) => {
      if (!Conformance.isInstalled) return context.skip(Conformance.why)
      const command = ["--command", `${process.execPath} ${person}`, "--timeout", "60000"]
      const { stderr } = await Conformance.run(directory, "conformance", "client", "--scenario", scenario, ...command)
      return assert.match(stderr, /PASSED/)
    }))
