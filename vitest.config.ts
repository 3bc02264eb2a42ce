import { writeFileSync } from "node:fs"
import { defineConfig } from "vitest/config"
import type { Reporter } from "vitest/node"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

/** Names the tests that passed at the second try only. */
const flaky: Reporter = {
  onTestCaseResult: (test) => {
    if (test.diagnostic()?.flaky === true) process.stdout.write(`passed at the second try: ${test.fullName}\n`)
  }
}

const isDeath = (error: { readonly message?: string }) => error.message === "Worker exited unexpectedly"

/**
 * Names the files whose process has died before all their tests ended; where nothing has failed besides, also to who runs
 * them again (`test/support/run.mjs`).
 */
const unfinished: Reporter = {
  onTestRunEnd: (modules, errors) => {
    const dead = modules.filter((one) => ["queued", "pending"].includes(one.state()))
    for (const one of dead) {
      const test = Array.from(one.children.allTests()).find((test) => test.result().state === "pending")
      process.stdout.write(
        `its process has died: ${one.moduleId}, in or before: ${test?.fullName ?? "its first test"}\n`
      )
    }
    const list = process.env["SYNAPSE_UNFINISHED"]
    if (list === undefined || dead.length === 0 || !errors.every(isDeath)) return
    if (modules.some((one) => one.state() === "failed")) return
    writeFileSync(list, dead.map((one) => one.moduleId).join("\n"))
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
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: real, pool: "threads" }
      }
    ]
  }
})
