/** Makes the registry's commands callable from anywhere in a shell. */

import * as Arr from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type { CommandCall, Handler, Program } from "../command/CommandHandler.js"
import { isLineHandler } from "../command/CommandHandler.js"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as UnknownCommand from "../command/UnknownCommand.js"
import type * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import type { CommandError, FailureCategory } from "../domain/CommandError.js"
import { CommandNotFound } from "../domain/CommandError.js"
import * as CommandExit from "../domain/CommandExit.js"
import type { CommandInput } from "../domain/CommandInput.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as FileFailure from "../files/FileFailure.js"
import type { Files } from "../files/Files.js"
import { FileError } from "../files/Files.js"
import type { FifoSink } from "../session/Fifo.js"
import type { OutputFiles } from "../session/OutputFiles.js"
import type { CallEnding, CallerFacts } from "../session/ShellBridge.js"
import { ShellBridge } from "../session/ShellBridge.js"
import type { BridgeCall, BridgeCommands, Callable } from "./internal/BridgeCall.js"
import * as CallServer from "./internal/CallServer.js"
import type { FifoSource } from "./internal/Fifo.js"
import { Gone } from "./internal/Fifo.js"
import type { CallRequest } from "./internal/StubDialog.js"
import { Refused } from "./internal/StubDialog.js"

/** Returns a call's standard input, which is opened when it is first read. */
const standardInput = (call: BridgeCall): CommandInput =>
  Stream.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(
        Effect.catchAll(
          Effect.try(() => call.input()),
          () => Effect.interrupt
        ),
        (source) => Effect.sync(() => source.close())
      ),
      bytes
    )
  )

const bytes = (source: FifoSource): Stream.Stream<Uint8Array> =>
  Stream.repeatEffectChunkOption(
    Effect.flatMap(
      Effect.promise(() => source.next()),
      (chunks) => (chunks === undefined ? Effect.fail(Option.none()) : Effect.succeed(Chunk.unsafeFromArray(chunks)))
    )
  )

/** Turns a refusal into a FileError. If the caller has ended, interrupts the command, since nobody waits for it. */
const toFileError =
  (path: string) =>
  (error: Refused | Gone): Effect.Effect<never, FileError> =>
    error instanceof Refused
      ? new FileError({ path, kind: kinds.find((kind) => kind === error.kind) ?? "io", reason: error.reason })
      : Effect.interrupt

const kinds = ["missing", "directory", "denied", "special", "io", "partial"] as const

/** Makes a call's files. All calls change files one at a time, by the semaphore `changing`. */
const makeBridgeFiles = (call: BridgeCall, changing: Effect.Semaphore): Files => {
  /** The number of active `exclusive` calls. A write within one takes no turn, since it would wait for its own call. */
  let held = 0

  /** Runs an effect in its turn. A waiting effect gives up when its caller ends. */
  const inTurn = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    held > 0 ? effect : changing.withPermits(1)(effect)

  const ask = <A>(path: string, question: () => Promise<A>) =>
    Effect.catchAll(
      Effect.tryPromise({ try: question, catch: (error) => (error instanceof Refused ? error : new Gone()) }),
      toFileError(path)
    )

  const discarded = (file?: FifoSink) => Effect.promise(() => call.discard(file).catch(() => {}))

  const apply = (paths: ReadonlyArray<string>) =>
    inTurn(
      Effect.uninterruptible(
        Effect.catchAll(
          ask("", () => call.apply()),
          ({ kind, reason }) => {
            const [, index, what] = /^(\d+)\/(.*)$/s.exec(reason) ?? []
            return new FileError({ path: paths[Number(index)] ?? "", kind, reason: what ?? reason })
          }
        )
      )
    )

  const writeAll: Files["writeAll"] = (changes) => {
    const ready = Effect.forEach(
      changes,
      ({ content, mode = "", path }) =>
        ask(path, () => (content === undefined ? call.doom(path) : call.put(path, mode, content))),
      { discard: true }
    )
    return Effect.onExit(Effect.zipRight(ready, apply(changes.map(({ path }) => path))), (exit) =>
      Exit.isSuccess(exit) ? Effect.void : discarded()
    )
  }

  return {
    read: (path, options = {}) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const source = yield* ask(path, () => call.read(path, options))
          if (source instanceof Uint8Array) return source.length === 0 ? Stream.empty : Stream.succeed(source)
          let isEnded = false
          const end = Effect.suspend(() => {
            if (isEnded) return Effect.void
            isEnded = true
            source.close()
            return ask(path, () => call.endRead())
          })
          yield* Effect.addFinalizer(() => Effect.ignore(end))
          return Stream.concat(bytes(source), Stream.execute(end))
        })
      ),
    write: (path, content, { mode = "" } = {}) =>
      content instanceof Uint8Array
        ? writeAll([{ path, content, mode }])
        : Effect.acquireUseRelease(
            ask(path, () => call.begin(path, mode)),
            (file) =>
              // Not `runForEachWhile`, which keeps all chunks in memory until its end in effect 3.22.
              Stream.takeUntilEffect(content, (chunk) => ask(path, async () => !(await file.write(chunk)))).pipe(
                Stream.runDrain,
                Effect.zipRight(ask(path, () => call.stage(file))),
                Effect.zipRight(apply([path]))
              ),
            (file, exit) => (Exit.isSuccess(exit) ? Effect.void : discarded(file))
          ),
    writeAll,
    exit: (path) =>
      Effect.map(
        ask(path, () => call.exit(path)),
        (link) => (link === "" ? undefined : link)
      ),
    mode: (path) => ask(path, () => call.mode(path)),
    exclusive: (effect) =>
      inTurn(
        Effect.suspend(() => {
          held++
          return Effect.ensuring(
            effect,
            Effect.sync(() => void held--)
          )
        })
      )
  }
}

/** Makes the registry's commands callable, as registered at the time of each call. */
export const make: Effect.Effect<BridgeCommands, never, CommandRegistry> = Effect.gen(function* () {
  const registry = yield* CommandRegistry
  const runtime = yield* Effect.runtime()
  const audience = yield* CallContext.get("audience")
  const changing = Effect.unsafeMakeSemaphore(1)
  const ended: Array<CallEnding & Pick<CallRequest, "mark">> = []
  const images = new Images()
  let last: (Callable & { readonly handlers: ReadonlyArray<Handler> }) | undefined

  const callable = (): Callable => {
    const handlers = registry.list()
    if (last?.handlers !== handlers) {
      const [exact, prefixed] = Arr.partition(
        handlers.filter((handler) => !isLineHandler(handler)),
        ({ name }) => name.endsWith("*")
      )
      last = { handlers, names: exact.map(({ name }) => name), prefixed }
    }
    return last
  }

  return {
    callable,
    run: (call, request, around, output) => {
      const fiber = Runtime.runFork(runtime)(
        CallContext.locally(
          run(
            registry.find(request.name),
            call,
            toCommandCall(call, request, around, { output, changing }),
            registry.listed()
          ),
          { listener: CommandListener.ofProgress(around.listener ?? {}), within: around.within }
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
    takeCalls: (mark) => {
      if (ended.length === 0) return CallServer.noCalls
      // A background call of another line may end at any time.
      const called = ended.splice(0).findLast((call) => call.mark === undefined || call.mark === mark)
      return { called, images: images.take() }
    }
  }
})

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

/** Makes the caller become a program, which then ends on its own. Nobody sees this result. */
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
  { input, room }: CallerFacts,
  { changing, output }: { readonly output: OutputFiles; readonly changing: Effect.Semaphore }
): CommandCall => ({
  name: request.name,
  args: request.args,
  cwd: request.cwd,
  stdin: request.hasInput ? standardInput(call) : input,
  ...(request.isShown && room !== undefined ? { room } : undefined),
  write: (chunk) =>
    Effect.catchAll(
      Effect.tryPromise(() => call.print(chunk)),
      () => Effect.interrupt
    ),
  files: makeBridgeFiles(call, changing),
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

/** The most base64 characters of images in one result. */
const mostImages = 20 * 1024 ** 2

/** Collects the images of one result, up to a size limit. */
class Images {
  private size = 0
  private readonly all: Array<CommandResult.Image> = []

  /** Returns false if there is no room for the image. */
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

/** Turns a command's end into what its caller prints. Advice is worded for the audience. */
const ending = (
  { name }: CallRequest,
  exit: Exit.Exit<CommandResult.CommandResult, CommandError>,
  audience: Advice.Audience
): CallOutput =>
  Exit.match(exit, {
    onSuccess: (result) => ({ category: undefined, ...CommandResult.say(result, audience) }),
    onFailure: (cause) => {
      const ended = CommandExit.fromCause(cause, `${name}:`, audience)
      // After an interruption, the caller has ended or knows of it.
      return saying(ended._tag === "Interrupted" ? "" : ended.text, ended)
    }
  })

const saying = (text: string, end: { readonly exitCode: number; readonly category?: FailureCategory }): CallOutput => ({
  stdout: "",
  stderr: text === "" ? "" : `${text.trimEnd()}\n`,
  exitCode: end.exitCode,
  category: end.category
})

/** A layer of the bridge to the registry's commands, as registered at the time of each call. */
export const layer: Layer.Layer<ShellBridge, never, CommandRegistry> = Layer.effect(
  ShellBridge,
  Effect.map(make, CallServer.make)
)
