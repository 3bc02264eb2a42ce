/**
 * Runs the tool calls of a model. Every call gets a result.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Attempt from "../domain/Attempt.js"
import { type CommandError, CommandNotFound, InvalidUsage } from "../domain/CommandError.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import { DuplicateName } from "../domain/DuplicateName.js"
import * as JsonValue from "../domain/JsonValue.js"
import * as Span from "../domain/Span.js"
import type { ToolCall } from "../domain/ToolCall.js"
import { BashTool } from "./BashTool.js"
import * as Tool from "./Tool.js"
import * as ToolReturn from "./ToolReturn.js"

/** Answers a call of an unknown tool with the call that replaces it. */
const unknownTool = (call: ToolCall, tools: ReadonlyArray<Tool.Tool>): ToolReturn.ToolReturn => {
  const known = tools.map(({ definition }) => definition.name)
  const isNamed = call.name.trim() !== ""
  const params = Attempt.orElse((): unknown => JSON.parse(call.arguments), call.arguments)
  const replaced = tools.flatMap((tool) => Attempt.orUndefined(() => tool.replace?.(call.name, params)) ?? [])[0]
  const correction =
    replaced ??
    (isNamed && known.includes("Bash")
      ? `commands run through the tool Bash: Bash(command="${call.name} <args>")`
      : "call one of the tools that there are.")
  return ToolReturn.fromError(
    call,
    new CommandNotFound({
      command: call.name,
      reason: `${isNamed ? `Unknown tool: ${call.name}` : "The call names no tool"}. There is: ${known.join(", ") || "no tool"}.\nCORRECTION: ${correction}`
    }),
    { toolName: call.name }
  )
}

/** What is wrong with the arguments, with the parser's message if they are not JSON. */
interface Flaw {
  readonly problem: string
  readonly parseError?: string
}

const parsed = (call: ToolCall): Either.Either<unknown, Flaw> => {
  let params: unknown
  try {
    params = JSON.parse(call.arguments)
  } catch (error) {
    const { message } = error as SyntaxError
    return Either.left({ problem: `the arguments are not JSON: ${message}`, parseError: message })
  }
  const problem = JsonValue.isDeeperThan(params, deepest)
    ? `they are nested deeper than ${deepest} levels`
    : JsonValue.findHalfIn(call.arguments, params)
  return problem === undefined ? Either.right(params) : Either.left({ problem })
}

/** Answers a call with unreadable arguments. If they are not JSON, it shows the call that was probably meant. */
const refused = (call: ToolCall, tool: Tool.Tool, { problem, ...told }: Flaw): ToolReturn.ToolReturn => {
  const meant = () => Attempt.orUndefined(() => tool.exampleFor?.(call.arguments)) ?? tool.example
  const example = told.parseError === undefined ? undefined : meant()
  const error = Tool.invalidParameters(tool.definition.name, [problem], example)
  return ToolReturn.fromError(call, error, { toolName: call.name, ...told })
}

/** The deepest nesting of arrays and objects in arguments. */
const deepest = 100

/**
 * Runs the tool calls of a model.
 *
 * @example
 * ```ts
 * import { Synapse, Toolset } from "synapse-shell"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const toolset = yield* Toolset.Toolset
 *   const { isError, output } = yield* toolset.handle({ id: "1", name: "Bash", arguments: '{"command":"ls -la"}' })
 *   return isError ? `It failed: ${output}` : output
 * }).pipe(Effect.provide(Synapse.layer()))
 * ```
 *
 * @since 0.1.0
 * @category tags
 */
export class Toolset extends Context.Tag("synapse/Toolset")<
  Toolset,
  {
    readonly tools: ReadonlyArray<Tool.ToolDefinition>
    /**
     * Runs a call and returns its result; failures are results too. Calls run in parallel. A call with the id of a
     * running one is refused. Interruption ends the tool first.
     */
    readonly handle: (call: ToolCall) => Effect.Effect<ToolReturn.ToolReturn>
    /**
     * Ends the running call with this id, whose `handle` then returns exit code 130 and the output so far. Returns
     * after the tool has ended, or `false` if no such call is running.
     */
    readonly cancel: (id: string) => Effect.Effect<boolean>
  }
>() {}

/** The result that listeners get of a command that was cancelled before it began. */
const notBegun = CommandResult.make({ began: false })

type Running = Fiber.RuntimeFiber<CommandResult.CommandResult, CommandError>

/**
 * Makes a toolset. Fails with DuplicateName if two tools have the same name. Closing the scope interrupts running
 * calls.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  tools: ReadonlyArray<Tool.Tool>
): Effect.Effect<Context.Tag.Service<Toolset>, DuplicateName, Scope.Scope> =>
  Effect.gen(function* () {
    const byName = new Map<string, Tool.Tool>()
    for (const tool of tools) {
      const { name } = tool.definition
      if (byName.has(name)) return yield* new DuplicateName({ kind: "tool", name })
      byName.set(name, tool)
    }
    /** Running fibers by call id; undefined for a moment, while a fiber is being forked. */
    const running = yield* Effect.acquireRelease(
      Effect.sync(() => new Map<string, Running | undefined>()),
      (fibers) => Fiber.interruptAll([...fibers.values()].filter((fiber) => fiber !== undefined))
    )

    const run = (
      call: ToolCall,
      tool: Tool.Tool,
      params: unknown,
      restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    ): Effect.Effect<ToolReturn.ToolReturn> =>
      Effect.withFiberRuntime((caller) => {
        const outer = caller.getFiberRef(CommandListener.current)
        let partial: CommandResult.CommandResult | undefined = notBegun
        const listener: CommandListener.CommandListener = {
          ...outer,
          onInterrupted: (result) => {
            partial = result
            outer.onInterrupted?.(result)
          }
        }
        // The fiber belongs to this call, so the value needs no reset.
        const body = Effect.flatMap(FiberRef.set(CommandListener.current, listener), () => {
          partial = undefined
          return tool.run(params)
        })
        return Effect.flatMap(Effect.forkDaemon(Effect.interruptible(body)), (fiber) => {
          running.set(call.id, fiber)
          fiber.addObserver(() => running.delete(call.id))
          return Effect.flatMap(
            Effect.onInterrupt(restore(Fiber.await(fiber)), () => Fiber.interrupt(fiber)),
            (exit) =>
              Effect.flatMap(diagnose(tool, params, exit), (diagnosis) => {
                const result = ToolReturn.fromExit(call, exit, { audience: outer.audience, partial, diagnosis })
                return Exit.isFailure(exit) && Cause.isDie(exit.cause)
                  ? Effect.as(logDefect(call, exit.cause), result)
                  : Effect.succeed(result)
              })
          )
        })
      })

    return Toolset.of({
      get tools() {
        return tools.map((tool) => tool.definition)
      },
      handle: (call) =>
        inSpan(
          Effect.uninterruptibleMask((restore) => {
            const tool = byName.get(call.name) ?? inAnyCase(tools, call.name)
            if (tool === undefined) return Effect.succeed(unknownTool(call, tools))
            if (running.has(call.id)) return Effect.succeed(stillRunning(call))
            const params = parsed(call)
            if (Either.isLeft(params)) return Effect.succeed(refused(call, tool, params.left))
            running.set(call.id, undefined)
            return run(call, tool, params.right, restore)
          }),
          attributesOf(call)
        ),
      cancel: (id) =>
        Effect.suspend(() => {
          const fiber = running.get(id)
          return fiber === undefined ? Effect.succeed(false) : Effect.as(Fiber.interrupt(fiber), true)
        })
    })
  })

/**
 * A layer of the toolset with the one tool `Bash`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Toolset, never, BashTool> = Layer.scoped(
  Toolset,
  // One tool alone can't be a duplicate.
  Effect.flatMap(BashTool, (bash) => Effect.orDie(make([bash])))
)

/**
 * A layer of a toolset with any tools. Fails with DuplicateName if two have the same name.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerOf = (tools: ReadonlyArray<Tool.Tool>): Layer.Layer<Toolset, DuplicateName> =>
  Layer.scoped(Toolset, make(tools))

const inSpan = Span.within("Toolset.handle")

/** Describes a call in a span with OpenTelemetry's attribute names. */
const attributesOf = (call: ToolCall): Span.Attributes<ToolReturn.ToolReturn> => ({
  begun: () => ({ "gen_ai.tool.call.id": call.id, "gen_ai.tool.name": call.name }),
  ended: ({ extras: { denied, exitCode, failureCategory } }) => ({
    ...(exitCode === undefined ? undefined : { "process.exit.code": exitCode }),
    ...(failureCategory === undefined ? undefined : { "error.type": failureCategory }),
    ...(denied === undefined ? undefined : { "synapse.denial": denied.what })
  })
})

/** Finds the one tool with this name in any case, with or without the prefix `functions.`. */
const inAnyCase = (tools: ReadonlyArray<Tool.Tool>, name: string): Tool.Tool | undefined => {
  const wanted = name
    .trim()
    .toLowerCase()
    .replace(/^functions\./, "")
  const found = tools.filter(({ definition }) => definition.name.toLowerCase() === wanted)
  return found.length === 1 ? found[0] : undefined
}

/**
 * Makes the answer to a call with the id of a running one.
 *
 * @since 0.1.0
 * @internal
 */
export const stillRunning = (call: ToolCall): ToolReturn.ToolReturn =>
  ToolReturn.fromError(
    call,
    new InvalidUsage({
      reason: `A call with the id ${call.id} is still running; it goes on. Every call needs an id of its own.`
    }),
    { toolName: call.name }
  )

const nothing = Effect.sync((): Tool.Diagnosis => ({}))

/** Calls a tool's `diagnose`, and ignores its failures. */
const diagnose = (tool: Tool.Tool, params: unknown, exit: Exit.Exit<CommandResult.CommandResult, CommandError>) =>
  Effect.catchAllCause(
    Effect.suspend(() => tool.diagnose?.(params, exit) ?? nothing),
    () => nothing
  )

/** Logs a defect with its stack trace for developers; the model gets only the message. */
const logDefect = (call: ToolCall, cause: Cause.Cause<unknown>) =>
  Effect.logError(`the tool ${call.name} failed unexpectedly`, cause)
