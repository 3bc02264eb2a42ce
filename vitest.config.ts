import { defineConfig } from "vitest/config"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A vitest pool isolates all of its files, or none.
    poolOptions: { threads: { isolate: false } },
    projects: [
      {
        extends: true,
        // These start real shells and send signals: each file has a process of its own.
        test: { name: "real", include: real, pool: "forks" }
      },
      {
        extends: true,
        // To load the modules anew for each file takes longer than these tests.
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: real, pool: "threads" }
      }
    ]
  }
})
