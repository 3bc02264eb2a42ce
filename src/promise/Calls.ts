/** Runs the calls of one toolset, as promises. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as CallContext from "../domain/CallContext.js"
import * as CommandError from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ToolCall from "../domain/ToolCall.js"
import * as KeepAlive from "../session/KeepAlive.js"
import * as ToolReturn from "../toolset/ToolReturn.js"
import type { Toolset } from "../toolset/Toolset.js"
import * as Fields from "./Fields.js"
import * as NestedCall from "./internal/NestedCall.js"
import type { Result } from "./Result.js"
import type * as Synapse from "./Synapse.js"
import type { Output } from "./Synapse.js"

/** Makes a queue that slows the command down: the promise of an offered chunk resolves when the loop has taken it. */
const makeQueue = () => {
  const { readable, writable } = new TransformStream<Output, Output>(undefined, undefined, { highWaterMark: 0 })
  const writer = writable.getWriter()
  // After the loop has been left, writes fail.
  const left = () => {}
  return {
    output: readable[Symbol.asyncIterator](),
    offer: (output: Output): Promise<void> => writer.write(output).catch(left),
    end: (): void => void writer.close().catch(left)
  }
}

/** A listener for decoded output. */
type Hearer = (output: Output) => void | Promise<void> | undefined

/** Decodes each stream as UTF-8. Characters that are split across chunks are joined. */
const makeOutputText = (hearers: Iterable<Hearer>) => {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const tell = (output: Output): Promise<void> | undefined => {
    if (output.text === "") return undefined
    const waiting: Array<Promise<void>> = []
    for (const hear of hearers) {
      const taken = hear(output)
      if (taken !== undefined) waiting.push(taken)
    }
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {})
  }
  return {
    /** Decodes a chunk and tells the listeners. Returns a promise if a listener must be waited for. */
    take: (stream: Output["stream"], bytes: Uint8Array): Promise<void> | undefined =>
      tell({ stream, text: decoders[stream].decode(bytes, { stream: true }) }),
    /** Tells the listeners the rest of an incomplete character. */
    end: (): void => {
      for (const stream of ["stdout", "stderr"] as const) void tell({ stream, text: decoders[stream].decode() })
    }
  }
}

/**
 * Starts a call, unless its signal has already aborted. The promise rejects only if the call fails with an error, which
 * a toolset's calls never do.
 */
export const start = <E>(
  call: Pick<ToolCall.ToolCall, "id" | "name">,
  handled: Effect.Effect<Result, E>,
  fork: (handled: Effect.Effect<Result, E>) => Fiber.RuntimeFiber<Result, unknown>,
  { onOutput, signal }: Synapse.HandleOptions
): Synapse.Pending => {
  if (signal?.aborted === true) {
    const partial = CommandResult.make({ began: false })
    return answered(ToolReturn.fromExit(call, Exit.interrupt(FiberId.none), { partial }))
  }

  // Added before the call begins: if the signal refuses the listener, nothing runs that could not be ended.
  const onAbort = () => cancel()
  signal?.addEventListener("abort", onAbort)
  let partial: CommandResult.CommandResult | undefined
  let isOver = false
  const hearers = new Set<Hearer>(onOutput === undefined ? [] : [warning(onOutput)])
  const queues = new Set<ReturnType<typeof makeQueue>>()
  const text = makeOutputText(hearers)
  const fiber = fork(
    CallContext.locally(handled, {
      listener: {
        onOutput: (stream, bytes) => (hearers.size === 0 ? undefined : text.take(stream, bytes)),
        onInterrupted: (result) => {
          partial = result
        }
      }
    })
  )
  const cancel = () => fiber.unsafeInterruptAsFork(FiberId.none)
  const result = new Promise<Result>((resolve, reject) => {
    fiber.addObserver((exit) => {
      signal?.removeEventListener("abort", onAbort)
      isOver = true
      text.end()
      for (const queue of queues) queue.end()
      if (Exit.isSuccess(exit)) resolve(exit.value)
      else if (Cause.isFailure(exit.cause)) reject(Cause.squash(exit.cause))
      else resolve(ToolReturn.fromExit(call, Exit.failCause(exit.cause as Cause.Cause<never>), { partial }))
    })
  })
  return Object.assign(KeepAlive.during(result), {
    cancel,
    [Symbol.asyncIterator]: () => {
      const queue = makeQueue()
      if (isOver) queue.end()
      queues.add(queue)
      hearers.add(queue.offer)
      return queue.output
    }
  })
}

/**
 * Makes the calls of a toolset, which run in the given runtime. Invalid calls and options get a result with `isError`,
 * and so do all calls once the session has `ended`.
 */
export const make = <R, E>(runtime: ManagedRuntime.ManagedRuntime<R, E>, toolset: Context.Tag.Service<Toolset>) => {
  const handle = (ended: boolean, unchecked: Synapse.Call, options: Synapse.HandleOptions = {}): Synapse.Pending => {
    const id = Predicate.hasProperty(unchecked, "id") && typeof unchecked.id === "string" ? unchecked.id : ""
    if (ended) return answered(ToolReturn.fromError({ id }, sessionEnded()))
    const problem = Fields.problemOf("option", options, optionFields)
    if (problem !== undefined)
      return answered(ToolReturn.fromError({ id }, new CommandError.InvalidUsage({ reason: problem })))
    const decoded = decode(unchecked)
    if (Either.isLeft(decoded)) return answered(ToolReturn.fromError({ id }, refusal(decoded.left)))
    const made = Either.try({ try: () => ToolCall.make(decoded.right), catch: noJson })
    if (Either.isLeft(made)) return answered(ToolReturn.fromError({ id }, made.left))
    const call = made.right
    // Only the layer can fail, and it is already built.
    const fork = (handled: Effect.Effect<Result>) => runtime.runFork(handled as Effect.Effect<Result, never, R>)
    return start(call, NestedCall.within(toolset.handle(call)), fork, options)
  }

  return {
    handle: (...call: Parameters<typeof handle>): Synapse.Pending => {
      try {
        return handle(...call)
      } catch (error) {
        // A getter or a proxy of the program threw.
        return answered(ToolReturn.fromError({ id: "" }, unreadable(error)))
      }
    },
    // Without its runtime, no call is running.
    cancel: (id: string): Promise<boolean> =>
      KeepAlive.during(runtime.runPromise(toolset.cancel(id)).catch(() => false))
  }
}

const sessionEnded = () => new CommandError.ExecutionFailed({ kind: "shell", reason: "the session has ended" })

const noJson = (error: unknown) =>
  new CommandError.InvalidUsage({
    reason: `Invalid tool call: arguments: they can't be said as JSON: ${String(error)}`
  })

const unreadable = (error: unknown) =>
  new CommandError.InvalidUsage({ reason: `Invalid tool call: it can't be read: ${String(error)}` })

const optionFields = Fields.optional(Fields.handling)

const decode = ParseResult.decodeUnknownEither(
  Schema.Struct({ ...ToolCall.ToolCall.fields, arguments: ToolCall.Arguments }),
  { errors: "all" }
)

const refusal = (error: ParseResult.ParseIssue): CommandError.InvalidUsage => {
  const problems = ParseResult.ArrayFormatter.formatIssueSync(error).map(({ message, path }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  )
  return new CommandError.InvalidUsage({
    reason: `Invalid tool call: ${problems.join("; ")}. A call is { id, name, arguments }: two strings, and JSON text or an object.`
  })
}

/** Makes a listener whose failure becomes a process warning, and does not end the call. */
const warning =
  (onOutput: (output: Synapse.Output) => void | Promise<void>): Hearer =>
  (output) => {
    const failed = (error: unknown) => process.emitWarning(`synapse: onOutput failed: ${String(error)}`)
    try {
      // Only promises are waited for: `(output) => seen.push(output)` returns a number.
      const heard: unknown = onOutput(output)
      return Predicate.isPromise(heard) ? heard.then(() => {}, failed) : undefined
    } catch (error) {
      return failed(error)
    }
  }

const answered = (result: Result): Synapse.Pending =>
  Object.assign(Promise.resolve(result), {
    cancel: () => {},
    [Symbol.asyncIterator]: () => {
      const queue = makeQueue()
      queue.end()
      return queue.output
    }
  })
