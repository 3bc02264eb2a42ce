/**
 * Asks the agent, which works in the person's own session. The conversation is kept as a session of `synapse agent`.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type { AgentEvent } from "../../agent/loop/AgentEvent.js"
import * as AgentLoop from "../../agent/loop/AgentLoop.js"
import * as AgentSettings from "../../agent/loop/AgentSettings.js"
import * as LiveModelProvider from "../../agent/model/LiveModelProvider.js"
import { type Model, ModelProvider } from "../../agent/model/ModelProvider.js"
import * as ModelSettings from "../../agent/model/ModelSettings.js"
import * as Snapshots from "../../agent/Snapshots.js"
import * as OpenSession from "../../agent/transcript/OpenSession.js"
import * as Recorder from "../../agent/transcript/Recorder.js"
import * as Sessions from "../../agent/transcript/Sessions.js"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as Advice from "../../domain/Advice.js"
import * as CallContext from "../../domain/CallContext.js"
import { type ExecutionFailed, type InvalidUsage, toText } from "../../domain/CommandError.js"
import type * as CommandListener from "../../domain/CommandListener.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as SandboxSettings from "../../sandbox/config/SandboxSettings.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import { RunEvent } from "../../terminal/RunEvent.js"
import { Toolset } from "../../toolset/Toolset.js"
import { type Services, ShellApp } from "./ShellApp.js"

const renewed =
  "(This session is resumed, in a shell that a person uses too: its directory and variables may be others than before, and files may have changed.)"

const toRunEvent = (event: AgentEvent): RunEvent | undefined => {
  switch (event._tag) {
    case "Text":
    case "Retrying":
    case "TurnEnded":
    case "ToolStarted":
    case "ToolEnded":
      return event
    case "Ended":
      return event.reason === undefined ? undefined : RunEvent.Notice({ text: UntrustedText.line(event.reason, 2000) })
    default:
      return undefined
  }
}

/** The questions of one run of the shell, which form one session. */
export class Conversation extends Context.Tag("synapse/Conversation")<
  Conversation,
  {
    /** Asks a question and shows the run, including errors. */
    readonly ask: (question: string) => Effect.Effect<void>
    /**
     * Continues a session with the next question. The session is named by the beginning of its id; an empty text means
     * the newest of the directory.
     */
    readonly resume: (written: string) => Effect.Effect<void>
  }
>() {}

const layerAgent = LiveModelProvider.layer.pipe(
  Layer.provide(ModelSettings.layerFromEnv),
  Layer.merge(Layer.provide(AgentLoop.layer, AgentSettings.layerFromEnv)),
  Layer.merge(NodeFileSystem.layer),
  Layer.provideMerge(SandboxSettings.layerFromEnv())
)

const sessions = Effect.map(SandboxSettings.SandboxSettings, ({ home }) => Sessions.directoryIn(home))

const make = Effect.gen(function* () {
  const app = yield* ShellApp
  const { renderer, tasks } = app
  const toolset = yield* Toolset
  const registry = yield* CommandRegistry
  const sandbox = yield* SandboxManager
  let current: string | undefined
  let isRenewed = false
  const say = (text: string) => renderer.take(RunEvent.Notice({ text }))

  const run = (session: OpenSession.OpenSession, question: string, model: Model, cwd: string) =>
    Effect.gen(function* () {
      current = session.id
      const prompt = isRenewed ? `${question}\n\n${renewed}` : question
      isRenewed = false
      const recorder = yield* Recorder.make(session, ({ message }) =>
        say(`The session can't be kept, and can't be resumed from here on: ${message}`)
      )
      const loop = yield* AgentLoop.AgentLoop
      const commands = registry.listed()
      const runtime = yield* Effect.runtime<never>()
      const listener: CommandListener.CommandListener = {
        onSubAgent: (event) => void Runtime.runFork(runtime)(tasks.take(event))
      }
      const history = session.transcript.messages
      const { home } = yield* SandboxSettings.SandboxSettings
      const inForce = yield* Effect.option(sandbox.inForce)
      const watched = yield* Snapshots.watch({ home, cwd }, session.id, Option.getOrUndefined(inForce)?.policy)
      let running = 0
      const shown = Stream.runForEach(loop.run({ prompt, model, toolset, commands, cwd, history }), (event) => {
        const told = toRunEvent(event)
        // Record before showing, so that a resumed run knows everything that was shown.
        if (event._tag === "ToolStarted") app.screen.agentRuns(++running)
        if (event._tag === "ToolEnded") app.screen.agentRuns(--running)
        return Effect.void.pipe(
          Effect.zipRight(event._tag === "ToolStarted" ? watched.ready : Effect.void),
          Effect.zipRight(recorder.take(event)),
          Effect.zipRight(told === undefined ? Effect.void : renderer.take(told))
        )
      }).pipe(Effect.ensuring(watched.end))
      yield* Effect.onInterrupt(CallContext.locally(shown, { listener }), () =>
        Effect.zipRight(recorder.interrupted, renderer.take(RunEvent.Interrupted()))
      )
    }).pipe(Effect.scoped)

  const ask = (question: string) =>
    Effect.gen(function* () {
      const directory = yield* sessions
      // Find the model first, because a session without one is worth nothing.
      const model = yield* (yield* ModelProvider).model()
      const cwd = yield* sandbox.cwd
      const use = (session: OpenSession.OpenSession) => run(session, question, model, cwd)
      yield* current === undefined
        ? OpenSession.begin(directory, { cwd, prompt: question.slice(0, 500) }, use)
        : OpenSession.resume(directory, current, use)
    })

  const resume = (written: string) =>
    Effect.gen(function* () {
      const directory = yield* sessions
      const id = yield* written === ""
        ? Effect.flatMap(sandbox.cwd, (place) => Sessions.newest(directory, place))
        : Sessions.find(directory, written)
      const { session, turns } = yield* Sessions.read(directory, id)
      current = id
      isRenewed = true
      const begun = UntrustedText.quoted(session.prompt, 100)
      yield* say(`The next question goes on with ${id}: ${begun}, ${turns} turn${turns === 1 ? "" : "s"}.`)
    })

  const told = <R>(
    effect: Effect.Effect<
      void,
      Sessions.NoSession | ExecutionFailed | InvalidUsage,
      R | Layer.Layer.Success<typeof layerAgent>
    >
  ) =>
    effect.pipe(
      Effect.catchTags({
        NoSession: ({ message }) => say(message),
        ExecutionFailed: (error) => say(toText(error, Advice.person)),
        InvalidUsage: (error) => say(toText(error, Advice.person))
      }),
      Effect.provide(layerAgent),
      Effect.catchAll((error) => say(String(error))),
      Effect.ensuring(renderer.flush)
    )

  return Conversation.of({ ask: (question) => told(ask(question)), resume: (written) => told(resume(written)) })
})

export const layer: Layer.Layer<Conversation, never, Services> = Layer.effect(Conversation, make)
