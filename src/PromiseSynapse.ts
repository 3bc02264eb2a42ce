/**
 * Synapse for programs without Effect.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { ExecutionFailed, InvalidUsage } from "./domain/CommandError.js"
import * as CommandListener from "./domain/CommandListener.js"
import type { CommandResult } from "./domain/CommandResult.js"
import * as ToolCall from "./domain/ToolCall.js"
import * as Synapse from "./Synapse.js"
import type { Settings } from "./session/SessionSettings.js"
import type { ToolDefinition } from "./toolset/Tool.js"
import * as ToolReturn from "./toolset/ToolReturn.js"
import { Toolset } from "./toolset/Toolset.js"

/**
 * The answer to a call, on its way.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pending extends Promise<ToolReturn.ToolReturn> {
  /** Ends the call: the promise is then fulfilled with exit code 130 and the output so far. */
  readonly cancel: () => void
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Call extends Omit<ToolCall.ToolCall, "arguments"> {
  readonly arguments: typeof ToolCall.Arguments.Type
}

/**
 * @since 0.1.0
 * @category models
 */
export interface PromiseSynapse {
  /** The definitions of the tools, for a model's tool list. */
  readonly tools: ReadonlyArray<ToolDefinition>
  /**
   * Runs a call. The promise is never rejected: a failure is a value, with `isError`, and so is what is no call. The
   * arguments may be an object in place of its JSON.
   */
  readonly handle: (call: Call) => Pending
  /** Ends all calls, the shell, and what it started. */
  readonly dispose: () => Promise<void>
}

/**
 * Synapse over a shell of its own. Rejected where a setting is wrong.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (settings: Partial<Settings> = {}, options: Synapse.Options = {}): Promise<PromiseSynapse> =>
  fromLayer(Synapse.layer(settings, options))

/**
 * The Promise face of any toolset.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromLayer = async <E>(layer: Layer.Layer<Toolset, E>): Promise<PromiseSynapse> => {
  const runtime = ManagedRuntime.make(layer)
  const toolset = await runtime.runPromise(Toolset)
  let ended = false
  return {
    get tools() {
      return toolset.tools
    },
    handle: (given) => {
      const id = Predicate.hasProperty(given, "id") && typeof given.id === "string" ? given.id : ""
      if (ended) return answered(ToolReturn.fromError({ id }, new ExecutionFailed(sessionEnded)))
      const decoded = decode(given)
      if (Either.isLeft(decoded)) return answered(ToolReturn.fromError({ id }, refusal(decoded.left)))
      const call = ToolCall.make(decoded.right)
      let partial: CommandResult | undefined
      const fiber = runtime.runFork(
        Effect.locally(toolset.handle(call), CommandListener.current, {
          onInterrupted: (result) => {
            partial = result
          }
        })
      )
      const result = new Promise<ToolReturn.ToolReturn>((resolve) => {
        fiber.addObserver((exit) =>
          resolve(
            Exit.match(exit, {
              onSuccess: (value) => value,
              // What can fail is the layer, and that is built by now.
              onFailure: (cause) => ToolReturn.fromExit(call, Exit.failCause(cause as Cause.Cause<never>), { partial })
            })
          )
        )
      })
      return Object.assign(result, { cancel: () => void Effect.runFork(Fiber.interrupt(fiber)) })
    },
    dispose: () => {
      ended = true
      return runtime.dispose()
    }
  }
}

const sessionEnded = { kind: "shell", reason: "the session has ended" } as const

const decode = ParseResult.decodeUnknownEither(
  Schema.Struct({ ...ToolCall.ToolCall.fields, arguments: ToolCall.Arguments }),
  { errors: "all" }
)

const refusal = (error: ParseResult.ParseIssue): InvalidUsage => {
  const problems = ParseResult.ArrayFormatter.formatIssueSync(error).map(({ message, path }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  )
  return new InvalidUsage({
    reason: `Invalid tool call: ${problems.join("; ")}. A call is { id, name, arguments }: two strings, and JSON text or an object.`
  })
}

const answered = (result: ToolReturn.ToolReturn): Pending =>
  Object.assign(Promise.resolve(result), { cancel: () => {} })
