/** An app whose sub-agents talk to a scripted model, with and without a sandbox. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { it } from "@effect/vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ModelProvider } from "../../../src/agent/model/ModelProvider.js"
import * as Synapse from "../../../src/Synapse.js"
import * as Permission from "../../../src/sandbox/permission/Permission.js"
import type { SandboxManager as Manager } from "../../../src/sandbox/SandboxManager.js"
import { SandboxManager } from "../../../src/sandbox/SandboxManager.js"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import { isSandboxed } from "../sandbox/Bubblewrap.js"
import * as Directory from "../sandbox/Directory.js"
import * as FakeModel from "./FakeModel.js"

export interface Ground {
  readonly cwd: string
  /** A directory outside of the project, which nothing may write. */
  readonly outside: string
  readonly home: string
  readonly fake: FakeModel.Fake
  /** The names of the models that were asked for. */
  readonly models: Array<string | undefined>
  readonly manager: Context.Tag.Service<typeof Manager>
  readonly toolset: Context.Tag.Service<typeof Toolset>
  readonly run: (command: string, params?: object) => Effect.Effect<ToolReturn>
  readonly put: (path: string, text: string) => void
}

export interface Options {
  readonly turns: FakeModel.Script
  readonly enabled?: boolean
  readonly blacklist?: ReadonlyArray<string>
  /** Answers questions for permission; by default, nobody does. */
  readonly answer?: Parameters<typeof Permission.layerCallback>[0]
  /** Makes files before there is an app. */
  readonly prepare?: (places: Pick<Ground, "cwd" | "home" | "put">) => void
}

const write = (path: string, text: string) => {
  Fs.mkdirSync(Path.dirname(path), { recursive: true })
  Fs.writeFileSync(path, text)
}

/** A test in an app of its own. */
export const inTasks = (name: string, options: Options, use: (ground: Ground) => Effect.Effect<unknown>): void =>
  it.live(
    name,
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const cwd = yield* Directory.make
          const outside = yield* Directory.make
          const home = `${outside}/home`
          Fs.mkdirSync(`${outside}/tmp`)
          const put = (path: string, text: string) => write(Path.resolve(cwd, path), text)
          options.prepare?.({ cwd, home, put })
          const fake = yield* FakeModel.make(options.turns)
          const models: Array<string | undefined> = []
          const provider = Layer.succeed(ModelProvider, {
            model: (name) => {
              models.push(name)
              return Effect.succeed(fake.model)
            }
          })
          const app = Synapse.layer(
            { cwd },
            {
              sandbox: {
                home,
                temporary: `${outside}/tmp`,
                enabled: options.enabled ?? isSandboxed,
                blacklist: options.blacklist ?? []
              },
              models: provider,
              permission: options.answer === undefined ? Permission.layerNone : Permission.layerCallback(options.answer)
            }
          )
          yield* Effect.provide(
            Effect.gen(function* () {
              const toolset = yield* Toolset
              const manager = yield* SandboxManager
              let id = 0
              const run = (command: string, params: object = {}) =>
                Effect.suspend(() =>
                  toolset.handle({ id: `${++id}`, name: "Bash", arguments: JSON.stringify({ command, ...params }) })
                )
              yield* use({ cwd, outside, home, fake, models, manager, toolset, run, put })
            }),
            app
          )
        })
      ),
    60_000
  )
