/** Runs sub-agents with the loop and the models. It is loaded with the first task. */
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import { type CommandError, ExecutionFailed } from "../../domain/CommandError.js"
import { SubAgentStep } from "../../domain/SubAgentEvent.js"
import * as ToolCall from "../../domain/ToolCall.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import { Toolset } from "../../toolset/Toolset.js"
import type { Tools } from "../AgentTools.js"
import type { AgentEvent } from "../loop/AgentEvent.js"
import * as AgentLoop from "../loop/AgentLoop.js"
import * as AgentSettings from "../loop/AgentSettings.js"
import { ModelProvider } from "../model/ModelProvider.js"

interface Run {
  readonly model: string | undefined
  /** Makes its tools, which end with the scope. */
  readonly tools: Effect.Effect<Tools, CommandError, Scope.Scope>
  readonly prompt: string
  readonly instructions: string
  /** The most turns, capped by the settings. */
  readonly maxTurns: number | undefined
  /** Receives each step but the end. */
  readonly tell: (step: SubAgentStep) => void
}

/**
 * Runs a sub-agent and returns its answer. It waits while `SYNAPSE_MAX_PARALLEL_TASKS` tasks run. The error's `stdout`
 * holds the text so far. If no provider is set, the error says how to set one.
 */
export type SubAgentRun = (run: Run) => Effect.Effect<string, CommandError>

/** The most commands that the message of a failure lists. */
const mostCommands = 20

/** The most characters of a listed command. */
const longestCommand = 120

/** Summarizes an ended call for the terminal. */
const reasonOf = ({ extras, message, output }: ToolReturn): string =>
  extras.blockedResource !== undefined
    ? `Denied by the sandbox: ${extras.blockedResource}`
    : extras.error === "CommandNotFound" || extras.error === "InvalidUsage"
      ? output
      : message

/** Collects a run's commands and its end, and reports its steps. */
class Progress {
  private readonly commands: Array<string> = []
  private count = 0
  ended: Extract<AgentEvent, { readonly _tag: "Ended" }> | undefined

  constructor(private readonly tell: Run["tell"]) {}

  hear(event: AgentEvent): void {
    if (event._tag === "Ended") this.ended = event
    else if (event._tag === "Retrying") this.tell(SubAgentStep.Retrying({ reason: event.reason, delay: event.delay }))
    else if (event._tag === "ToolStarted") {
      this.count++
      this.commands.push(UntrustedText.line(ToolCall.commandOf(event.call) ?? event.call.arguments, longestCommand))
      if (this.commands.length > mostCommands) this.commands.shift()
      this.tell(SubAgentStep.ToolStarted({ call: event.call }))
    } else if (event._tag === "ToolEnded") {
      const { call, result } = event
      this.tell(SubAgentStep.ToolEnded({ call, isError: result.isError, message: reasonOf(result) }))
    }
  }

  get done(): string {
    if (this.count === 0) return "It has run no command."
    const left = this.count - this.commands.length
    return [`It has run:`, ...(left === 0 ? [] : [`  … ${left} more`]), ...this.commands.map((one) => `  ${one}`)].join(
      "\n"
    )
  }
}

export const make = (
  models: Layer.Layer<ModelProvider, ConfigError>
): Effect.Effect<SubAgentRun, ConfigError, Scope.Scope> =>
  Effect.gen(function* () {
    const services = yield* Layer.build(
      Layer.mergeAll(AgentLoop.layer, models).pipe(Layer.provideMerge(AgentSettings.layerFromEnv))
    )
    const loop = Context.get(services, AgentLoop.AgentLoop)
    const provider = Context.get(services, ModelProvider)
    const { maxParallelTasks, maxTurns: most } = Context.get(services, AgentSettings.AgentSettings)
    const turns = yield* Effect.makeSemaphore(maxParallelTasks)

    const modelOf = (name: string | undefined) =>
      Effect.mapError(provider.model(name), (error) =>
        error._tag === "ExecutionFailed"
          ? new ExecutionFailed({
              ...error,
              reason: `Task commands require a model's provider, which the user has to set up. ${error.reason}`
            })
          : error
      )

    return Effect.fn("SubAgentRun.run")(function* ({ instructions, maxTurns, model: name, prompt, tell, tools }) {
      const model = yield* modelOf(name)
      const progress = new Progress(tell)
      const limits = maxTurns === undefined ? undefined : { maxTurns: Math.min(maxTurns, most) }
      const running = Effect.gen(function* () {
        const { cwd, services } = yield* tools
        const toolset = Context.get(services, Toolset)
        const commands = Context.get(services, CommandRegistry).listed()
        yield* Stream.runForEach(loop.run({ prompt, model, toolset, instructions, commands, cwd, limits }), (event) =>
          Effect.sync(() => progress.hear(event))
        )
      })
      yield* turns.withPermits(1)(Effect.scoped(running))
      const { ending = "failed", reason, text = "" } = progress.ended ?? {}
      if (ending === "done" && text.trim() !== "") return text
      const why = ending === "done" ? "It ended without an answer." : (reason ?? "It ended unexpectedly.")
      const more = ending === "turns" && most > (limits?.maxTurns ?? most) ? " --max-turns allows more." : ""
      return yield* new ExecutionFailed({
        kind: "io",
        reason: `The sub-agent did not finish (${ending}). ${why}${more}\n${progress.done}`,
        stdout: text
      })
    })
  })
