import { defineConfig } from "vitest/config"
import type { Reporter } from "vitest/node"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

/** Names the tests that passed at the second try only. */
const flaky: Reporter = {
  onTestCaseResult: (test) => {
    if (test.diagnostic()?.flaky === true) process.stdout.write(`passed at the second try: ${test.fullName}\n`)
  }
}

export default defineConfig({
  test: {
    reporters: ["default", flaky],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A vitest pool isolates all of its files, or none.
    poolOptions: { threads: { isolate: false } },
    projects: [
      {
        extends: true,
        // These start real shells and send signals: each file has a process of its own. What they see depends here and
        // there on which of two processes comes first: on a busy machine one of some two thousand fails, another each
        // time. Such a one gets a second try, and is named.
        test: { name: "real", include: real, pool: "forks", retry: 1 }
      },
      {
        extends: true,
        // To load the modules anew for each file takes longer than these tests.
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: real, pool: "threads" }
      }
    ]
  }
})
