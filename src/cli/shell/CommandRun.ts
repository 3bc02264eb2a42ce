/** Runs a command line of a person through the toolset, as a model's would be, and shows its output as it comes. */

import { StringDecoder } from "node:string_decoder"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Quote from "../../bash/Quote.js"
import * as CallContext from "../../domain/CallContext.js"
import type { CommandError } from "../../domain/CommandError.js"
import type * as CommandListener from "../../domain/CommandListener.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Timeout from "../../domain/Timeout.js"
import type { SandboxBackend } from "../../sandbox/SandboxBackend.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as WordWrap from "../../terminal/Columns.js"
import type { Keyboard } from "../../terminal/Keyboard.js"
import { SafeOutput } from "../../terminal/SafeOutput.js"
import type { Terminal } from "../../terminal/Terminal.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import { Toolset } from "../../toolset/Toolset.js"
import * as Interruption from "./Interruption.js"
import * as PersonWords from "./PersonWords.js"
import * as Resizing from "./Resizing.js"
import * as ShellApp from "./ShellApp.js"
import * as TerminalEnvironment from "./TerminalEnvironment.js"

/** The private modes that are on in a terminal which nobody has touched: wrapping, and the visible cursor. */
const usual = new Set(["7", "25"])

/** Matches the sequences by which programs change modes. */
const sequences =
  /\x1b(?:\[\?([0-9;]+)([hl])|\[>([0-9;]*)([um])|\[([0-9;]*) q|\[([0-9;]*)r|([=>])|\(([^B])|([c78])|\[!p)/g

/** The most of a sequence that is kept until the next chunk. */
const longest = 64

/** The modes that a program has left changed. */
export class TerminalModes {
  private readonly changed = new Map<string, boolean>()
  private keyboards = 0
  private readonly others = new Set<string>()
  private rest = ""

  /** Follows a chunk of what the program writes. */
  take(chunk: Uint8Array): void {
    const text = this.rest + Buffer.from(chunk).toString("latin1")
    let end = 0
    for (const match of text.matchAll(sequences)) {
      end = match.index + match[0].length
      this.follow(match)
    }
    const start = Math.max(text.lastIndexOf("\x1b"), end)
    this.rest = text.indexOf("\x1b", end) >= 0 && text.length - start < longest ? text.slice(start) : ""
  }

  private follow([, modes, set, kept, kind, cursor, region, keypad, charset]: RegExpMatchArray): void {
    for (const mode of modes?.split(";") ?? []) {
      const isOn = set === "h"
      if (isOn === usual.has(mode)) this.changed.delete(mode)
      else this.changed.set(mode, isOn)
    }
    if (kind === "u") this.keyboards++
    // xterm's own keys (modifyOtherKeys); an empty or single number is its reset.
    else if (kind === "m" && kept?.includes(";") === true) this.others.add("\x1b[>4m")
    if (cursor !== undefined) this.others.add("\x1b[0 q")
    if (region !== undefined) this.others.add("\x1b7\x1b[r\x1b8")
    if (keypad === "=") this.others.add("\x1b>")
    if (charset !== undefined) this.others.add("\x1b(B")
  }

  /** Returns the sequences that put the terminal back. They harm nothing where it is as it should be. */
  reset(): string {
    const modes = [...this.changed].map(([mode, isOn]) => `\x1b[?${mode}${isOn ? "l" : "h"}`)
    const keyboards = this.keyboards > 0 ? `\x1b[<${this.keyboards}u` : ""
    // The first ends a string that was left open; the last ones are colours and the usual letters.
    return `\x1b\\${keyboards}${[...this.others].join("")}${modes.join("")}\x1b[m\x0f`
  }
}

/** Runs its words in a pseudo-terminal: `script` of util-linux, whose own input and output may be pipes. */
const inTerminalPseudoTerminal = (text: string, size: string): string => {
  const inner = [TerminalEnvironment.script(), Resizing.script(size), text].join("\n")
  return [
    "if ! type -P script >/dev/null; then",
    "  echo 'synapse: this needs the program script, of util-linux' >&2; (exit 127)",
    "else",
    `  SHELL=$BASH command script -qfec ${Quote.word(inner)} /dev/null`,
    "fi"
  ].join("\n")
}

/** Runs a command line in a pseudo-terminal of the sandbox, and puts the terminal back when it has ended. */
const runPseudoTerminal = (
  text: string,
  backend: SandboxBackend,
  terminal: Context.Tag.Service<Terminal>,
  keyboard: Context.Tag.Service<Keyboard>
): Effect.Effect<CommandResult, CommandError> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const ended = yield* Deferred.make<undefined>()
    const modes = new TerminalModes()
    const decoder = new StringDecoder("utf8")
    // A key that is pressed after the end is for the next entry.
    const pull = () => Runtime.runPromise(runtime)(Effect.raceFirst(keyboard.read, Deferred.await(ended)))
    const listener: CommandListener.CommandListener = {
      takesAll: true,
      onOutput: (_, chunk) => {
        modes.take(chunk)
        return terminal.write(decoder.write(Buffer.from(chunk)))
      }
    }
    const line = inTerminalPseudoTerminal(text, Resizing.words(terminal))
    return yield* backend.execute(line, { timeout: Timeout.longest }).pipe(
      keyboard.attended,
      CallContext.locally({ stdin: pull, listener }),
      Effect.ensuring(
        Effect.promise(async () => {
          Deferred.unsafeDone(ended, Exit.succeed(undefined))
          await terminal.write(modes.reset())
        })
      )
    )
  })

const id = "shell"

/** Tests whether the command itself said nothing of its failure. */
const isOurs = ({ extras }: ToolReturn): boolean => extras.error !== undefined || extras.blocked === true

/** Runs a command line. Returns its exit code, which is also `$?` of the next one. */
export const run = (
  text: string,
  app: ShellApp.ShellApp,
  interruption: Interruption.Interruption
): Effect.Effect<number> =>
  Effect.gen(function* () {
    const { renderer, tasks, terminal } = app
    const toolset = yield* ShellApp.service(app, Toolset)
    const sandbox = yield* ShellApp.service(app, SandboxManager)
    const runtime = yield* Effect.runtime<never>()
    const output = new SafeOutput(terminal.isLive)
    /** True once a sub-agent is shown live, be it another line's, so that output goes above it, by whole lines. */
    let isLive = tasks.isAny
    let line = ""
    let hint: string | undefined
    const above = (text: string): void | Promise<void> => {
      const end = text.lastIndexOf("\n") + 1
      const whole = line + text.slice(0, end)
      line = end === 0 ? line + text : text.slice(end)
      if (end > 0) return Runtime.runPromise(runtime)(renderer.print(whole.slice(0, -1)))
    }
    /** Both streams may be written at the same time. */
    let written: Promise<void> = Promise.resolve()
    const show = (text: string): Promise<void> | undefined => {
      if (text !== "") written = written.then(() => (isLive ? above(text) : terminal.write(text)))
      return text === "" ? undefined : written
    }
    const listener: CommandListener.CommandListener = {
      takesAll: true,
      audience: PersonWords.audience,
      onHint: (text) => {
        hint = text
      },
      onOutput: (stream, chunk) => show(output.take(stream, chunk)),
      onSubAgent: (event) => {
        isLive = true
        Runtime.runFork(runtime)(tasks.take(event))
      }
    }
    const timeout = app.timeout ?? Timeout.longest
    const call = { id, name: "Bash", arguments: JSON.stringify({ command: text, timeout }) }
    const [result, interrupted] = yield* interruption.during(
      CallContext.locally(toolset.handle(call), { listener }),
      toolset.cancel(id),
      () => void show(`^Z\n${Interruption.unstopped}\n`)
    )
    const isInterrupted = interrupted !== undefined
    const { error, exitCode = ExitCode.failure, notices = [], personal } = result.extras
    const isTold = !isOurs(result) || isInterrupted || personal?.allowed !== undefined
    const help = hint ?? app.terminalHint.of(text, result)
    const told = [
      ...(isTold ? [] : [PersonWords.reasonOf(result, "/allow", app.directory)]),
      ...(help === undefined || isInterrupted ? [] : [help]),
      ...notices
    ]
    yield* Effect.promise(() => written)
    // Live lines of what runs in the background would be drawn over it.
    yield* renderer.suspended(
      Effect.gen(function* () {
        yield* Effect.promise(async () => terminal.write(line + output.end()))
        if (interrupted === "key")
          yield* Effect.promise(async () => terminal.write(`${Interruption.mark(terminal.isLive)}\n`))
        for (const each of told) yield* notice(app, each)
      })
    )
    // What did not run has set no status in the shell.
    if (error !== undefined || isInterrupted) yield* sandbox.setStatus(exitCode)
    return exitCode
  })

/** Prints a text of the program's own, which may hold names that others gave. */
const notice = ({ terminal }: ShellApp.ShellApp, text: string) =>
  Effect.promise(async () => {
    const shown = new SafeOutput(false)
    const line = `${shown.take("stderr", Buffer.from(`synapse: ${text}`))}${shown.end()}`
    await terminal.write(WordWrap.wrap(line, terminal.size().columns))
  })

/**
 * Runs a command line in a pseudo-terminal of the sandbox. Returns its exit code, which is also `$?` of the next one.
 */
export const inTerminal = (text: string, app: ShellApp.ShellApp): Effect.Effect<number> =>
  Effect.gen(function* () {
    const sandbox = yield* ShellApp.service(app, SandboxManager)
    const backend = yield* sandbox.getSandbox(app.directory)
    const { exitCode } = yield* app.renderer.suspended(runPseudoTerminal(text, backend, app.terminal, app.keyboard))
    return exitCode
  }).pipe(Effect.catchAll((error) => Effect.as(notice(app, error.message), error.exitCode)))
