/** Runs the agent of `synapse agent` to its end, in a new or a resumed session. */
import * as Fs from "node:fs"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as AgentType from "../agent/AgentType.js"
import * as Instructions from "../agent/Instructions.js"
import * as AgentLoop from "../agent/loop/AgentLoop.js"
import * as AgentSettings from "../agent/loop/AgentSettings.js"
import * as RunLimits from "../agent/loop/RunLimits.js"
import * as LiveModelProvider from "../agent/model/LiveModelProvider.js"
import { type Model, ModelProvider } from "../agent/model/ModelProvider.js"
import * as ModelSettings from "../agent/model/ModelSettings.js"
import * as Snapshots from "../agent/Snapshots.js"
import * as OpenSession from "../agent/transcript/OpenSession.js"
import * as Recorder from "../agent/transcript/Recorder.js"
import * as Sessions from "../agent/transcript/Sessions.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import * as Collect from "../domain/Collect.js"
import { type ExecutionFailed, InvalidUsage, toText } from "../domain/CommandError.js"
import type * as CommandListener from "../domain/CommandListener.js"
import * as Setting from "../domain/Setting.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import { TodoStore } from "../extension/TodoStore.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import * as SessionSettings from "../session/SessionSettings.js"
import { RunEvent } from "../terminal/RunEvent.js"
import { Toolset } from "../toolset/Toolset.js"
import * as AgentReport from "./AgentReport.js"
import { App, complain, print, WrongUsage } from "./Invocation.js"
import type { Renderer } from "./Rendering.js"
import * as Rendering from "./Rendering.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import * as PolicyText from "./shell/PolicyText.js"
import * as TaskRetries from "./TaskRetries.js"

/**
 * Makes the function that renders the steps. If stdout is the same terminal (`isShared`), the answer is rendered too,
 * and stdout gets nothing.
 */
const rendered = ({ flush, print, take }: Renderer, isShared: boolean): AgentReport.Show => {
  const end = (text: string, { whole }: AgentReport.Report) =>
    Effect.zipRight(flush, isShared && text === whole ? Effect.void : AgentReport.answer(text))

  return (step, report) => {
    switch (step._tag) {
      case "Text":
        return isShared ? take(step) : Effect.void
      case "TurnEnded":
        return isShared && step.text.trim() !== "" ? take(step) : Effect.void
      case "ToolStarted": {
        // Text of a turn that continues with commands is not the answer.
        const remark = report.isTold || isShared ? "" : report.whole.trim()
        report.isTold = true
        return Effect.zipRight(remark === "" ? Effect.void : print(UntrustedText.harmless(remark, true)), take(step))
      }
      case "Retrying":
      case "ToolEnded":
        return take(step)
      case "Ended":
        return end(step.text, report)
      case "Interrupted": {
        const isPart = isShared && report.part !== ""
        // End the rendered part of the interrupted turn.
        const last = Effect.zipRight(isPart ? take(RunEvent.TurnEnded()) : Effect.void, take(RunEvent.Interrupted()))
        return Effect.zipRight(last, isPart ? flush : end(report.soFar, report))
      }
      default:
        return Effect.void
    }
  }
}

/** The most bytes of stdin. */
const most = 1024 * 1024

/** How long to wait for the first byte of stdin if the command line has a prompt. */
const patience = Duration.seconds(3)

const unfit = (why: string) =>
  new WrongUsage({ message: `stdin ${why}. Write it to a file, and name the file in the prompt.` })

/**
 * Returns the prompt: the one on the command line, stdin, or both. Empty if there is neither. Waits for stdin if the
 * command line has none.
 *
 * @param mayBeEmpty true if no prompt is needed, so that it does not wait for stdin
 */
const read = (written: string, mayBeEmpty: boolean): Effect.Effect<string, WrongUsage, Stdio> =>
  Effect.gen(function* () {
    const { hasInput, read } = yield* Stdio
    if (!hasInput()) return written
    const isNeeded = written === "" && !mayBeEmpty
    const first = yield* isNeeded ? Effect.map(read, Option.some) : Effect.timeoutOption(read, patience)
    if (Option.isNone(first)) {
      yield* print(
        "stderr",
        "synapse: nothing came from stdin within 3 seconds: going on without it. (</dev/null spares the wait.)"
      )
      return written
    }
    if (first.value === undefined) return written
    const rest = Stream.takeWhile(Stream.repeatEffect(read), (chunk) => chunk !== undefined)
    const bytes = yield* Collect.bytes(Stream.concat(Stream.make(first.value), rest), most)
    if (bytes === undefined) return yield* unfit(`holds more than ${most} bytes`)
    const text = (yield* Either.mapLeft(Collect.toText(bytes), () => unfit("is not UTF-8"))).trim()
    if (text === "") return written
    return written === "" ? text : `${written}\n\n<stdin>\n${text}\n</stdin>`
  })

export interface Given extends SessionOptions.Given {
  readonly model: Option.Option<string>
  readonly maxTurns: Option.Option<number>
  readonly maxTokens: Option.Option<number>
  readonly budget: Option.Option<number>
  /** The beginning of the id of the session to resume. */
  readonly resume: Option.Option<string>
  readonly continues: boolean
  readonly json: boolean
  /** True to hide the steps. */
  readonly quiet: boolean
  /** True to only read, and to end with a plan. */
  readonly plan: boolean
  /** True to ignore AGENTS.md files. */
  readonly noInstructions: boolean
}

/** The prompt of a session that is resumed without one. */
const goOn = { interrupted: "Go on where you were interrupted.", planned: "Carry out the plan." }

const planning = `${AgentType.reading}
Your answer is a plan of the task: the steps in order, the files that each changes and how, how to check the result, and what is open. Nothing is carried out before the user has read it.`

/** The note to a resumed model whose last run made a plan. */
const unlocked = "(You can write now, where the sandbox allows it.)"

const renewed =
  "(This session is resumed. The shell is a new one: its directory, its variables, its background processes and its files of output are not those of before. Files and the list of tasks are as they were left, unless somebody has changed them.)"

/** Returns the real path of the directory that the shell starts in. */
const directoryOf = (given: Pick<Given, "cwd">): Effect.Effect<string, ConfigError | WrongUsage> =>
  Option.match(given.cwd, {
    onNone: () => Effect.suspend(Setting.currentDirectory),
    onSome: (cwd) =>
      Effect.try({
        try: () => Fs.realpathSync(cwd),
        catch: (error) => new WrongUsage({ message: `--cwd: ${(error as Error).message}` })
      })
  })

/** Returns the directory of a resumed session, which `--cwd` replaces. */
const directoryOfSession = (given: Given, { id, transcript }: OpenSession.OpenSession) => {
  const { cwd } = transcript.session
  if (Option.isSome(given.cwd)) return directoryOf(given)
  const gone = `The directory of the session ${id} is gone: ${UntrustedText.line(cwd, 300)}. Name another one with --cwd.`
  return HostPath.isDirectory(cwd) ? Effect.succeed(cwd) : Effect.fail(new Sessions.NoSession({ message: gone }))
}

/** Reads the AGENTS.md files of the user and the project, and prints their names. */
const instructionsFor = ({ noInstructions, quiet }: Given, cwd: string) =>
  Effect.gen(function* () {
    const places = { ...(yield* SandboxSettings.SandboxSettings), cwd }
    const files = noInstructions ? [] : Instructions.find(places)
    if (files.length === 0) return ""
    const { inForce } = yield* SandboxManager
    const { remark, text } = Instructions.read(files, places, (yield* inForce)?.policy)
    if (!quiet) yield* print("stderr", `synapse: instructions: ${remark}`)
    return text
  })

const usageOf = (turns: number, { cost, input, output }: RunLimits.TokenUsage): string =>
  [
    `${turns} turn${turns === 1 ? "" : "s"}`,
    `${(input + output).toLocaleString("en")} tokens`,
    ...(cost === undefined ? [] : [`cost ${cost.toFixed(4)}`])
  ].join(", ")

const runIn = (given: Given, session: OpenSession.OpenSession, model: Model, cwd: string, prompt: string) =>
  Effect.gen(function* () {
    const { isTerminal, write } = yield* Stdio
    const stdio = yield* Effect.context<Stdio>()
    // If stderr is not a terminal, the steps are static lines.
    const renderer = given.json || given.quiet ? undefined : yield* Rendering.make
    const { id, transcript } = session
    const recorder = yield* Recorder.make(
      session,
      (error) => {
        const text = `synapse: the session can't be kept, and can't be resumed from here on: ${error.message}`
        return renderer === undefined ? Effect.provide(print("stderr", text), stdio) : renderer.print(text)
      },
      given.plan
    )
    const report = new AgentReport.Report(
      given.json
        ? AgentReport.json(id)
        : renderer === undefined
          ? AgentReport.text
          : rendered(renderer, yield* Rendering.isShared)
    )
    const runtime = yield* Effect.runtime<never>()
    const listener: CommandListener.CommandListener = {
      // Called when the sandbox ends, with what it takes back.
      onHint: (text) => void write("stderr", `synapse: ${text}\n`),
      onSubAgent:
        renderer === undefined
          ? TaskRetries.listener(write)
          : (event) => void Runtime.runFork(runtime)(renderer.take(RunEvent.SubAgent({ event })))
    }
    const permission = (yield* SessionOptions.isAsked(given.ask))
      ? PermissionPrompt.layerWithin(renderer === undefined ? {} : { hold: renderer.asking })
      : undefined
    // Before the first complete turn, there is nothing to resume.
    const hint = Effect.suspend(() =>
      recorder.isKept() && recorder.total().turns > 0
        ? print("stderr", `synapse: go on with: synapse agent ${given.plan ? "--plan " : ""}--resume ${id}`)
        : Effect.void
    )
    const app = yield* App
    const scope = yield* Effect.scope
    const { home } = yield* SandboxSettings.SandboxSettings
    let watched: Snapshots.Watched | undefined
    yield* SessionOptions.tell(given)
    const running = Effect.gen(function* () {
      const loop = yield* AgentLoop.AgentLoop
      const toolset = yield* Toolset
      const commands = (yield* CommandRegistry).listed()
      const todos = yield* TodoStore
      yield* todos.set(transcript.todos)
      // If the sandbox can't start, the first command says why.
      const inForce = yield* Effect.option((yield* SandboxManager).inForce)
      if (Option.isSome(inForce)) {
        const policy = inForce.value?.policy
        if (policy !== undefined && renderer !== undefined && isTerminal("stderr"))
          yield* renderer.print(`${PolicyText.place(policy)} synapse sandbox policy tells more.`)
        if (!given.plan) watched = yield* Scope.extend(Snapshots.watch({ home, cwd }, id, policy), scope)
      }
      yield* loop
        .run({
          prompt,
          model,
          toolset,
          commands,
          cwd,
          instructions: [yield* instructionsFor(given, cwd), ...(given.plan ? [planning] : [])].join("\n\n"),
          history: transcript.messages,
          limits: {
            maxTurns: Option.getOrUndefined(given.maxTurns),
            maxTokens: Option.getOrUndefined(given.maxTokens),
            budget: Option.getOrUndefined(given.budget)
          }
        })
        // Record before reporting, so that a resumed run knows everything that was reported.
        .pipe(
          Stream.runForEach((event) =>
            Effect.gen(function* () {
              if (event._tag === "ToolStarted" && watched !== undefined) yield* watched.ready
              if (event._tag === "ToolEnded") yield* recorder.takeTodos((yield* todos.get).todos)
              yield* recorder.take(event)
              yield* report.take(event)
            })
          ),
          CallContext.locally({ listener })
        )
    }).pipe(
      Effect.provide(
        Layer.merge(
          app[given.plan ? "reading" : "layer"](
            // Pass the path as given, because the sandbox checks the links on the way.
            ...SessionOptions.toSettings(
              { ...given, cwd: Option.orElseSome(given.cwd, () => cwd) },
              SessionSettings.ofAgent()
            ),
            permission
          ),
          Layer.provide(AgentLoop.layer, AgentSettings.layerFromEnv)
        )
      ),
      Effect.onInterrupt(() =>
        Effect.gen(function* () {
          yield* recorder.interrupted
          if (report.end === undefined) yield* report.take({ _tag: "Interrupted" })
          yield* hint
        })
      )
    )
    // After the shell has ended, to include what its processes did last.
    yield* Effect.ensuring(
      running,
      Effect.suspend(() => watched?.end ?? Effect.void)
    )
    const told = report.end
    if (told === undefined) return yield* complain("the agent ended without saying how")
    const code = AgentReport.exitCodes[told.ending]
    if (told.reason !== undefined) yield* print("stderr", `synapse: ${UntrustedText.line(told.reason, 2000)}`)
    const { turns, usage } = recorder.total()
    if (code !== 0) yield* hint
    else if (given.plan && renderer !== undefined)
      yield* print("stderr", `synapse: carry out the plan: synapse agent --resume ${id}`)
    if (code === 0 && isTerminal("stderr") && !given.quiet)
      yield* print("stderr", `Session ${id}: ${usageOf(turns, usage)}`)
    return code
  }).pipe(Effect.scoped)

/** Finds the model of a run. A budget requires that it has a price. */
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

const begin = (given: Given, directory: string, written: string) =>
  Effect.gen(function* () {
    const prompt = yield* read(written, false)
    if (prompt === "") return yield* new WrongUsage({ message: "The prompt is missing." })
    const cwd = yield* directoryOf(given)
    // Find the model first, because a session without one is worth nothing.
    const model = yield* modelOf(given, Option.getOrUndefined(given.model))
    return yield* OpenSession.begin(directory, { cwd, prompt: prompt.slice(0, 500) }, (session) =>
      runIn(given, session, model, cwd, prompt)
    )
  })

const resume = (given: Given, directory: string, id: string, written: string) =>
  Effect.gen(function* () {
    const added = yield* read(written, true)
    return yield* OpenSession.resume(directory, id, (session) =>
      Effect.gen(function* () {
        const { transcript } = session
        const { end, messages, model: last, session: begun } = transcript
        const isPlanned = transcript.isPlan && !given.plan
        if (added === "" && end?.ending !== "done" && isPlanned) {
          const message = `The session ${id} has no plan yet: go on with --plan, or give a prompt to go on without one.`
          return yield* new Sessions.NoSession({ message })
        }
        if (added === "" && end?.ending === "done" && !isPlanned) {
          const message = `The session ${id} has ended with an answer: give a prompt to go on with.`
          return yield* new Sessions.NoSession({ message })
        }
        const cwd = yield* directoryOfSession(given, session)
        const name = Option.getOrElse(given.model, () =>
          last === undefined ? undefined : `${last.provider}/${last.name}`
        )
        const model = yield* modelOf(given, name)
        const isBegun = messages.length > 0
        const next = isPlanned ? goOn.planned : goOn.interrupted
        const prompt = added !== "" ? added : isBegun ? next : begun.prompt
        const notes = isBegun ? [renewed, ...(isPlanned ? [unlocked] : [])] : []
        return yield* runIn(given, session, model, cwd, [prompt, ...notes].join("\n\n"))
      })
    )
  })

/** Reports why a run could not begin, on stderr and, with `--json`, on stdout. */
const refuse = ({ json }: Given, reason: string) =>
  Effect.zipRight(json ? print("stdout", AgentReport.notBegun(reason)) : Effect.void, complain(reason))

/**
 * Runs the agent. Returns the exit code, which tells how it ended.
 *
 * @param written the prompt on the command line, or an empty text
 */
export const run = (
  given: Given,
  written: string
): Effect.Effect<number, ConfigError | WrongUsage, App | Stdio | FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const directory = Sessions.directoryIn((yield* SandboxSettings.SandboxSettings).home)
    if (Option.isSome(given.resume)) {
      return yield* resume(given, directory, yield* Sessions.find(directory, given.resume.value), written)
    }
    if (!given.continues) return yield* begin(given, directory, written)
    return yield* resume(given, directory, yield* Sessions.newest(directory, yield* directoryOf(given)), written)
  }).pipe(
    Effect.catchTag("NoSession", ({ message }) => refuse(given, message)),
    Effect.catchTag("Blocked", "CommandNotFound", "ExecutionFailed", "InvalidUsage", (error) =>
      refuse(given, toText(error, Advice.person))
    ),
    Effect.provide(
      LiveModelProvider.layer.pipe(
        Layer.provide(ModelSettings.layerFromEnv),
        Layer.provideMerge(SandboxSettings.layerFromEnv())
      )
    )
  )
