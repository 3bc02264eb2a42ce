/** The program over a real shell in this process, without the CPU of a start. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AppSandbox from "../../../src/AppSandbox.js"
import { App } from "../../../src/cli/Invocation.js"
import { program } from "../../../src/cli/Program.js"
import { Stdio } from "../../../src/cli/Stdio.js"
import * as Streams from "./Streams.js"

export interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string | undefined>>

const setEnvironment = (env: Environment) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
}

const synapse = Effect.promise(() => import("../../../src/Synapse.js"))

const app = App.of({
  layer: (settings, sandbox) => Layer.unwrapEffect(Effect.map(synapse, ({ layer }) => layer(settings, { sandbox }))),
  reading: (settings, sandbox) =>
    Layer.unwrapEffect(Effect.map(synapse, ({ layerReading }) => layerReading(settings, { sandbox }))),
  shell: (settings, sandbox) => AppSandbox.layerShell(settings, { sandbox })
})

/** Runs it with this directory and this environment, which this process has meanwhile: one run at a time. */
export const run = async (
  args: ReadonlyArray<string>,
  cwd: string,
  env: Environment,
  stdin?: string
): Promise<Ended> => {
  const before = { cwd: process.cwd(), env: { ...process.env } }
  process.chdir(cwd)
  setEnvironment(env)
  try {
    return await Effect.runPromise(
      Effect.gen(function* () {
        const { stdio, text } = yield* Streams.make(stdin === undefined ? [] : [stdin])
        const services = Layer.mergeAll(Layer.succeed(Stdio, stdio), Layer.succeed(App, app))
        const exitCode = yield* Effect.provide(program(args), services)
        return { exitCode, stdout: text("stdout"), stderr: text("stderr") }
      })
    )
  } finally {
    process.chdir(before.cwd)
    setEnvironment(before.env)
  }
}
