/**
 * Runs the agent of `synapse agent` to its end: a new session, or one that is gone on with.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import * as AgentLoop from "../agent/loop/AgentLoop.js"
import * as AgentSettings from "../agent/loop/AgentSettings.js"
import * as RunLimits from "../agent/loop/RunLimits.js"
import * as LiveModelProvider from "../agent/model/LiveModelProvider.js"
import { type Model, ModelProvider } from "../agent/model/ModelProvider.js"
import * as ModelSettings from "../agent/model/ModelSettings.js"
import * as OpenSession from "../agent/transcript/OpenSession.js"
import * as Recorder from "../agent/transcript/Recorder.js"
import * as Sessions from "../agent/transcript/Sessions.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as Advice from "../domain/Advice.js"
import { type ExecutionFailed, InvalidUsage, toText } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as ForeignText from "../domain/ForeignText.js"
import * as WorkingDirectory from "../domain/WorkingDirectory.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import { RunEvent } from "../terminal/RunEvent.js"
import { Toolset } from "../toolset/Toolset.js"
import * as AgentPrompt from "./AgentPrompt.js"
import * as AgentReport from "./AgentReport.js"
import * as AgentText from "./AgentText.js"
import { complain, end, print } from "./Answer.js"
import * as Asking from "./Asking.js"
import { House, type Invocation, WrongUsage } from "./Invocation.js"
import * as Rendering from "./Rendering.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import * as TaskRetries from "./TaskRetries.js"
import * as WatchedReport from "./WatchedReport.js"
import * as WithoutSandbox from "./WithoutSandbox.js"

/**
 * The options that were given.
 *
 * @since 0.1.0
 * @category models
 */
export interface Given extends SessionOptions.Given {
  readonly model: Option.Option<string>
  readonly maxTurns: Option.Option<number>
  readonly maxTokens: Option.Option<number>
  readonly budget: Option.Option<number>
  /** The beginning of the id of the session that is gone on with. */
  readonly resume: Option.Option<string>
  /** True to go on with the session of this directory that was written last. */
  readonly continues: boolean
  readonly json: boolean
}

/** What the model is asked where a session is gone on with and nobody says how. */
const goOn = "Go on where you were interrupted."

/** The note to a resumed model about its tools. */
const renewed =
  "(This session is resumed. The shell is a new one: its directory, its variables, its background processes and its files of output are not those of before. Files are as they were left, unless somebody has changed them.)"

/** Returns the real path of the directory that the shell starts in. */
const directoryOf = (given: Given): Effect.Effect<string, ConfigError | WrongUsage> =>
  Option.match(given.cwd, {
    onNone: () => Effect.suspend(WorkingDirectory.current),
    onSome: (cwd) =>
      Effect.try({
        try: () => Fs.realpathSync(cwd),
        catch: (error) => new WrongUsage({ message: `--cwd: ${(error as Error).message}` })
      })
  })

const isDirectory = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Returns the directory of a session that is gone on with: its own, but for another one that is given. */
const directoryOfSession = (given: Given, { id, transcript }: OpenSession.OpenSession) => {
  const { cwd } = transcript.session
  if (Option.isSome(given.cwd)) return directoryOf(given)
  const gone = `The directory of the session ${id} is gone: ${ForeignText.line(cwd, 300)}. Name another one with --cwd.`
  return isDirectory(cwd) ? Effect.succeed(cwd) : Effect.fail(new Sessions.NoSession({ reason: gone }))
}

/** Runs the agent in a session. Returns the exit code. */
const runIn = (given: Given, session: OpenSession.OpenSession, model: Model, cwd: string, prompt: string) =>
  Effect.gen(function* () {
    const { isTerminal, write } = yield* Stdio
    const stdio = yield* Effect.context<Stdio>()
    const isWatched = isTerminal("stderr")
    const renderer = isWatched && !given.json ? yield* Rendering.make : undefined
    const { id, transcript } = session
    const recorder = yield* Recorder.make(session, (error) => {
      const text = `synapse: the session can't be kept, and can't be resumed from here on: ${error.message}`
      return renderer === undefined ? Effect.provide(print("stderr", text), stdio) : renderer.print(text)
    })
    const report = given.json
      ? AgentReport.json(id)
      : renderer === undefined
        ? AgentReport.text()
        : WatchedReport.make(renderer, yield* Rendering.isShared)
    const runtime = yield* Effect.runtime<never>()
    const listener: CommandListener.CommandListener =
      renderer === undefined
        ? { onSubAgent: TaskRetries.listener(write) }
        : { onSubAgent: (event) => void Runtime.runFork(runtime)(renderer.take(RunEvent.SubAgent({ event }))) }
    const permission = (yield* Asking.isAsked(given.ask))
      ? PermissionPrompt.layerWithin(renderer === undefined ? {} : { hold: renderer.suspended })
      : undefined
    // Without a whole turn, the prompt is all that there is to go on with.
    const hint = Effect.suspend(() =>
      recorder.isKept() && recorder.total().turns > 0
        ? print("stderr", `synapse: go on with: synapse agent --resume ${id}`)
        : Effect.void
    )
    const house = yield* House
    yield* WithoutSandbox.tell(given)
    const running = Effect.gen(function* () {
      const loop = yield* AgentLoop.AgentLoop
      const toolset = yield* Toolset
      const commands = (yield* CommandRegistry).listed()
      yield* loop
        .run({
          prompt,
          model,
          toolset,
          commands,
          cwd,
          history: transcript.context,
          limits: {
            ...Option.match(given.maxTurns, { onNone: () => ({}), onSome: (maxTurns) => ({ maxTurns }) }),
            maxTokens: Option.getOrUndefined(given.maxTokens),
            budget: Option.getOrUndefined(given.budget)
          }
        })
        // Kept before it is told: what was told, a resumed run knows.
        .pipe(
          Stream.runForEach((event) => Effect.zipRight(recorder.take(event), report.take(event))),
          Effect.locally(CommandListener.current, listener)
        )
    }).pipe(
      Effect.provide(
        Layer.merge(
          house.layer(
            // As it was named: the sandbox judges the links on the way.
            ...SessionOptions.toSettings(
              { ...given, cwd: Option.orElseSome(given.cwd, () => cwd) },
              SessionOptions.goesOn
            ),
            permission
          ),
          Layer.provide(AgentLoop.layer, AgentSettings.layerFromEnv)
        )
      ),
      Effect.onInterrupt(() =>
        Effect.gen(function* () {
          yield* recorder.interrupted
          if (report.end() === undefined) yield* report.interrupted
          yield* hint
        })
      )
    )
    yield* running
    const told = report.end()
    if (told === undefined) return yield* complain("the agent ended without saying how")
    const code = AgentReport.exitCodeOf(told.ending)
    if (told.reason !== undefined) yield* print("stderr", `synapse: ${ForeignText.line(told.reason, 2000)}`)
    const { turns, usage } = recorder.total()
    if (code !== 0) yield* hint
    else if (isWatched) yield* print("stderr", `Session ${id}: ${AgentText.usage(turns, usage)}`)
    return code
  }).pipe(Effect.scoped)

/** Finds the model of a run; a budget needs its price. */
const modelOf = (
  { budget }: Given,
  name: string | undefined
): Effect.Effect<Model, ExecutionFailed | InvalidUsage, ModelProvider> =>
  Effect.flatMap(ModelProvider, ({ model }) => model(name)).pipe(
    Effect.filterOrFail(
      ({ price }) => Option.isNone(budget) || price !== undefined,
      (model) => new InvalidUsage({ reason: RunLimits.unpriced(model) })
    )
  )

/** Begins a session with a prompt. */
const begin = (given: Given, directory: string, written: string) =>
  Effect.gen(function* () {
    const prompt = yield* AgentPrompt.read(written, false)
    if (prompt === "") return yield* new WrongUsage({ message: "The prompt is missing." })
    const cwd = yield* directoryOf(given)
    // Before there is a session: one that could not ask anything is worth nothing.
    const model = yield* modelOf(given, Option.getOrUndefined(given.model))
    return yield* OpenSession.begin(directory, { cwd, prompt: prompt.slice(0, 500) }, (session) =>
      runIn(given, session, model, cwd, prompt)
    )
  })

/** Goes on with a session. */
const resume = (given: Given, directory: string, id: string, written: string) =>
  Effect.gen(function* () {
    const added = yield* AgentPrompt.read(written, true)
    return yield* OpenSession.resume(directory, id, (session) =>
      Effect.gen(function* () {
        const { end, messages, model: last, session: begun } = session.transcript
        if (added === "" && end?.ending === "done") {
          const reason = `The session ${id} has ended with an answer: give a prompt to go on with. synapse agent show ${id} shows it.`
          return yield* new Sessions.NoSession({ reason })
        }
        const cwd = yield* directoryOfSession(given, session)
        const name = Option.getOrElse(given.model, () =>
          last === undefined ? undefined : `${last.provider}/${last.name}`
        )
        const model = yield* modelOf(given, name)
        const isBegun = messages.length > 0
        const prompt = added !== "" ? added : isBegun ? goOn : begun.prompt
        return yield* runIn(given, session, model, cwd, isBegun ? `${prompt}\n\n${renewed}` : prompt)
      })
    )
  })

/** Tells why a run could not begin: to a person, and to a program that reads the steps. */
const refuse = ({ json }: Given, reason: string) =>
  Effect.zipRight(json ? print("stdout", AgentReport.notBegun(reason)) : Effect.void, complain(reason))

/** Words what went wrong for a person at the command line. */
const audience: Advice.Audience = Advice.person([])

/**
 * Runs the agent, and sets the program's exit code by how it ended.
 *
 * @param written the prompt on the command line; empty where there is none
 * @since 0.1.0
 */
export const run = (
  given: Given,
  written: string
): Effect.Effect<void, ConfigError | WrongUsage, House | Invocation | Stdio | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const directory = Sessions.directoryIn((yield* SandboxSettings.SandboxSettings).home)
    if (Option.isSome(given.resume)) {
      return yield* resume(given, directory, yield* Sessions.find(directory, given.resume.value), written)
    }
    if (!given.continues) return yield* begin(given, directory, written)
    return yield* resume(given, directory, yield* Sessions.newest(directory, yield* directoryOf(given)), written)
  }).pipe(
    Effect.catchTags({
      NoSession: ({ reason }) => refuse(given, reason),
      ExecutionFailed: (error) => refuse(given, toText(error, audience)),
      InvalidUsage: (error) => refuse(given, toText(error, audience))
    }),
    end,
    Effect.provide(
      LiveModelProvider.layer.pipe(
        Layer.provide(ModelSettings.layerFromEnv),
        Layer.provideMerge(SandboxSettings.layerFromEnv())
      )
    )
  )
