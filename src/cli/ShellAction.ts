/** Runs `synapse shell`: the prompt comes at once, and the app is made behind it. */
import * as Path from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { CommandRegistry } from "../command/CommandRegistry.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Setting from "../domain/Setting.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import { layerNone, type Permission } from "../sandbox/permission/Permission.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import * as WordWrap from "../terminal/Columns.js"
import * as History from "../terminal/History.js"
import * as Keyboard from "../terminal/Keyboard.js"
import * as LineEditor from "../terminal/LineEditor.js"
import * as OpenText from "../terminal/OpenText.js"
import * as Terminal from "../terminal/Terminal.js"
import * as TerminalRenderer from "../terminal/TerminalRenderer.js"
import { App, end, type Invocation, print } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { tellOfNetwork } from "./SessionOptions.js"
import type { Stdio } from "./Stdio.js"
import * as Interruption from "./shell/Interruption.js"
import * as Resizing from "./shell/Resizing.js"
import type * as ShellApp from "./shell/ShellApp.js"
import * as ShellCompletion from "./shell/ShellCompletion.js"
import * as ShellLoop from "./shell/ShellLoop.js"
import { ShownTasks } from "./shell/ShownTasks.js"
import { TerminalHint } from "./shell/TerminalHint.js"

/** Tests whether a sandbox is wanted, before the app is there that decides it. */
const isWanted = (given: SessionOptions.Given) =>
  given.noSandbox
    ? Effect.succeed(false)
    : Effect.map(SandboxConfig.SandboxConfig, ({ peek }) =>
        Either.match(peek(), { onLeft: () => true, onRight: ({ enabled }) => enabled })
      )

/** Makes the app, and starts its shell, in the background. A wrong setting ends the whole program. */
const behind = (given: SessionOptions.Given, directory: string, permission: Layer.Layer<Permission>) =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const app = yield* App
    const scope = yield* Effect.scope
    const settings = SessionOptions.toSettings({ ...given, cwd: Option.some(directory) })
    // What it does keeps the prompt from being drawn.
    const made = Effect.gen(function* () {
      yield* Effect.sleep(afterPrompt)
      const services = yield* Layer.buildWithScope(app.layer(...settings, permission), scope)
      // No other command has this name.
      yield* Effect.orDie(Context.get(services, CommandRegistry).add(Resizing.make(terminal)))
      return services
    })
    const fiber = yield* Effect.forkIn(Scope.extend(made, scope), scope)
    const warmed = Effect.flatMap(Fiber.join(fiber), (services) =>
      // Where no sandbox can be made, the first command says so.
      Effect.ignore(
        Effect.flatMap(Context.get(services, SandboxManager).getSandbox(directory), ({ execute }) => execute(":"))
      )
    )
    yield* Effect.forkIn(Effect.ignore(warmed), scope)
    return { services: Effect.orDie(Fiber.join(fiber)), failing: Effect.zipRight(Fiber.join(fiber), Effect.never) }
  })

/** Milliseconds that the prompt has the program for itself. */
const afterPrompt = 10

const run = (given: SessionOptions.Given) =>
  Effect.gen(function* () {
    const { userHome } = yield* SandboxSettings.SandboxSettings
    const terminal = yield* Terminal.Terminal
    const keyboard = yield* Keyboard.Keyboard
    const renderer = yield* TerminalRenderer.TerminalRenderer
    const directory = yield* Option.match(given.cwd, {
      onNone: () => Effect.suspend(Setting.currentDirectory),
      onSome: (cwd) => Effect.sync(() => Path.resolve(cwd))
    })
    yield* tellOfNetwork(given.allowNetwork)
    const interruption = Interruption.make(keyboard)
    const permission = Option.contains(given.ask, "never")
      ? layerNone
      : PermissionPrompt.layerWithin({
          wrap: (question) => WordWrap.wrap(question, terminal.size().columns),
          hold: (question) =>
            interruption.whileRunning(renderer.suspended(keyboard.released(interruption.bySignal(question))), "deny")
        })
    const { failing, services } = yield* behind(given, directory, permission)
    const app: ShellApp.ShellApp = {
      terminal,
      keyboard,
      renderer,
      services,
      directory,
      home: userHome,
      tasks: new ShownTasks(renderer),
      terminalHint: new TerminalHint(),
      timeout: Option.getOrUndefined(given.timeout)
    }
    const editor = yield* LineEditor.make({ complete: ShellCompletion.make(app), isOpen: OpenText.isOpen })
    const isConfined = yield* isWanted(given)
    return yield* Effect.raceFirst(ShellLoop.run({ app, editor, interruption, isConfined }), failing)
  })

const layerTerminal = Layer.mergeAll(Keyboard.layerNode, TerminalRenderer.layerFromEnv).pipe(
  Layer.provideMerge(Terminal.layerNode("stdout"))
)

const layerHistory = Layer.unwrapEffect(
  Effect.map(SandboxSettings.SandboxSettings, ({ home }) => History.layer(Path.join(home, "history")))
)

const layer = Layer.mergeAll(layerTerminal, layerHistory, SandboxConfig.layer).pipe(
  Layer.provide(NodeFileSystem.layer),
  Layer.provideMerge(SandboxSettings.layerFromEnv())
)

/** Runs the shell, and sets the program's exit code to that of its last command. */
export const shell = (given: SessionOptions.Given): Effect.Effect<void, ConfigError, App | Invocation | Stdio> =>
  end<ConfigError, App | Stdio>(isTerminal() ? Effect.scoped(Effect.provide(run(given), layer)) : refused)

const isTerminal = () => process.stdin.isTTY === true && process.stdout.isTTY === true

const refused = Effect.as(
  print("stderr", "synapse: shell needs a terminal. For commands without one: synapse exec '<command>'"),
  ExitCode.wrongUsage
)
