/** Reads entries of a person and carries them out, until they leave. */

import * as Fs from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as CommandLine from "../../bash/CommandLine.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as WordWrap from "../../terminal/Columns.js"
import type { LineEditor } from "../../terminal/LineEditor.js"
import * as CommandRun from "./CommandRun.js"
import type { Conversation } from "./Conversation.js"
import * as Interruption from "./Interruption.js"
import * as OwnCommand from "./OwnCommand.js"
import * as ShellApp from "./ShellApp.js"

const set = (names: string) => new Set(names.split(" "))

/** Programs that use the terminal whatever their words are. */
const always = set(
  "vim vi nvim view vimdiff nano pico micro joe mcedit less more most man htop btop atop mc ranger nnn tig lazygit tmux screen " +
    "ssh telnet ftp sftp mosh fzf dialog whiptail watch gdb lldb ncdu vifm links lynx w3m clear reset"
)

/** Programs that read commands from the terminal where they are given no script. */
const repls = set(
  "python python2 python3 ipython node deno bun irb pry ghci lua ocaml utop scala kotlin jshell erl iex julia R bc dc php psysh " +
    "bash sh zsh fish dash ksh"
)

/** Programs that do so whatever operands they have, unless an option says what to run. */
const databases = new Map([
  ["psql", /^(?:-\w*[clf]|--(?:command|file|list)\b)/],
  ["mysql", /^(?:-e|--execute\b)/],
  ["mariadb", /^(?:-e|--execute\b)/],
  ["mongosh", /^--(?:eval|file)\b/],
  ["emacs", /^--(?:batch|script)\b/],
  ["top", /^-\w*b/]
])

const asking = /^(?:-\w*[ip]|--interactive|--patch)$/
const answering =
  /^(?:-\w*[mFCc]|-h|--(?:message|file|reuse-message|no-edit|fixup|dry-run|help|abort|continue|quit|skip)\b)/

/** Tests whether a call of git opens an editor, or asks. */
const isGit = (words: ReadonlyArray<string>): boolean => {
  const [subcommand = "", ...rest] = words
  const has = (pattern: RegExp) => rest.some((word) => pattern.test(word))
  switch (subcommand) {
    case "commit":
      return has(/^--(?:interactive|patch)$|^-p$/) || !has(answering)
    case "rebase":
      return has(/^(?:-i|--interactive|--continue)$/)
    case "add":
    case "checkout":
    case "restore":
    case "reset":
    case "stash":
    case "clean":
      return has(asking)
    default:
      return false
  }
}

const isAttached = /^-(?:\w*t\w*i|\w*i\w*t)\w*$/

/** Tests whether a text is one call of such a program, with nothing redirected or piped. */
export const test = (text: string): boolean => {
  const words: Array<string> = []
  for (const token of CommandLine.parse(text.trim()).tokens) {
    if (token._tag === "Word") words.push(token.value)
    else if (token._tag !== "Blank" && token._tag !== "Comment") return false
  }
  while (/^[A-Za-z_]\w*=/.test(words[0] ?? "")) words.shift()
  const [program = "", ...rest] = words
  const name = program.slice(program.lastIndexOf("/") + 1)
  if (rest.some((word) => word === "--help" || word === "--version")) return false
  if (always.has(name)) return true
  if (repls.has(name)) return rest.every((word) => /^-[iqlBu]$|^--login$/.test(word))
  const scripted = databases.get(name)
  if (scripted !== undefined) return !rest.some((word) => scripted.test(word))
  if (name === "redis-cli" || name === "sqlite3") return rest.filter((word) => !word.startsWith("-")).length <= 1
  if (name === "docker" || name === "podman" || name === "kubectl") return rest.some((word) => isAttached.test(word))
  return name === "git" && isGit(rest)
}

export type Entry = Data.TaggedEnum<{
  Blank: Record<never, never>
  /** The wish for an empty screen. */
  Clear: Record<never, never>
  /** A command line for the session's shell. */
  Command: { readonly text: string }
  /** One of the shell's own commands, with the text after its name. */
  Own: { readonly name: OwnCommand.Name; readonly rest: string }
  /** A word like `/halp`, which is neither a command of the shell's own nor a file. */
  Unknown: { readonly name: string; readonly meant: string | undefined }
}>

export const Entry = Data.taggedEnum<Entry>()

/**
 * Reads an entry. A question may begin with `?`; a path that begins with `/` is a command line; `exit` alone
 * leaves, and `clear` alone clears the screen.
 */
export const read = (text: string): Entry => {
  const trimmed = text.trim()
  if (trimmed === "") return Entry.Blank()
  // A pattern of one character (`?`) is hardly ever a command.
  if (trimmed.startsWith("?")) return Entry.Own({ name: "ask", rest: trimmed.slice(1).trim() })
  // Output of commands has no say over the screen, and in a terminal of its own it would take what is typed behind it.
  if (trimmed === "clear") return Entry.Clear()
  // In the session, it would begin a new shell; a person means to leave.
  const [left, code = ""] = /^(?:exit|logout)(?:\s+(\d+))?$/.exec(trimmed) ?? []
  if (left !== undefined) return Entry.Own({ name: "exit", rest: code })
  const [, name, rest = ""] = /^\/([A-Za-z][\w-]*)(?=\s|$)([\s\S]*)$/.exec(trimmed) ?? []
  if (name === undefined) return Entry.Command({ text })
  if (OwnCommand.isName(name)) return Entry.Own({ name, rest: rest.trim() })
  if (Fs.existsSync(`/${name}`)) return Entry.Command({ text })
  return Entry.Unknown({ name: `/${name}`, meant: meantBy(name) })
}

/** Returns the nearest name; their being so few, a letter or two may be other ones. */
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
  /** False where no control sequence may be written. */
  readonly hasColours: boolean
}

/** The most characters of a directory that are shown. */
const longest = 60

const directoryOf = (cwd: string, home: string): string => {
  const isBelow = home.length > 1 && (cwd === home || cwd.startsWith(`${home}/`))
  const short = isBelow ? `~${cwd.slice(home.length)}` : cwd
  return ForeignText.word(short.length <= longest ? short : `…${short.slice(-longest)}`, longest + 1)
}

/** Makes the prompt. An exit code of 0 is not shown, nor a sandbox: only that there is none. */
export const makeShellPrompt = ({ code, cwd, hasColours, home, isConfined, isRoot }: Facts): string => {
  const styled = (style: string, text: string) => (hasColours ? `\x1b[${style}m${text}\x1b[m` : text)
  return [
    styled("1;34", directoryOf(cwd, home)),
    ...(isConfined ? [] : [styled("1;33", "NO SANDBOX")]),
    ...(code === 0 ? [] : [styled("31", `[${code}]`)]),
    isRoot ? "# " : "$ "
  ].join(" ")
}

export interface Options {
  readonly app: ShellApp.ShellApp
  readonly editor: LineEditor
  readonly interruption: Interruption.Interruption
  /** Tells whether anything confines commands, before the app is there. */
  readonly isConfined: boolean
}

/** Loads the agent when it is asked first. */
const loadConversation = (app: ShellApp.ShellApp): Effect.Effect<Conversation> =>
  Effect.map(
    Effect.promise(() => import("./Conversation.js")),
    ({ make }) => make(app)
  )

/**
 * Reads entries and carries them out. Returns the exit code to leave with: that of the last command, or the one of
 * `/exit`.
 */
export const run = ({ editor, app, interruption, ...before }: Options): Effect.Effect<number> =>
  Effect.gen(function* () {
    const { home, renderer, terminal } = app
    let { directory: cwd } = app
    let { isConfined } = before
    let code: number = ExitCode.success
    const conversation = yield* Effect.cached(loadConversation(app))
    const print = (text: string) =>
      renderer.suspended(
        Effect.promise(async () => terminal.write(`${WordWrap.wrap(text, terminal.size().columns)}\n`))
      )

    const look = Effect.gen(function* () {
      const sandbox = yield* ShellApp.service(app, SandboxManager)
      cwd = yield* sandbox.cwd
      isConfined = sandbox.conditions().confinement._tag !== "Open"
    })

    const command = (text: string, isInteractive: boolean) =>
      Effect.gen(function* () {
        code = yield* isInteractive ? CommandRun.inTerminal(text, app) : CommandRun.run(text, app, interruption)
        yield* look
      })

    /** Clears the screen and what has scrolled off it, as `clear` does, which sets `$?`. */
    const clear = Effect.gen(function* () {
      code = ExitCode.success
      yield* renderer.suspended(Effect.promise(async () => terminal.write(emptied)))
      yield* (yield* ShellApp.service(app, SandboxManager)).setStatus(code)
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
          return Effect.flatMap(loadActions, ({ run }) => Effect.flatMap(run(name, rest, app), print)).pipe(
            Effect.zipRight(look)
          )
      }
    }

    for (;;) {
      const facts = { cwd, home, code, isConfined, isRoot: process.getuid?.() === 0, hasColours: terminal.isLive }
      // What runs in the background is not shown meanwhile.
      const entered = yield* renderer.suspended(editor.read(makeShellPrompt(facts)))
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
        Command: ({ text }) => command(text, test(text)),
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
