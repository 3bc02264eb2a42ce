/** Reads a person's entries. The session's own shell edits the line (`entry.bash`), with completion and history. */

import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as CommandLine from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import * as Quote from "../../bash/Quote.js"
import * as Token from "../../bash/Token.js"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as CallContext from "../../domain/CallContext.js"
import type { CommandError } from "../../domain/CommandError.js"
import * as Timeout from "../../domain/Timeout.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import type { History } from "../../terminal/History.js"
import * as EntryText from "./EntryText.js"
import * as OwnCommand from "./OwnCommand.js"
import { type Services, ShellApp } from "./ShellApp.js"

export type Entered = Data.TaggedEnum<{
  Text: { readonly text: string }
  /** Ctrl-C. The typed text is dropped. */
  Interrupted: Record<never, never>
  /** The end of the input. */
  Ended: Record<never, never>
}>

export const Entered = Data.taggedEnum<Entered>()

/** Longer texts are left to bash. */
const mostCharacters = 64 * 1024
const mostTokens = 5000

/** Tests whether bash would ask for another line. A text with a syntax error is complete. */
export const isOpen = (text: string): boolean => {
  if (text.length > mostCharacters) return false
  const { tokens, tree } = CommandLine.parse(text)
  const last = tokens.at(-1)
  if (tokens.length > mostTokens || (last?._tag === "Operator" && Token.isRedirection(last.value))) return false
  if (last?._tag !== "Comment" && /(?:^|[^\\])(?:\\\\)*\\$/.test(text)) return true
  if (tree.unexpected === undefined) return !CommandTree.isComplete(tree)
  if (last?._tag === "Word" && !last.closed) return true
  // bash reads a here-document before it refuses the line that announces it.
  const announced = tokens.filter((token) => token._tag === "Operator" && /<<-?$/.test(token.value)).length
  return announced > tokens.filter((token) => token._tag === "HereDocument" && token.closed).length
}

/** Runs a line of the program's own in the session's shell. */
const run = (line: string) =>
  Effect.gen(function* () {
    const sandbox = yield* SandboxManager
    const backend = yield* sandbox.getSandbox((yield* ShellApp).directory)
    return yield* CallContext.locally(backend.execute(line, { timeout: Timeout.longest }), { terminal: "entry" })
  })

export class EntryReader {
  /** The entry that the shell's history lacks. */
  private last = ""
  /** The names that the shell knows for completion. */
  private names = ""

  constructor(private readonly history: History["Type"]) {}

  /** Returns the lines of bash that each new shell reads. */
  definitions(): string {
    this.last = ""
    this.names = ""
    const entries = this.history.entries()
    return [EntryText.entry, ...entries.map((entry) => `\\builtin history -s -- ${Quote.quote(entry)}`)].join("\n")
  }

  /** Shows the prompt and reads a complete text. Fails if there is no shell. */
  read(prompt: string): Effect.Effect<Entered, CommandError, Services> {
    const { history } = this
    return Effect.gen(this, function* () {
      let text: string | undefined
      for (;;) {
        const entered = yield* this.readLine(text === undefined ? prompt : "> ")
        if (entered._tag === "Interrupted" || (entered._tag === "Ended" && text === undefined)) return entered
        const isOver = entered._tag === "Ended"
        text = [...(text === undefined ? [] : [text]), ...(isOver ? [] : [entered.text])].join("\n")
        if (!isOver && isOpen(text)) continue
        yield* history.add(text)
        if (history.entries().at(-1) === text) this.last = text
        return Entered.Text({ text })
      }
    })
  }

  /** Returns bash's list of jobs that have not ended. */
  readonly jobs: Effect.Effect<string, never, Services> = Effect.orElseSucceed(
    Effect.map(run("\\builtin jobs -r; \\builtin jobs -s"), ({ stdout }) => stdout),
    () => ""
  )

  private readLine(prompt: string): Effect.Effect<Entered, CommandError, Services> {
    return Effect.gen(this, function* () {
      const registry = yield* CommandRegistry
      const names = namesIn(registry)
      const known = names === this.names ? "" : `__synapse_words=${Quote.quote(names)}\n`
      const line = `${known}__synapse_entry ${Quote.quote(prompt)} ${Quote.quote(this.last)}||\\builtin :`
      const { last } = this
      const { stdout } = yield* run(line)
      this.names = names
      if (this.last === last) this.last = ""
      if (stdout.startsWith("+")) return Entered.Text({ text: stdout.slice(1) })
      return stdout === "-" ? Entered.Ended() : Entered.Interrupted()
    })
  }
}

/** Returns the words that can begin a line, besides the shell's own commands. */
const namesIn = (registry: CommandRegistry["Type"]): string =>
  [
    ...OwnCommand.names.map((name) => `/${name}`),
    ...registry.listed().flatMap((handler) => [handler, ...(handler.known?.() ?? [])].map(({ name }) => name))
  ]
    .filter((name) => !/[*\s'\\$`]/.test(name))
    .join(" ")
