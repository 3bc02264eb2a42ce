/** Reads a person's entries and runs them, until the person leaves. */

import * as Fs from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Similar from "../../domain/Similar.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as Columns from "../../terminal/Columns.js"
import * as CommandRun from "./CommandRun.js"
import type { Conversation } from "./Conversation.js"
import type { EntryReader } from "./EntryReader.js"
import * as OwnCommand from "./OwnCommand.js"
import * as PolicyText from "./PolicyText.js"
import { type Services, ShellApp } from "./ShellApp.js"

export type Entry = Data.TaggedEnum<{
  Blank: Record<never, never>
  /** A command line for the session's shell. */
  Command: { readonly text: string }
  /** One of the shell's own commands, with the text after its name. */
  Own: { readonly name: OwnCommand.Name; readonly rest: string }
  /** A word like `/halp`, which is neither one of the shell's own commands nor a file. */
  Unknown: { readonly name: string; readonly meant: string | undefined }
}>

export const Entry = Data.taggedEnum<Entry>()

/** Parses an entry. `?` begins a question, a path that begins with `/` is a command line, and `exit` alone leaves. */
export const read = (text: string): Entry => {
  const trimmed = text.trim()
  if (trimmed === "") return Entry.Blank()
  // A pattern of one character (`?`) is hardly ever a command.
  if (trimmed.startsWith("?")) return Entry.Own({ name: "ask", rest: trimmed.slice(1).trim() })
  // In the session, `exit` would start a new shell, but a person means to leave.
  const [left, code = ""] = /^(?:exit|logout)(?:\s+(\d+))?$/.exec(trimmed) ?? []
  if (left !== undefined) return Entry.Own({ name: "exit", rest: code })
  const [, name, rest = ""] = /^\/([A-Za-z][\w-]*)(?=\s|$)([\s\S]*)$/.exec(trimmed) ?? []
  if (name === undefined) return Entry.Command({ text })
  if (OwnCommand.isName(name)) return Entry.Own({ name, rest: rest.trim() })
  if (Fs.existsSync(`/${name}`)) return Entry.Command({ text })
  return Entry.Unknown({ name: `/${name}`, meant: meantBy(name) })
}

/** Returns the nearest name. There are so few that one or two letters may differ. */
const meantBy = (name: string): string | undefined => {
  const [near] = Similar.likely(name, OwnCommand.names)
  const most = name.length > 4 ? 2 : 1
  return near ?? OwnCommand.names.find((one) => Similar.distance(name.toLowerCase(), one) <= most)
}

interface Facts {
  readonly cwd: string
  readonly home: string
  /** The exit code of the last command. */
  readonly code: number
  readonly isConfined: boolean
  readonly isRoot: boolean
  /** True if control sequences may be written. */
  readonly hasColours: boolean
}

/** A terminal with fewer rows has no room for a line about the sandbox. */
const fewestRows = 10

/** The most characters of the directory in the prompt. */
const longest = 60

const directoryOf = (cwd: string, home: string): string => {
  const isBelow = home.length > 1 && (cwd === home || cwd.startsWith(`${home}/`))
  const short = isBelow ? `~${cwd.slice(home.length)}` : cwd
  return UntrustedText.word(short.length <= longest ? short : `…${short.slice(-longest)}`, longest + 1)
}

/** Makes the prompt, with its styles marked for readline. It shows a non-zero exit code, and a missing sandbox. */
export const makeShellPrompt = ({ code, cwd, hasColours, home, isConfined, isRoot }: Facts): string => {
  const styled = (style: string, text: string) => (hasColours ? `\x01\x1b[${style}m\x02${text}\x01\x1b[m\x02` : text)
  return [
    styled("1;34", directoryOf(cwd, home)),
    ...(isConfined ? [] : [styled("1;33", "NO SANDBOX")]),
    ...(code === 0 ? [] : [styled("31", `[${code}]`)]),
    isRoot ? "# " : "$ "
  ].join(" ")
}

/** Loads the agent at the first question. */
const loadConversation: Effect.Effect<Conversation["Type"], never, Services> = Effect.flatMap(
  Effect.promise(() => import("./Conversation.js")),
  ({ Conversation, layer }) => Effect.provide(Conversation, layer)
)

/** Reads entries and runs them. Returns the exit code of the last command, or of `/exit`. */
export const run = (reader: EntryReader): Effect.Effect<number, never, Services> =>
  Effect.gen(function* () {
    const app = yield* ShellApp
    const sandbox = yield* SandboxManager
    const { home, interruption, renderer, screen, terminal } = app
    let { directory: cwd } = app
    let isConfined = false
    let code: number = ExitCode.success
    const conversation = yield* Effect.cached(loadConversation)
    const print = (text: string) =>
      renderer.suspended(Effect.promise(async () => terminal.write(`${Columns.wrap(text, terminal.size().columns)}\n`)))

    const look = Effect.gen(function* () {
      cwd = yield* sandbox.cwd
      isConfined = sandbox.conditions().confinement?._tag !== "Open"
    })

    const command = (text: string) =>
      Effect.gen(function* () {
        code = yield* CommandRun.run(text)
        yield* look
      })

    /** Runs an effect until Ctrl-C. */
    const interruptible = (effect: Effect.Effect<void, never, Services>) =>
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(effect)
        const [, interrupted] = yield* interruption.during(Fiber.await(fiber), Fiber.interrupt(fiber))
        screen.agentRuns(0)
        if (interrupted === "key") yield* print("^C")
        yield* look
      })

    const own = (name: OwnCommand.Name, rest: string): Effect.Effect<void, never, Services> => {
      // A command may have written the entry into the terminal.
      if (!screen.takeEnter()) return print(`synapse: Not run, since nobody has pressed Enter: /${name}`)
      switch (name) {
        case "exit":
          return Effect.void
        case "ask":
          return rest === ""
            ? print(`Usage: ${OwnCommand.usage("ask")}`)
            : interruptible(Effect.flatMap(conversation, ({ ask }) => ask(rest)))
        case "resume":
          return interruptible(Effect.flatMap(conversation, ({ resume }) => resume(rest)))
        default:
          if (name === "restart") code = ExitCode.success
          return interruptible(Effect.flatMap(loadActions, ({ run }) => Effect.flatMap(run(name, rest), print)))
      }
    }

    let isWarned = false
    /** Warns once about jobs, which end with the shell. */
    const mayLeave = Effect.gen(function* () {
      const jobs = isWarned ? "" : yield* reader.jobs
      isWarned = jobs !== ""
      if (isWarned)
        yield* print(`${UntrustedText.harmless(jobs, true)}These jobs end with the shell. To leave: exit again.`)
      return !isWarned
    })

    yield* sandbox.findConditions
    yield* look
    // If the sandbox can't start, the first command says why.
    const held = yield* Effect.option(sandbox.inForce)
    if (Option.isSome(held) && terminal.size().rows >= fewestRows) yield* print(PolicyText.opening(held.value))
    for (;;) {
      const facts = { cwd, home, code, isConfined, isRoot: process.getuid?.() === 0, hasColours: terminal.isLive }
      // Background output waits meanwhile.
      const entered = yield* app
        .whole(screen.use(reader.read(makeShellPrompt(facts))))
        .pipe(
          Effect.catchAll((error) => Effect.as(print(`synapse: ${UntrustedText.line(error.message, 1000)}`), undefined))
        )
      if (entered === undefined) return ExitCode.failure
      if (entered._tag === "Ended") {
        if (yield* mayLeave) return code
        continue
      }
      if (entered._tag === "Interrupted") {
        yield* Effect.promise(async () => terminal.write("\r\n"))
        continue
      }
      const entry = read(entered.text)
      if (entry._tag === "Own" && entry.name === "exit") {
        const left = entry.rest === "" ? code : exitCodeOf(entry.rest)
        if (left === undefined) yield* print(`Usage: ${OwnCommand.usage("exit")}`)
        else if (yield* mayLeave) return left
        continue
      }
      isWarned = false
      yield* Entry.$match(entry, {
        Blank: () => Effect.void,
        Command: ({ text }) => command(text),
        Own: ({ name, rest }) => own(name, rest),
        Unknown: ({ meant, name }) => {
          const hint = meant === undefined ? "/help lists what there is." : `Did you mean /${meant}?`
          return print(`synapse: There is no ${UntrustedText.word(name)}. ${hint}`)
        }
      })
    }
  })

const loadActions = Effect.promise(() => import("./OwnActions.js"))

const exitCodeOf = (rest: string): number | undefined => (/^\d+$/.test(rest) ? Number(rest) & 0xff : undefined)
