import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    // CI runs on shared machines: what fails once of a race or a random seed is tried again, and is told as retried.
    retry: process.env["CI"] === undefined ? 0 : 2,
    include: ["test/**/*.test.ts"],
    // Tests start real shells and send signals: each file has a process of its own.
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 30_000
  }
})
