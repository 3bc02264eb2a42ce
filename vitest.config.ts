import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { budget, flaky, leftovers, slowest, unfinished } from "./test/support/suite/Reporters.js"
import { begin } from "./test/support/suite/Run.js"
import { beginWith } from "./test/support/suite/Sequencer.js"

const real = ["test/**/*.real.test.ts", "scratchpad/*.test.mjs"]

/** Root becomes an ordinary user for good in these. */
const nobody = "test/**/*nobody.real.test.ts"

const imports = "test/support/suite/Imports.ts"

const file = "test/support/suite/File.ts"

const cores = availableParallelism()

// Real tests wait for starts, signals and grace times more than they compute.
const forks = 2 * cores

/** Seconds of CPU that a file may take on a slow machine; `.ci/run` fails if one takes more. */
const costly = budget(45, {
  "test/escape/nobody.real.test.ts": 80,
  "test/escape/root.real.test.ts": 100,
  "test/package.real.test.ts": 60,
  "test/docs.real.test.ts": 75,
  "test/serve/daemon.real.test.ts": 90
})

/** Files that take long, by what they cost or by what they wait for. */
const longest = [
  "test/sandbox/denial/commands.real.test.ts",
  "test/escape/root.real.test.ts",
  "test/package.real.test.ts",
  "test/session/life.real.test.ts",
  "test/serve/serve.real.test.ts",
  "test/serve/daemon.real.test.ts",
  "test/sandbox/network/network.real.test.ts",
  "test/sandbox/startup.real.test.ts",
  "test/docs.real.test.ts",
  "test/commands/job/Job.real.test.ts",
  "test/sandbox/LocalSandboxBackend.real.test.ts",
  "test/sandbox/platform/linux/root.real.test.ts",
  "test/cli/program.real.test.ts",
  "test/cli/stdin.real.test.ts",
  "test/cli/signals.real.test.ts",
  "test/cli/agentKilled.real.test.ts",
  "test/cli/Agent.real.test.ts",
  "test/cli/Agent.session.real.test.ts",
  "test/cli/shell/programs.real.test.ts",
  "test/escape/nobody.real.test.ts",
  "test/escape/words.nobody.real.test.ts",
  "test/sandbox/denial/commands.nobody.real.test.ts",
  "test/sandbox/workflows.nobody.real.test.ts",
  "test/commands/job/Job.nobody.real.test.ts",
  "test/sandbox/LocalSandboxBackend.nobody.real.test.ts",
  "test/sandbox/network/network.nobody.real.test.ts"
]

export default defineConfig({
  test: {
    reporters: ["default", flaky, unfinished, leftovers, slowest, costly],
    // What tests make besides a project lies in the machine's directory for temporary files, and commands are to see it.
    env: { SYNAPSE_TEMPORARY: "host" },
    provide: begin(),
    sequence: { sequencer: beginWith(longest) },
    // Otherwise every use of a module with a default export, such as node's own, goes through a proxy.
    deps: { interopDefault: false },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What some see depends here and there on which of two processes comes first, or on the time that others take: on a
    // busy machine one of some two thousand fails, another each time. Such a one gets two more tries, and is named.
    retry: 2,
    // To load the modules anew for each file takes longer than most files; files of other projects have other processes.
    // Fewer forks at least than at most: tinypool then fails where it ends one that is idle.
    poolOptions: {
      threads: { isolate: false, minThreads: cores, maxThreads: cores },
      forks: { isolate: false, minForks: forks, maxForks: forks }
    },
    projects: [
      ...[
        { name: "real", include: real, exclude: [nobody], setupFiles: [imports, file] },
        { name: "nobody", include: [nobody], setupFiles: [imports, file, "test/support/suite/Ordinary.ts"] }
      ].map((files) => ({
        extends: true as const,
        test: { ...files, pool: "forks" as const }
      })),
      {
        extends: true,
        // What opens a descriptor for a socket is real: a thread that ends closes by number what it has opened and not
        // closed itself, which may be the channel to the process of another test by then.
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: real, setupFiles: [imports], pool: "threads" }
      }
    ]
  }
})
