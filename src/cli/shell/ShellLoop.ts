/**
 * Reads entries of a person and carries them out, until they leave.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as ExitCode from "../../domain/ExitCode.js"
import * as ForeignText from "../../domain/ForeignText.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import type { LineEditor } from "../../terminal/LineEditor.js"
import * as WordWrap from "../../terminal/WordWrap.js"
import * as CommandRun from "./CommandRun.js"
import type { Conversation } from "./Conversation.js"
import { Entry, read } from "./Entry.js"
import * as Interactive from "./Interactive.js"
import * as Interruption from "./Interruption.js"
import * as OwnCommand from "./OwnCommand.js"
import * as ShellHouse from "./ShellHouse.js"
import * as ShellPrompt from "./ShellPrompt.js"

/**
 * The dependencies of `run`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly house: ShellHouse.ShellHouse
  readonly editor: LineEditor
  readonly interruption: Interruption.Interruption
  /** Tells whether anything confines commands, before the house is there. */
  readonly isConfined: boolean
}

/** Loads the agent when it is asked first. */
const loadConversation = (house: ShellHouse.ShellHouse): Effect.Effect<Conversation> =>
  Effect.map(
    Effect.promise(() => import("./Conversation.js")),
    ({ make }) => make(house)
  )

/**
 * Reads entries and carries them out. Returns the exit code to leave with: that of the last command, or the one of
 * `/exit`.
 *
 * @since 0.1.0
 */
export const run = ({ editor, house, interruption, ...before }: Options): Effect.Effect<number> =>
  Effect.gen(function* () {
    const { home, renderer, terminal } = house
    let { directory: cwd } = house
    let { isConfined } = before
    let code: number = ExitCode.success
    const conversation = yield* Effect.cached(loadConversation(house))
    const print = (text: string) =>
      renderer.suspended(
        Effect.promise(async () => terminal.write(`${WordWrap.wrap(text, terminal.size().columns)}\n`))
      )

    const look = Effect.gen(function* () {
      const sandbox = yield* ShellHouse.service(house, SandboxManager)
      cwd = yield* sandbox.cwd
      isConfined = sandbox.conditions().confinement._tag !== "Open"
    })

    const command = (text: string, isInteractive: boolean) =>
      Effect.gen(function* () {
        code = yield* isInteractive ? CommandRun.inTerminal(text, house) : CommandRun.run(text, house, interruption)
        yield* look
      })

    /** Clears the screen and what has scrolled off it, as `clear` does, which sets `$?`. */
    const clear = Effect.gen(function* () {
      code = ExitCode.success
      yield* renderer.suspended(Effect.promise(async () => terminal.write(emptied)))
      yield* (yield* ShellHouse.service(house, SandboxManager)).setStatus(code)
    })

    /** Talks to the agent until Ctrl-C. */
    const talk = (use: (conversation: Conversation) => Effect.Effect<void>) =>
      Effect.gen(function* () {
        const runtime = yield* Effect.runtime<never>()
        const fiber = yield* Effect.fork(Effect.flatMap(conversation, use))
        const tell = () => void Runtime.runFork(runtime)(renderer.print(Interruption.unstopped))
        const [, interrupted] = yield* interruption.during(Fiber.await(fiber), Fiber.interrupt(fiber), tell)
        if (interrupted === "key") yield* print(Interruption.mark(terminal.isLive))
        yield* look
      })

    const own = (name: OwnCommand.Name, rest: string): Effect.Effect<unknown> => {
      switch (name) {
        case "ask":
          return rest === "" ? print(`Usage: ${OwnCommand.usage("ask")}`) : talk(({ ask }) => ask(rest))
        case "resume":
          return talk(({ resume }) => resume(rest))
        case "tty":
          return rest === "" ? print(`Usage: ${OwnCommand.usage("tty")}`) : command(rest, true)
        case "exit":
          return Effect.void
        default:
          if (name === "restart") code = ExitCode.success
          return Effect.flatMap(loadActions, ({ run }) => Effect.flatMap(run(name, rest, house), print)).pipe(
            Effect.zipRight(look)
          )
      }
    }

    for (;;) {
      const facts = { cwd, home, code, isConfined, isRoot: process.getuid?.() === 0, hasColours: terminal.isLive }
      // What runs in the background is not shown meanwhile.
      const entered = yield* renderer.suspended(editor.read(ShellPrompt.make(facts)))
      if (entered._tag === "Ended") return code
      if (entered._tag === "Interrupted") continue
      const entry = read(entered.text)
      if (entry._tag === "Own" && entry.name === "exit") {
        if (entry.rest === "") return code
        const left = exitCodeOf(entry.rest)
        if (left !== undefined) return left
        yield* print(`Usage: ${OwnCommand.usage("exit")}`)
        continue
      }
      yield* Entry.$match(entry, {
        Blank: () => Effect.void,
        // Where we may write no control sequence, the program itself may.
        Clear: () => (terminal.isLive ? clear : command("clear", true)),
        Command: ({ text }) => command(text, Interactive.test(text)),
        Own: ({ name, rest }) => own(name, rest),
        Unknown: ({ meant, name }) => {
          const hint = meant === undefined ? "/help lists what there is." : `Did you mean /${meant}?`
          return print(`synapse: There is no ${ForeignText.word(name)}. ${hint}`)
        }
      })
    }
  })

const emptied = "\x1b[H\x1b[2J\x1b[3J"

const loadActions = Effect.promise(() => import("./OwnActions.js"))

/** Reads the exit code of `/exit`; undefined where there is none. */
const exitCodeOf = (rest: string): number | undefined => (/^\d+$/.test(rest) ? Number(rest) & 0xff : undefined)
