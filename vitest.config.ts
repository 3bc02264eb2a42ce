import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "scratchpad/*.test.mjs"],
    // Tests start real shells and send signals: each file has a process of its own.
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 30_000
  }
})
