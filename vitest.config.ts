import { defineConfig } from "vitest/config"
import type { Reporter } from "vitest/node"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

/**
 * Tests of what depends on which of two processes comes first: on a machine where a process waits longer for a processor
 * than the patience under test, the answer is another one. They get a second try, and are named where they need it.
 */
const timed = [
  "bridge/limits",
  "sandbox/leftovers",
  "session/Substitutions",
  "session/background",
  "session/damage"
].map((file) => `test/${file}*.real.test.ts`)

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
        // These start real shells and send signals: each file has a process of its own.
        test: { name: "real", include: real, exclude: timed, pool: "forks" }
      },
      {
        extends: true,
        test: { name: "timed", include: timed, pool: "forks", retry: 1 }
      },
      {
        extends: true,
        // To load the modules anew for each file takes longer than these tests.
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: real, pool: "threads" }
      }
    ]
  }
})
