/** Runs the command of `synapse exec`. */
import { randomUUID } from "node:crypto"
import type { FileSystem } from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { CommandLine } from "../bash/CommandLine.js"
import * as Advice from "../domain/Advice.js"
import * as CallContext from "../domain/CallContext.js"
import type * as CommandListener from "../domain/CommandListener.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Setting from "../domain/Setting.js"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import { SessionJobs } from "../session/JobTable.js"
import * as PlainCommand from "../toolset/PlainCommand.js"
import { App, WrongUsage } from "./Invocation.js"
import type * as LiveTasks from "./LiveTasks.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import * as TaskRetries from "./TaskRetries.js"

/** Loaded only when needed, since each module slows the start. */
const loadScreen = Effect.promise(() => import("./Screen.js"))
const loadTasks = Effect.promise(() => import("./LiveTasks.js"))
const loadToolRun = Effect.promise(() => import("./ToolRun.js"))
const loadPrompt = Effect.promise(() => import("../sandbox/permission/PermissionPrompt.js"))

/** Runs a command in a session of the daemon, which it opens if necessary. */
const inSession = (name: string, command: string, json: boolean, given: SessionOptions.Named) =>
  Effect.gen(function* () {
    const { layer, sessions } = yield* App
    const stdio = yield* Stdio
    if (sessions === undefined) {
      return yield* new WrongUsage({ message: "--session works in the program synapse, as it is installed." })
    }
    if (SessionOptions.isTold(given.ask)) {
      return yield* new WrongUsage({ message: "--ask terminal has no effect with --session: nobody is asked there." })
    }
    const here = yield* currentDirectory
    const directory = Option.getOrElse(given.cwd, () => here)
    const [, sandbox] = SessionOptions.toSettings(given)
    const isPlain = SessionOptions.onlyInSandbox(given) === undefined && !given.noSandbox && Option.isNone(given.cwd)
    const request = {
      directory,
      options: isPlain ? undefined : JSON.stringify([given.cwd, sandbox]),
      layer: Layer.merge(
        Layer.effectDiscard(Effect.provideService(SessionOptions.tell(given), Stdio, stdio)),
        layer({ ...SessionOptions.withoutFiles, cwd: directory }, sandbox)
      )
    }
    const { handle } = yield* loadToolRun
    const call = {
      id: randomUUID(),
      name: "Bash",
      arguments: JSON.stringify({ command, timeout: Option.getOrUndefined(given.timeout) })
    }
    const running = sessions.use(
      name,
      request,
      Effect.provideService(handle(call, json, { session: name }), Stdio, stdio)
    )
    return yield* CallContext.locally(running, { stdin: stdio.hasInput() ? stdio.pull : undefined }).pipe(
      Effect.catchTag("Refused", ({ message }) => new WrongUsage({ message, hasForm: true }))
    )
  })

const currentDirectory = Effect.flatMap(UserEnvironment, ({ directory }) => Setting.currentDirectory(directory))

/** Runs one command in its own shell or in a session, and returns its exit code. */
export const exec = (
  command: string,
  json: boolean,
  given: SessionOptions.Named
): Effect.Effect<number, ConfigError | WrongUsage, App | FileSystem | Stdio> =>
  Option.match(given.session, {
    onNone: () => alone(command, json, given),
    onSome: (name) => inSession(name, command, json, given)
  })

const alone = (...given: Parameters<typeof run>): Effect.Effect<number, ConfigError, App | FileSystem | Stdio> =>
  Effect.flatMap(Stdio, (stdio) =>
    stdio.isTerminal("stdout") || stdio.isTerminal("stderr")
      ? Effect.flatMap(
          Effect.flatMap(loadScreen, ({ over }) => over(stdio)),
          (screen) => Effect.provideService(run(...given), Stdio, screen)
        )
      : run(...given)
  ).pipe(Effect.scoped)

const run = (
  command: string,
  json: boolean,
  given: SessionOptions.Given
): Effect.Effect<number, ConfigError, App | FileSystem | Scope.Scope | Stdio> =>
  Effect.gen(function* () {
    const app = yield* App
    const stdio = yield* Stdio
    const tasks = stdio.isTerminal("stderr") ? yield* Effect.flatMap(loadTasks, ({ make }) => make) : undefined
    const permission = (yield* SessionOptions.isAsked(given.ask))
      ? (yield* loadPrompt).layerWithin({
          endsAtOnce: true,
          ...(tasks === undefined ? undefined : { hold: tasks.hold })
        })
      : undefined
    const settings = SessionOptions.toSettings(given, SessionOptions.endsAtOnce)
    const timeout = Option.getOrUndefined(given.timeout)
    const plain = json ? undefined : PlainCommand.read(command)
    const running =
      plain !== undefined
        ? Effect.provide(
            Effect.zipRight(SessionOptions.tellOf(given), runPlain(plain, timeout, tasks)),
            app.shell(...settings, permission)
          )
        : Effect.flatMap(Effect.zipRight(SessionOptions.tell(given), loadToolRun), ({ handle }) =>
            handle(
              // The call needs the timeout too, because a Synapse command has none by default.
              { id: "exec", name: "Bash", arguments: JSON.stringify({ command, timeout }) },
              json,
              { tasks, endsAtOnce: true }
            )
          ).pipe(Effect.provide(app.layer(...settings, permission)))
    return yield* CallContext.locally(running, { stdin: stdio.hasInput() ? stdio.pull : undefined })
  })

/** Runs a command that needs the shell only. */
const runPlain = (
  line: CommandLine,
  timeout: number | undefined,
  tasks: LiveTasks.LiveTasks | undefined
): Effect.Effect<number, never, SandboxManager | SessionJobs | Stdio> =>
  Effect.gen(function* () {
    const { write } = yield* Stdio
    const manager = yield* SandboxManager
    let partial: CommandResult | undefined
    const listener: CommandListener.CommandListener = {
      onOutput: write,
      onSubAgent: TaskRetries.listener(write),
      ...tasks?.listener,
      takesAll: true,
      audience: Advice.person,
      // Called when the sandbox ends, with what it takes back.
      onHint: (text) => void write("stderr", `synapse: ${text}\n`),
      onInterrupted: (result) => {
        partial = result
      }
    }
    const table = yield* SessionJobs
    const ran = CallContext.locally(manager.execute(line.text, { line, timeout }), { listener })
    const exit = yield* Effect.exit(Effect.map(ran, (result) => ({ ...result, jobs: table.takeNews() })))
    if (tasks !== undefined) yield* tasks.end
    const isSilent =
      Exit.isSuccess(exit) &&
      exit.value.exitCode === ExitCode.success &&
      exit.value.blocked !== true &&
      exit.value.jobs.length === 0 &&
      exit.value.denied === undefined &&
      exit.value.diagnostics === undefined
    if (isSilent) return ExitCode.success
    return yield* Effect.flatMap(loadToolRun, ({ reportExit }) => reportExit(line, exit, partial))
  })
