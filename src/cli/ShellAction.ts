/** Runs `synapse shell`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CallContext from "../domain/CallContext.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Setting from "../domain/Setting.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import { layerNone } from "../sandbox/permission/Permission.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import * as TerminalQuestion from "../sandbox/permission/TerminalQuestion.js"
import * as Columns from "../terminal/Columns.js"
import * as History from "../terminal/History.js"
import * as Keyboard from "../terminal/Keyboard.js"
import * as Terminal from "../terminal/Terminal.js"
import * as TerminalRenderer from "../terminal/TerminalRenderer.js"
import { App, print } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { tellOfNetwork } from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"
import { EntryReader } from "./shell/EntryReader.js"
import * as Interruption from "./shell/Interruption.js"
import { PersonTerminal } from "./shell/PersonTerminal.js"
import { ShellApp } from "./shell/ShellApp.js"
import * as ShellLoop from "./shell/ShellLoop.js"
import { ShownTasks } from "./shell/ShownTasks.js"

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
    const reader = new EntryReader(yield* History.History)
    const runtime = yield* Effect.runtime<never>()
    const definitions = () => reader.definitions()
    const screen = new PersonTerminal({ terminal, keyboard, renderer, interruption, runtime, definitions })
    let isWhole = false
    const whole = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      renderer.suspended(
        Effect.acquireUseRelease(
          Effect.sync(() => {
            isWhole = true
          }),
          () => effect,
          () =>
            Effect.sync(() => {
              isWhole = false
            })
        )
      )
    /** Gives the terminal to a question of the program, and redraws the screen afterwards. */
    const asked = <A>(question: Effect.Effect<A>, otherwise: A) => {
      const free = screen.whileAsked(keyboard.released(interruption.bySignal(question)))
      return Effect.ensuring(
        interruption.whileRunning(isWhole ? free : renderer.suspended(free), otherwise),
        Effect.sync(() => screen.session.redraw())
      )
    }
    const wrap = (question: string) => Columns.wrap(question, terminal.size().columns)
    const permission = Option.contains(given.ask, "never")
      ? layerNone
      : PermissionPrompt.layerWithin({ wrap, hold: (question) => asked(question, "deny") })
    const [session, sandbox] = SessionOptions.toSettings({ ...given, cwd: Option.some(directory) })
    const app = yield* App
    const services = yield* Layer.build(app.layer({ ...session, terminal: screen.session }, sandbox, permission))
    const shell = ShellApp.of({
      terminal,
      renderer,
      interruption,
      screen,
      directory,
      home: userHome,
      tasks: new ShownTasks(renderer),
      timeout: Option.getOrUndefined(given.timeout),
      whole,
      confirm: (question) =>
        Effect.map(asked(TerminalQuestion.ask(wrap(`${question} [y/N] `)), Option.none()), (line) =>
          Option.exists(line, (text) => /^y(?:es)?$/i.test(text.trim()))
        )
    })
    const { write } = yield* Stdio
    // Called when the sandbox ends, with what it takes back.
    const listener = { onHint: (text: string) => void write("stderr", `synapse: ${text}\n`) }
    const loop = ShellLoop.run(reader).pipe(
      Effect.provideService(ShellApp, shell),
      Effect.provide(services),
      CallContext.locally({ listener })
    )
    return yield* Effect.raceFirst(loop, Effect.as(keyboard.ended, ExitCode.failure))
  })

const layerTerminal = TerminalRenderer.layerFromEnv.pipe(
  Layer.provideMerge(Terminal.layerNode("stdout")),
  Layer.merge(Keyboard.layerNode)
)

const layerHistory = Layer.unwrapEffect(
  Effect.map(SandboxSettings.SandboxSettings, ({ home }) => History.layer(Path.join(home, "history")))
)

const layer = Layer.mergeAll(layerTerminal, layerHistory).pipe(Layer.provideMerge(SandboxSettings.layerFromEnv()))

/** Runs the shell, and returns the exit code of its last command. */
export const shell = (given: SessionOptions.Given): Effect.Effect<number, ConfigError, App | Stdio> =>
  Effect.flatMap(hasScript, (hasScript): Effect.Effect<number, ConfigError, App | Stdio> => {
    if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
      return refused("a terminal. For commands without one: synapse exec '<command>'", ExitCode.wrongUsage)
    return hasScript
      ? Effect.scoped(Effect.provide(run(given), layer))
      : refused("the program script, of util-linux, which makes its terminal", ExitCode.failure)
  })

const hasScript = Effect.map(Config.withDefault(Config.string("PATH"), ""), (path) =>
  path.split(Path.delimiter).some((place) => Fs.existsSync(Path.join(place, "script")))
)

const refused = (what: string, code: number) => Effect.as(print("stderr", `synapse: shell needs ${what}`), code)
