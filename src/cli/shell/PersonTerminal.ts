/**
 * The person's terminal, as the session's shell has it: shows what the shell's own terminal is sent, and passes on what is
 * typed.
 */
import { StringDecoder } from "node:string_decoder"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { ShellTerminal } from "../../session/ShellTerminal.js"
import type { Keyboard } from "../../terminal/Keyboard.js"
import { SafeOutput } from "../../terminal/SafeOutput.js"
import type { Terminal } from "../../terminal/Terminal.js"
import type { TerminalRenderer } from "../../terminal/TerminalRenderer.js"
import type * as Interruption from "./Interruption.js"

const interrupt = 3
const enter = 13

interface Options {
  readonly terminal: Context.Tag.Service<Terminal>
  readonly keyboard: Context.Tag.Service<Keyboard>
  readonly renderer: Context.Tag.Service<TerminalRenderer>
  readonly interruption: Interruption.Interruption
  readonly runtime: Runtime.Runtime<never>
  /** Returns lines of bash that each new shell reads. */
  readonly definitions: () => string
}

export class PersonTerminal {
  readonly session: ShellTerminal
  /** True while what the person enters or runs has the screen; otherwise, what comes is shown by lines, above what is live. */
  private isWhole = false
  /** The commands of the agent that run: what comes meanwhile is a question of theirs. */
  private agents = 0
  private readonly decoder = new StringDecoder("utf8")
  private safe: SafeOutput
  /** The line that is not ended yet, where it is shown by lines. */
  private line = ""
  private hasEntered = false
  /** The end of what a command has written. */
  private tail = ""
  /** The keys for an entry whose prompt is not shown yet: a terminal that edits lines itself would take them. */
  private early: Array<Uint8Array> | undefined
  /** Ends the question that is shown; undefined where none is. */
  private endAsking: (() => void) | undefined
  /** Ends with the question of the program that is open; undefined where none is. */
  private asked: Promise<void> | undefined

  constructor(private readonly options: Options) {
    const { definitions, terminal } = options
    this.safe = new SafeOutput(terminal.isLive)
    this.session = new ShellTerminal({ definitions, size: terminal.size, show: (chunk) => this.show(chunk) })
    terminal.onResize(() => this.session.resize())
  }

  /**
   * Gives the terminal to what a person enters or runs. `cancel` is called for a Ctrl-C that comes while nothing runs in the
   * shell.
   */
  use<A, E>(effect: Effect.Effect<A, E>, cancel?: () => void): Effect.Effect<A, E> {
    const { keyboard, renderer } = this.options
    const take = (bytes: Uint8Array) => {
      this.hasEntered ||= bytes.includes(enter)
      if (cancel !== undefined && !this.session.isUsed && bytes.includes(interrupt)) cancel()
      else if (this.early === undefined) this.session.type(bytes)
      else this.early.push(bytes)
    }
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        this.isWhole = true
        this.tail = ""
        this.early = cancel === undefined ? [] : undefined
      }),
      () => keyboard.into(take, effect),
      () =>
        Effect.suspend(() => {
          const { line } = this
          this.isWhole = false
          this.line = ""
          return line === "" ? Effect.void : renderer.print(line)
        })
    )
  }

  /** Asks a question of the program, over which nothing of the session is drawn: what comes meanwhile waits. */
  whileAsked<A>(question: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        let end = () => {}
        this.asked = new Promise((resolve) => {
          end = resolve
        })
        return end
      }),
      () => question,
      (end) =>
        Effect.sync(() => {
          this.asked = undefined
          end()
        })
    )
  }

  /** Returns whether the person has pressed Enter since the last call. */
  takeEnter(): boolean {
    const { hasEntered } = this
    this.hasEntered = false
    return hasEntered
  }

  /** Shows the rest of what runs by lines, for something else is shown live. */
  share(): void {
    this.isWhole = false
  }

  /** Returns what ends the line that a command has left open: at Ctrl-C, which is shown, or before a notice. */
  endOfLine(isBeforeNotice: boolean): string {
    const isOpen = isBeforeNotice && this.tail !== "" && !this.tail.endsWith("\n")
    return isOpen || this.tail === "^C" ? "\r\n" : ""
  }

  /** Counts the commands of the agent that run. A question ends with the last one. */
  agentRuns(count: number): void {
    this.agents = count
    if (count === 0) this.endAsking?.()
  }

  private show(chunk: Buffer): void | Promise<void> {
    if (this.asked !== undefined) return this.asked.then(() => this.show(chunk))
    const { renderer, runtime, terminal } = this.options
    if (this.isWhole) {
      const text = this.decoder.write(chunk)
      for (const bytes of this.early ?? []) this.session.type(bytes)
      this.early = undefined
      this.tail = (this.tail + text).slice(-2)
      return terminal.write(text)
    }
    const text = this.safe.take("stdout", chunk)
    if (this.agents === 0) {
      const lines = (this.line + text.replaceAll("\r", "")).split("\n")
      this.line = lines.pop() ?? ""
      return lines.length === 0 ? undefined : Runtime.runPromise(runtime)(renderer.print(lines.join("\n")))
    }
    if (this.endAsking !== undefined) return terminal.write(text)
    Runtime.runFork(runtime)(this.ask(text))
  }

  /** Shows the beginning of a question, and passes on what is typed until the command has ended. */
  private ask(text: string): Effect.Effect<void> {
    const { interruption, keyboard, renderer, terminal } = this.options
    const ended = Effect.async<void>((resume) => {
      this.endAsking = () => {
        this.endAsking = undefined
        this.safe = new SafeOutput(terminal.isLive)
        resume(Effect.promise(async () => terminal.write("\r\n")))
      }
    })
    const take = (bytes: Uint8Array) => {
      if (bytes.includes(interrupt)) interruption.press()
      else this.session.type(bytes)
    }
    return renderer.suspended(
      Effect.zipRight(
        Effect.promise(async () => terminal.write(`synapse: a command of the agent asks:\r\n${text}`)),
        keyboard.into(take, ended)
      )
    )
  }
}
