/**
 * A client of the daemon that keeps the sessions of `synapse exec --session`.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import type * as Net from "node:net"
import * as Path from "node:path"
import * as Url from "node:url"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Struct from "effect/Struct"
import * as CallContext from "../domain/CallContext.js"
import * as CommandListener from "../domain/CommandListener.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ToolReturn from "../toolset/ToolReturn.js"

/**
 * The daemon did not run a command to its end. `Unavailable`: no daemon could be used, and nothing ran. `Refused`: the
 * session can't be opened or used like this, and nothing ran. `Lost`: the daemon ended, and the running command with
 * it.
 *
 * @since 0.1.0
 * @category errors
 */
export class DaemonError extends Data.TaggedError("DaemonError")<{
  readonly reason: "Unavailable" | "Refused" | "Lost"
  readonly message: string
}> {}

/**
 * Options that open a session, like those of `synapse exec`. For an open session, give the same options or none.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The directory that its shell starts in; by default, the program's own. */
  readonly cwd?: string
  /** Runs commands without a sandbox if false. */
  readonly sandbox?: false
  /** Paths that commands may write, besides the directory. */
  readonly allow?: ReadonlyArray<string>
  /** Paths that commands may read although a built-in rule hides them. */
  readonly allowRead?: ReadonlyArray<string>
  /** Paths and patterns that commands may neither read nor write. */
  readonly deny?: ReadonlyArray<string>
  /** Hosts that commands may reach. */
  readonly allowedHosts?: ReadonlyArray<string>
  /** Names of variables that commands get, even if they look like secrets. */
  readonly env?: ReadonlyArray<string>
}

/**
 * A named session. The first command opens it, and starts the daemon if none is running.
 *
 * @since 0.1.0
 * @category models
 */
export interface Session {
  readonly name: string
  /**
   * Runs a command after the session's earlier ones. `CallContext.locally` sets a timeout, and a listener that hears
   * the output as it comes. Interruption ends the command before it returns; the session goes on.
   */
  readonly run: (command: string) => Effect.Effect<ToolReturn.ToolReturn, DaemonError>
  /**
   * Ends the session and everything that runs in it; a running command returns exit code 130. Returns false if it is
   * not open.
   */
  readonly close: Effect.Effect<boolean, DaemonError>
}

/**
 * An open session.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listed {
  readonly name: string
  readonly directory: string
  /** The number of running and waiting commands. */
  readonly running: number
  /** Milliseconds since the last command ended; 0 while one runs. */
  readonly idle: number
}

/**
 * Uses the daemon's sessions, like `synapse exec --session`.
 *
 * @example
 * ```ts
 * import * as SynapseClient from "synapse-shell/SynapseClient"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const client = yield* SynapseClient.SynapseClient
 *   const session = client.session("work")
 *   yield* session.run("cd src; count=1")
 *   const { output } = yield* session.run("echo $count in ${PWD##*\/}")
 *   return output
 * }).pipe(Effect.provide(SynapseClient.layer()))
 * ```
 *
 * @since 0.1.0
 * @category tags
 */
export class SynapseClient extends Context.Tag("synapse/SynapseClient")<
  SynapseClient,
  {
    /** Names a session, with letters, digits, dots, dashes and underscores. It opens nothing. */
    readonly session: (name: string, options?: Options) => Session
    /** Lists the open sessions. It does not start the daemon. */
    readonly list: Effect.Effect<ReadonlyArray<Listed>, DaemonError>
  }
>() {}

/**
 * The settings of a client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** The path of the program `synapse` that runs as the daemon; by default, this package's. */
  readonly program?: string
}

/** What `bin/client.cjs` exports for long-running programs. */
interface Wire {
  readonly frame: (kind: string) => Buffer
  readonly reach: (
    wanted: { readonly words: ReadonlyArray<string>; readonly isTyped: true },
    starts: boolean,
    tell: (text: string) => void
  ) => Promise<{ readonly socket: Net.Socket; readonly rest: Buffer } | string | undefined>
  readonly read: (
    socket: Net.Socket,
    input: Buffer,
    take: (kind: string, body: Buffer, next: () => void) => boolean,
    lose: () => void
  ) => void
}

const missing = "The program synapse is not beside this module: set program to its path."

/** Loads the client of the program's build, since each build has its own daemon. */
const load = ({ program }: Settings) =>
  Effect.try({
    try: (): Wire => {
      const directory =
        program === undefined
          ? Path.join(Path.dirname(Url.fileURLToPath(import.meta.url)), "../bin")
          : Path.dirname(Fs.realpathSync(program))
      const file = Path.join(directory, "client.cjs")
      return createRequire(file)(file)
    },
    catch: () => new DaemonError({ reason: "Unavailable", message: missing })
  })

/** What a client has received when its words have run. */
interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly result: ToolReturn.ToolReturn | undefined
}

const lost = "The daemon ended while the command ran, and ended it: its session is gone."

/**
 * Talks to the daemon until the words have run there. Returns undefined if no daemon runs and none should be started.
 */
const speak = (
  wire: Wire,
  words: ReadonlyArray<string>,
  starts: boolean,
  listener: CommandListener.CommandListener
): Effect.Effect<Answer | undefined, DaemonError> =>
  Effect.async((resume) => {
    const over = Deferred.unsafeMake<void>(FiberId.none)
    let socket: Net.Socket | undefined
    let isStopped = false
    let result: ToolReturn.ToolReturn | undefined
    const end = (exit: Exit.Exit<Answer | undefined, DaemonError>) => {
      socket?.destroy()
      Deferred.unsafeDone(over, Effect.void)
      resume(exit)
    }
    const fail = (reason: DaemonError["reason"], message: string) =>
      end(Exit.fail(new DaemonError({ reason, message })))
    const said = { 1: "", 2: "" }
    const take = (kind: string, body: Buffer, next: () => void): boolean => {
      if (kind === "1" || kind === "2") said[kind] += body.toString()
      else if (kind === "J") result = JSON.parse(body.toString())
      else if (kind === "o" || kind === "e") {
        const taken = isStopped ? undefined : listener.onOutput?.(kind === "o" ? "stdout" : "stderr", body)
        if (taken !== undefined) void taken.then(next, next)
        return taken === undefined
      } else if (kind === "X") {
        end(Exit.succeed({ code: body[0] ?? ExitCode.failure, stdout: said[1], stderr: said[2], result }))
      }
      return true
    }
    const begin = async () => {
      const answer = await wire.reach({ words, isTyped: true }, starts, () => {})
      if (typeof answer === "string") return fail("Unavailable", answer)
      if (answer === undefined) return end(Exit.succeed(undefined))
      socket = answer.socket
      if (isStopped) socket.write(wire.frame("S"))
      wire.read(socket, answer.rest, take, () => fail("Lost", lost))
    }
    begin().catch((error) => fail("Unavailable", String(error)))
    return Effect.suspend(() => {
      isStopped = true
      socket?.write(wire.frame("S"))
      return Effect.map(Deferred.await(over), () => {
        const partial = Struct.pick(result?.extras ?? {}, "diagnostics", "stdout", "stderr")
        listener.onInterrupted?.(CommandResult.make(result === undefined ? { began: false } : partial))
      })
    })
  })

const wordsOf = ({ allow = [], allowedHosts = [], allowRead = [], cwd, deny = [], env = [], sandbox }: Options) => [
  ...(cwd === undefined ? [] : [`--cwd=${cwd}`]),
  ...(sandbox === false ? ["--no-sandbox"] : []),
  ...allow.map((path) => `--allow=${path}`),
  ...allowRead.map((path) => `--allow-read=${path}`),
  ...deny.map((pattern) => `--deny=${pattern}`),
  ...allowedHosts.map((host) => `--allow-host=${host}`),
  ...env.map((name) => `--env=${name}`)
]

/** Extracts the reason from the program's message. */
const reasonOf = ({ stderr }: Answer): string =>
  stderr
    .replace(/^synapse: /, "")
    .replace(/\nUsage:.*/s, "")
    .trim()

const resultOf = (answer: Answer): Exit.Exit<ToolReturn.ToolReturn, DaemonError> => {
  if (answer.result !== undefined) return Exit.succeed(answer.result)
  // The session ended while the command waited.
  if (answer.code === ExitCode.interrupted) {
    const partial = CommandResult.make({ began: false })
    return Exit.succeed(ToolReturn.fromExit({ id: "", name: "Bash" }, Exit.interrupt(FiberId.none), { partial }))
  }
  const reason = answer.code === ExitCode.wrongUsage ? "Refused" : "Lost"
  return Exit.fail(new DaemonError({ reason, message: reasonOf(answer) }))
}

/**
 * Makes a client.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (settings: Settings = {}): Context.Tag.Service<SynapseClient> => {
  const call = (words: ReadonlyArray<string>, starts: boolean, listener: CommandListener.CommandListener = {}) =>
    Effect.flatMap(load(settings), (wire) => speak(wire, words, starts, listener))

  return {
    session: (name, options = {}) => ({
      name,
      run: (command) =>
        Effect.gen(function* () {
          const listener = yield* FiberRef.get(CommandListener.current)
          const timeout = yield* CallContext.get("timeout")
          const words = [
            ...["exec", `--session=${name}`, "--json", ...wordsOf(options)],
            ...(timeout === undefined ? [] : [`--timeout=${timeout}`]),
            ...["--", command]
          ]
          const answer = yield* call(words, true, listener)
          if (answer === undefined) return yield* new DaemonError({ reason: "Unavailable", message: missing })
          return yield* resultOf(answer)
        }),
      close: Effect.map(call(["daemon", "stop", name], false), (answer) => answer?.code === ExitCode.success)
    }),
    list: Effect.map(call(["daemon", "list", "--json"], false), (answer) => JSON.parse(answer?.stdout ?? "[]"))
  }
}

/**
 * A layer of a client. It can't fail: the command that needs the daemon reports what is wrong with it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Settings = {}): Layer.Layer<SynapseClient> =>
  Layer.sync(SynapseClient, () => make(settings))
