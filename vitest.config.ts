import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { budget, flaky, leftovers, slowest, unfinished } from "./test/support/suite/Reporters.js"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

/** Seconds of CPU that a file with real shells may take; `.ci/run` fails where one takes more. */
const costly = budget(15, {})

export default defineConfig({
  test: {
    reporters: ["default", flaky, unfinished, leftovers, slowest, costly],
    // What tests make besides a project lies in the machine's directory for temporary files, and commands are to see it.
    env: { SYNAPSE_TEMPORARY: "host" },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A vitest pool isolates all of its files, or none.
    poolOptions: {
      threads: { isolate: false },
      // Real tests wait for starts, signals and grace times more than they compute.
      forks: { minForks: 1, maxForks: Math.max(2, Math.ceil(1.5 * availableParallelism())) }
    },
    projects: [
      {
        extends: true,
        // These start real shells and send signals: each file has a process of its own. What they see depends here and
        // there on which of two processes comes first: on a busy machine one of some two thousand fails, another each
        // time. Such a one gets a second try, and is named.
        test: {
          name: "real",
          include: real,
          pool: "forks",
          retry: 1,
          globalSetup: "test/support/suite/Temporary.ts",
          setupFiles: "test/support/suite/File.ts"
        }
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
