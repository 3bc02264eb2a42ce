/** Runs of agents over a scripted model, and over a shell that answers as its script says. */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "../../../src/agent/loop/AgentEvent.js"
import * as AgentLoop from "../../../src/agent/loop/AgentLoop.js"
import * as AgentSettings from "../../../src/agent/loop/AgentSettings.js"
import type { CommandHandler } from "../../../src/command/CommandHandler.js"
import * as TestSynapse from "../../../src/TestSynapse.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import * as Extension from "../Extension.js"
import * as FakeModel from "./FakeModel.js"

export type Ended = Extract<AgentEvent, { readonly _tag: "Ended" }>

export interface Seen {
  readonly events: ReadonlyArray<AgentEvent>
  readonly ended: Ended
  readonly fake: FakeModel.Fake
}

export interface Options extends Partial<Omit<AgentLoop.Run, "model" | "toolset">> {
  readonly script?: TestSynapse.Script
  readonly handlers?: ReadonlyArray<CommandHandler>
  readonly model?: Parameters<typeof FakeModel.make>[1]
  readonly settings?: Partial<AgentSettings.Settings>
}

/** Gives a stream of a run's events, over a shell that prints the commands that it gets. */
export const streamOf = (turns: FakeModel.Script, options: Options = {}) =>
  Effect.gen(function* () {
    const { handlers = [], model, script = (command) => ({ stdout: `${command}\n` }), settings, ...run } = options
    const fake = yield* FakeModel.make(turns, model)
    const services = yield* Layer.build(
      Layer.merge(
        TestSynapse.layer(script, { commands: Extension.commands(handlers) }),
        Layer.provide(AgentLoop.layer, AgentSettings.layer(settings))
      )
    )
    return yield* Effect.provide(
      Effect.map(Effect.all([AgentLoop.AgentLoop, Toolset]), ([loop, toolset]) => ({
        fake,
        toolset,
        stream: loop.run({ prompt: "Do it.", model: fake.model, toolset, ...run })
      })),
      services
    )
  })

/** Runs to the end. */
export const collect = (turns: FakeModel.Script, options: Options = {}): Effect.Effect<Seen> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { fake, stream } = yield* streamOf(turns, options)
      const events = Chunk.toReadonlyArray(yield* Stream.runCollect(stream))
      return { events, fake, ended: events.at(-1) as Ended }
    })
  )

/** The events of a kind. */
export const only = <Tag extends AgentEvent["_tag"]>(events: ReadonlyArray<AgentEvent>, tag: Tag) =>
  events.filter((event): event is Extract<AgentEvent, { readonly _tag: Tag }> => event._tag === tag)

/** Messages in short: `assistant: text, call(command)`. */
export const tags = (events: ReadonlyArray<AgentEvent>): ReadonlyArray<string> => events.map(({ _tag }) => _tag)
