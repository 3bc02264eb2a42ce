/**
 * Routes each command line: parses it once, classifies it once, and runs it in the shell or in Synapse itself.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as CommandLine from "../bash/CommandLine.js"
import * as Quote from "../bash/Quote.js"
import type { CommandCall } from "../command/CommandHandler.js"
import { type CommandHandler, isLineHandler, type LineOptions } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as UnknownCommand from "../command/UnknownCommand.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import { type CommandError, ExecutionFailed, timedOut } from "../domain/CommandError.js"
import * as CommandExit from "../domain/CommandExit.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Span from "../domain/Span.js"
import * as Timeout from "../domain/Timeout.js"
import type { Files } from "../files/Files.js"
import { FileError } from "../files/Files.js"
import { attributesOf, type ManagerOptions, SandboxManager } from "../sandbox/SandboxManager.js"
import { Jobs } from "../session/Jobs.js"
import { identifyCommandType } from "./CommandType.js"

/** A call that needs no shell: the command's name and its words. */
interface PlainCall {
  readonly name: string
  readonly args: ReadonlyArray<string>
  /** The text of a here-document or a here-string. */
  readonly input?: string
}

/**
 * Returns the call that a line makes, or undefined if it needs a shell. For an unregistered command, it only has the
 * name, for the error.
 */
const toPlainCall = (line: CommandLine.CommandLine, handler: CommandHandler | undefined): PlainCall | undefined => {
  const { name } = line
  if (handler === undefined) return line.simple ? { name, args: [] } : undefined
  if (handler.usesFiles === true || line.assignments.length > 0) return undefined
  if (handler.takesBare?.(line.rest) === true || (handler.takesBare !== undefined && isUnclosed(line)))
    return { name, args: [line.rest.trim()] }
  if (!line.literal) return undefined
  const args = line.words.map(({ value }) => value)
  const { input } = line
  return input === undefined ? { name, args } : { name, args, input }
}

/** The longest line whose quotes are certain, in characters. The parser leaves longer lines to bash. */
const longestTold = 100_000

/**
 * Tests whether a quote is not closed. No shell can run such a line, so the handler explains the error. It is only
 * certain if the quote comes first and there is no substitution, which the parser may have left to bash.
 */
const isUnclosed = (line: CommandLine.CommandLine): boolean =>
  line.text.length < longestTold &&
  line.rest.startsWith("'") &&
  !/`|\$\(/.test(line.rest) &&
  line.tail.some((token) => token._tag === "Word" && !token.closed)

/** Makes the CommandCall for a handler. It has no files, which only a shell can give. */
const toCommandCall = (
  { args, input, name }: PlainCall,
  cwd: string,
  write: CommandCall["write"],
  byShell: NonNullable<CommandCall["byShell"]>
): CommandCall => ({
  name,
  args,
  cwd,
  stdin: input === undefined ? undefined : Stream.succeed(new TextEncoder().encode(input)),
  write,
  files,
  byShell
})

const refuse = (path: string) =>
  new FileError({ path, kind: "io", reason: "no shell made this call: a handler that works on files says usesFiles" })

const files: Files = {
  read: refuse,
  write: refuse,
  writeAll: ([change]) => refuse(change?.path ?? ""),
  exit: refuse,
  mode: refuse,
  exclusive: (effect) => effect
}

/**
 * The options of a command line. `restart` first restarts the shell, which loses its state.
 *
 * @since 0.1.0
 * @category models
 */
export type RouteOptions = Omit<ManagerOptions, "cwd">

/**
 * Runs command lines, in the shell or in Synapse itself.
 *
 * @since 0.1.0
 * @category tags
 */
export class BashRouter extends Context.Tag("synapse/BashRouter")<
  BashRouter,
  {
    /** Classifies a command line, and runs it in the shell or by its handler. `true` stands for `{ restart: true }`. */
    readonly route: (
      command: string,
      options?: RouteOptions | boolean
    ) => Effect.Effect<CommandResult.CommandResult, CommandError>
  }
>() {}

/**
 * A layer that routes between the commands of the registry and the shell of the manager.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<BashRouter, never, CommandRegistry | Jobs | SandboxManager> = Layer.effect(
  BashRouter,
  Effect.gen(function* () {
    const registry = yield* CommandRegistry
    const sandbox = yield* SandboxManager
    const jobs = yield* Jobs
    const withNews = (result: CommandResult.CommandResult): CommandResult.CommandResult => {
      const news = jobs.takeNews()
      return news.length === 0 ? result : { ...result, jobs: news }
    }
    const isRegistered = (name: string) => registry.find(name) !== undefined

    const dispatch = (
      line: CommandLine.CommandLine,
      options: LineOptions
    ): Effect.Effect<CommandResult.CommandResult, CommandError> => {
      const inShell = (restart = options.restart) =>
        sandbox.execute(line.text, { ...withTaskTimeout(line, { ...options, restart }), line })
      if (identifyCommandType(line, isRegistered) === "native") return inShell()
      const handler = registry.find(line.name)
      if (handler !== undefined && isLineHandler(handler)) return handler.runLine(line, withTaskTimeout(line, options))
      const plain = toPlainCall(line, handler)
      // A line that needs bash's parsing goes to the shell, which then calls the command.
      if (plain === undefined) return inShell()
      const inProcess =
        handler === undefined
          ? UnknownCommand.of(
              line.name,
              registry.listed().map(({ name }) => name)
            )
          : Effect.flatMap(sandbox.cwd, (cwd) =>
              run(handler, plain, cwd, options, (line) => sandbox.execute(line, { timeout: options.timeout }))
            )
      const inProcessWithStatus = Effect.onExit(inProcess, (exit) =>
        // Only a program's own defect can arrive here: others are results already.
        sandbox.setStatus(Exit.match(exit, { onSuccess: (result) => result.exitCode, onFailure: statusOf }))
      )
      const program = handler?.program
      // If this fails, the handler itself reports it later.
      const runsProgram =
        program === undefined
          ? Effect.succeed(false)
          : sandbox.cwd.pipe(
              Effect.flatMap((cwd) => program({ ...plain, cwd })),
              Effect.map((found) => found !== undefined),
              Effect.catchAllCause(() => Effect.succeed(false))
            )
      // Only the shell can pass standard input to the command.
      const needsShell = Effect.flatMap(CallContext.get("stdin"), (input) =>
        input === undefined || handler === undefined || plain.input !== undefined ? runsProgram : Effect.succeed(true)
      )
      const dispatched = Effect.flatMap(needsShell, (isNeeded) => (isNeeded ? inShell(false) : inProcessWithStatus))
      // Calls do not wait for a sub-agent, so that the tasks of one turn run in parallel.
      return line.name.startsWith("task:")
        ? Effect.zipRight(sandbox.inOrder(Effect.void, options.restart), dispatched)
        : sandbox.inOrder(dispatched, options.restart)
    }

    return BashRouter.of({
      route: (command, given = {}) =>
        Effect.withFiberRuntime<CommandResult.CommandResult, CommandError>((fiber) => {
          const { line = CommandLine.parse(command), ...named }: RouteOptions =
            typeof given === "boolean" ? { restart: given } : given
          const timeout = fiber.getFiberRef(CallContext.current).timeout
          const options = timeout === undefined || named.timeout !== undefined ? named : { ...named, timeout }
          return Span.inFiber(
            fiber,
            "BashRouter.route",
            Effect.map(dispatch(line, options), withNews),
            attributesOf(line)
          )
        })
    })
  })
)

/** Matches a line that may call a sub-agent's task. */
const namingTask = /(?:^|[^\w.:@/+-])task:[A-Za-z]/

/** Gives a line with a task a longer default timeout, because a model's turns take minutes. */
const withTaskTimeout = ({ text }: CommandLine.CommandLine, options: LineOptions): LineOptions =>
  options.timeout === undefined && text.includes("task:") && namingTask.test(text)
    ? { ...options, timeout: Timeout.ofTasks }
    : options

/** Returns the exit code of a command that ended without a result. */
const statusOf = (cause: Cause.Cause<CommandError>): number =>
  Option.match(Cause.failureOption(cause), { onNone: () => ExitCode.interrupted, onSome: (error) => error.exitCode })

/**
 * Runs a handler. The listener hears its output as it comes, and its partial output on interruption. It does not hear
 * what the handler itself runs.
 */
const run = (
  handler: CommandHandler,
  plain: PlainCall,
  cwd: string,
  options: LineOptions,
  execute: (line: string) => Effect.Effect<CommandResult.CommandResult, CommandError>
): Effect.Effect<CommandResult.CommandResult, CommandError> =>
  Effect.flatMap(FiberRef.get(CommandListener.current), (listener) => {
    const early: Array<Uint8Array> = []
    /** True if the shell tells the listener everything. */
    let isTold = false
    const byShell = (words: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        isTold = true
        return Effect.tapError(CallContext.locally(execute(words.map(Quote.word).join(" ")), { listener }), () =>
          Effect.sync(() => {
            isTold = false
          })
        )
      })
    const withEarly = <A extends { readonly stdout: string }>(output: A): A =>
      early.length === 0 ? output : { ...output, stdout: Buffer.concat(early).toString() + output.stdout }
    const write = (chunk: Uint8Array) =>
      Effect.suspend(() => {
        // The writer may reuse the chunk's memory.
        const own = Uint8Array.from(chunk)
        early.push(own)
        const waiting = listener.onOutput?.("stdout", own)
        return waiting === undefined ? Effect.void : Effect.promise(async () => waiting)
      })
    const call = toCommandCall(plain, cwd, write, byShell)
    return inTime(
      Effect.suspend(() => handler.run(call, options)),
      options.timeout
    ).pipe(
      Effect.map((result) => CommandResult.say(result, listener.audience ?? Advice.model)),
      Effect.catchAllCause((cause) => recoverDefect(plain.name, cause)),
      CallContext.locally({ listener: CommandListener.ofProgress(listener) }),
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          if (!isTold) listener.onInterrupted?.(withEarly(CommandResult.make({ exitCode: ExitCode.interrupted })))
        })
      ),
      Effect.tap((result) => (isTold ? Effect.void : CallContext.tell(result))),
      Effect.mapBoth({
        onSuccess: withEarly,
        onFailure: (error) =>
          error._tag === "ExecutionFailed" && early.length > 0 ? new ExecutionFailed(withEarly({ ...error })) : error
      })
    )
  })

/** Converts a command's defect to the result that it has inside a line, and logs it. */
const recoverDefect = (name: string, cause: Cause.Cause<CommandError>) => {
  const exit = CommandExit.fromCause(cause, `${name}:`)
  if (exit._tag !== "Died") return Effect.failCause(cause)
  const { category, exitCode, text } = exit
  const result = { stdout: "", stderr: `${text.trimEnd()}\n`, exitCode, category }
  return Effect.as(CommandExit.logDefect(name, cause), result)
}

/** Ends a Synapse command after the call's timeout. Without one, it may run as long as it needs. */
const inTime = <A, E>(
  effect: Effect.Effect<A, E>,
  timeout: number | undefined
): Effect.Effect<A, E | ExecutionFailed> =>
  timeout === undefined
    ? effect
    : Effect.timeoutFail(effect, {
        duration: timeout,
        onTimeout: () => timedOut(timeout)
      })
