import { defineConfig } from "vitest/config"
import type { Reporter } from "vitest/node"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

/** Names the tests that passed at the second try only. */
const flaky: Reporter = {
  onTestCaseResult: (test) => {
    if (test.diagnostic()?.flaky === true) process.stdout.write(`passed at the second try: ${test.fullName}\n`)
  }
}

/** Names the files whose process has died before all their tests ended, which vitest does not. */
const unfinished: Reporter = {
  onTestRunEnd: (modules) => {
    for (const one of modules) {
      if (!["queued", "pending"].includes(one.state())) continue
      const test = Array.from(one.children.allTests()).find((test) => test.result().state === "pending")
      process.stdout.write(
        `its process has died: ${one.moduleId}, in or before: ${test?.fullName ?? "its first test"}\n`
      )
    }
  }
}

export default defineConfig({
  test: {
    reporters: ["default", flaky, unfinished],
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
        // What opens a descriptor for a socket is real: a thread that ends closes by number what it has opened and not
        // closed itself, which may be the channel to the process of another test by then.
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: real, pool: "threads" }
      }
    ]
  }
})
