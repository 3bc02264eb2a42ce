/**
 * The command line over a scripted shell, with streams of the test's own.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { App, type MakeApp } from "../../../src/cli/Invocation.js"
import { program } from "../../../src/cli/Program.js"
import { Stdio } from "../../../src/cli/Stdio.js"
import * as SandboxConfig from "../../../src/sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as JobTable from "../../../src/session/JobTable.js"
import type { Settings } from "../../../src/session/SessionSettings.js"
import * as TestSynapse from "../../../src/TestSynapse.js"
import * as Streams from "./Streams.js"

export interface Run {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** What the app was made with; undefined where it was not made. */
  readonly settings: Partial<Settings> | undefined
}

/** What its sandbox was made with as well. */
export interface SandboxedRun extends Run {
  readonly sandbox: Partial<SandboxSettings.Settings> | undefined
}

export const run = (
  args: ReadonlyArray<string>,
  script: TestSynapse.Script = () => ({}),
  stdin: Streams.Input = [],
  subAgents?: TestSynapse.TaskScript
): Effect.Effect<Run> => Effect.map(runSandboxed(args, script, stdin, subAgents), ({ sandbox: _, ...run }) => run)

/** The same, with what the sandbox was made with. */
export const runSandboxed = (
  args: ReadonlyArray<string>,
  script: TestSynapse.Script = () => ({}),
  stdin: Streams.Input = [],
  subAgents?: TestSynapse.TaskScript
): Effect.Effect<SandboxedRun> =>
  Effect.gen(function* () {
    const { stdio, text } = yield* Streams.make(stdin)
    let settings: Partial<Settings> | undefined
    let sandbox: Partial<SandboxSettings.Settings> | undefined
    const make: MakeApp = (given, givenSandbox) => {
      settings = given
      sandbox = givenSandbox
      return TestSynapse.layer(script, subAgents === undefined ? {} : { subAgents })
    }
    const config = Layer.provide(SandboxConfig.layerMemory(), SandboxSettings.layerFromEnv())
    const app = App.of({
      layer: make,
      reading: make,
      shell: (...given) => Layer.mergeAll(make(...given), config, JobTable.layer)
    })
    const exitCode = yield* Effect.provide(
      program(args),
      Layer.mergeAll(Layer.succeed(Stdio, stdio), Layer.succeed(App, app))
    )
    return { exitCode, stdout: text("stdout"), stderr: text("stderr"), settings, sandbox }
  })
