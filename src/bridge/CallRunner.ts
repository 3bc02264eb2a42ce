/**
 * Runs the commands that are called from within the shell.
 *
 * @since 0.1.0
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as Runtime from "effect/Runtime"
import { type CommandCall, type Handler, isLineHandler, type Program } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as UnknownCommand from "../command/UnknownCommand.js"
import * as Advice from "../domain/Advice.js"
import { type CommandError, CommandNotFound, type FailureCategory } from "../domain/CommandError.js"
import * as CommandExit from "../domain/CommandExit.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as FileFailure from "../files/FileFailure.js"
import { FileError } from "../files/Files.js"
import { FileTurns } from "../files/FileTurns.js"
import type { OutputFiles } from "../session/OutputFiles.js"
import type { CallEnding, Surroundings } from "../session/ShellBridge.js"
import type { BridgeCall } from "./BridgeCall.js"
import type { BridgeCommands } from "./BridgeCommands.js"
import * as BridgeFiles from "./BridgeFiles.js"
import type { CallRequest } from "./CallRequest.js"
import { Refused } from "./StubDialog.js"

/**
 * Makes the commands of the registry callable, as they are registered at the time of each call.
 *
 * @param within marks the effect of a call, for `Nesting`
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (
  within: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): Effect.fn.Return<BridgeCommands, never, CommandRegistry> {
  const registry = yield* CommandRegistry
  const runtime = yield* Effect.runtime()
  const audience = yield* FiberRef.get(Advice.audience)
  const turns = new FileTurns()
  const ended: Array<CallEnding & Pick<CallRequest, "mark">> = []
  const images = new Images()
  let last: Callable | undefined

  const callable = (): Callable => {
    const handlers = registry.list()
    if (last?.handlers !== handlers) {
      const [exact, prefixed] = Array.partition(
        handlers.filter((handler) => !isLineHandler(handler)),
        ({ name }) => name.endsWith("*")
      )
      last = { handlers, names: exact.map(({ name }) => name), prefixed }
    }
    return last
  }

  return {
    names: () => callable().names,
    prefixed: () => callable().prefixed,
    run: (call, request, around, output) => {
      const fiber = Runtime.runFork(runtime)(
        Effect.locally(
          within(
            run(
              registry.find(request.name),
              call,
              toCommandCall(call, request, around, { output, turns }),
              registry.listed()
            )
          ),
          CommandListener.current,
          CommandListener.ofProgress(around.listener ?? {})
        )
      )
      void call.gone.then(() => fiber.unsafeInterruptAsFork(fiber.id()))
      fiber.addObserver((exit) => {
        const {
          category,
          exitCode,
          images: shown = [],
          stderr,
          stdout
        } = ending(request, exit, around.listener?.audience ?? audience)
        ended.push({ exitCode, category, mark: request.mark })
        const left = shown.filter((image) => !images.add(image)).map(({ path }) => leftOut(request, path))
        void call.finish(stdout, stderr + left.join(""), exitCode)
      })
    },
    takeEnding: (mark) => {
      // What another line has left in the background ends at any time.
      const isOwn = (call: Pick<CallRequest, "mark">) =>
        mark === undefined || call.mark === undefined || call.mark === mark
      const [only, more] = ended.splice(0).filter(isOwn)
      return only === undefined || more !== undefined ? undefined : { exitCode: only.exitCode, category: only.category }
    },
    takeImages: () => images.take()
  }
})

/** The handlers of the registry that a shell can call, as of one moment. */
interface Callable {
  readonly handlers: ReadonlyArray<Handler>
  readonly names: ReadonlyArray<string>
  readonly prefixed: ReadonlyArray<Handler>
}

const run = (
  handler: Handler | undefined,
  caller: BridgeCall,
  call: CommandCall,
  known: ReadonlyArray<Handler>
): Effect.Effect<CommandResult.CommandResult, CommandError> =>
  handler === undefined || isLineHandler(handler)
    ? UnknownCommand.of(
        call.name,
        known.map(({ name }) => name)
      )
    : Effect.tapDefect(
        Effect.suspend(() =>
          handler.program === undefined
            ? handler.run(call, {})
            : Effect.flatMap(handler.program(call), (program) =>
                program === undefined ? handler.run(call, {}) : become(caller, call.name, program)
              )
        ),
        (cause) => CommandExit.logDefect(call.name, cause)
      )

/** Makes the caller become a program. It has an end of its own then, and this result is for nobody. */
const become = (
  caller: BridgeCall,
  name: string,
  program: Program
): Effect.Effect<CommandResult.CommandResult, CommandError> =>
  Effect.flatMap(
    Effect.promise(
      (): Promise<Refused | undefined> =>
        caller.become(program).then(
          () => undefined,
          (error: unknown) => {
            if (error instanceof Refused) return error
            throw error
          }
        )
    ),
    (refused) => (refused === undefined ? Effect.succeed(CommandResult.make()) : notBecome(name, program, refused))
  )

const notBecome = (
  name: string,
  { file, names }: Program,
  { kind, reason }: Refused
): Effect.Effect<CommandResult.CommandResult, CommandError> => {
  if (kind === "denied") {
    const stderr = `${name}: ${FileFailure.printable(reason)}: Permission denied\n`
    return Effect.succeed(CommandResult.make({ exitCode: ExitCode.blocked, stderr }))
  }
  if (reason !== "") {
    return new CommandNotFound({
      command: name,
      reason: `${name}: commands do not see ${FileFailure.printable(reason)}: it is gone, or the sandbox hides it, which has a /tmp and a /var/tmp of its own.`
    })
  }
  return new CommandNotFound({
    command: name,
    reason: `${name}: there is no ${names.map(FileFailure.printable).join(" and no ")} here${
      file === undefined ? "" : `, which runs ${FileFailure.printable(file)}`
    }.`
  })
}

const toCommandCall = (
  call: BridgeCall,
  request: CallRequest,
  { input, room }: Surroundings,
  { output, turns }: { readonly output: OutputFiles; readonly turns: FileTurns }
): CommandCall => ({
  name: request.name,
  args: request.args,
  cwd: request.cwd,
  stdin: request.hasInput ? BridgeFiles.standardInput(call) : input,
  ...(request.isShown && room !== undefined ? { room } : undefined),
  write: (chunk) =>
    Effect.catchAll(
      Effect.tryPromise(() => call.put(chunk)),
      () => Effect.interrupt
    ),
  files: BridgeFiles.make(call, turns),
  ...(output.isAllowed ? { keep: keeping(output) } : undefined)
})

const keeping =
  (output: OutputFiles): NonNullable<CommandCall["keep"]> =>
  (prefix, ending, content) =>
    Effect.try({
      try: () => output.keep(prefix, ending, content),
      catch: (error) =>
        new FileError({ path: `${prefix}*.${ending}`, kind: "io", reason: error instanceof Error ? error.message : "" })
    })

interface CallOutput extends CallEnding {
  readonly stdout: string
  readonly stderr: string
  readonly images?: ReadonlyArray<CommandResult.Image>
}

/** The most characters of the images of one result, in base64. */
const mostImages = 20 * 1024 ** 2

/** Collects the images of one result, as many as it may hold. */
class Images {
  private size = 0
  private readonly all: Array<CommandResult.Image> = []

  /** Returns false where there is no room left for it. */
  add(image: CommandResult.Image): boolean {
    if (this.size + image.base64.length > mostImages) return false
    this.size += image.base64.length
    this.all.push(image)
    return true
  }

  take(): ReadonlyArray<CommandResult.Image> {
    this.size = 0
    return this.all.splice(0)
  }
}

const leftOut = ({ name }: CallRequest, path: string): string =>
  `${name}: ${FileFailure.printable(path)}: not shown: the images of one call are too large\n`

/** Converts the end of a command into what its caller prints; advice is worded for whoever reads it. */
const ending = (
  { name }: CallRequest,
  exit: Exit.Exit<CommandResult.CommandResult, CommandError>,
  audience: Advice.Audience
): CallOutput =>
  CommandExit.CommandExit.$match(CommandExit.fromExit(exit, `${name}:`, audience), {
    Completed: ({ result }) => ({ category: undefined, ...CommandResult.say(result, audience) }),
    Failed: (failed) => saying(failed.text, failed),
    // The caller has ended, or knows that it was interrupted.
    Interrupted: (interrupted) => saying("", interrupted),
    Died: (died) => saying(died.text, died)
  })

const saying = (text: string, end: { readonly exitCode: number; readonly category?: FailureCategory }): CallOutput => ({
  stdout: "",
  stderr: text === "" ? "" : `${text.trimEnd()}\n`,
  exitCode: end.exitCode,
  category: end.category
})
