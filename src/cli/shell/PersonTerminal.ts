/** Connects the person's terminal to the session's shell: shows the shell's output, and passes on the typed keys. */
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
  /** Returns the lines of bash that each new shell reads. */
  readonly definitions: () => string
}

export class PersonTerminal {
  readonly session: ShellTerminal
  /**
   * True while the person's entry or command owns the screen. Otherwise, output is shown in lines above the live ones.
   */
  private ownsScreen = false
  /** The number of running commands of the agent. Output that comes meanwhile is a question of theirs. */
  private agentCommands = 0
  private readonly decoder = new StringDecoder("utf8")
  private safe: SafeOutput
  /** The incomplete line, while output is shown in lines. */
  private line = ""
  private hasEntered = false
  /** The last characters that a command wrote. */
  private tail = ""
  /** Keys typed before the prompt is shown. The shell's terminal would still edit the line itself and take them. */
  private early: Array<Uint8Array> | undefined
  /** Ends the question that is shown, if any. */
  private endAsking: (() => void) | undefined
  /** Settles when the program's open question ends, if any. */
  private asked: Promise<void> | undefined

  constructor(private readonly options: Options) {
    const { definitions, terminal } = options
    this.safe = new SafeOutput(terminal.isLive)
    this.session = new ShellTerminal({ definitions, size: terminal.size, show: (chunk) => this.show(chunk) })
    terminal.onResize(() => this.session.resize())
  }

  /**
   * Gives the terminal to a person's entry or command. `cancel` is called for Ctrl-C while nothing runs in the shell.
   */
  use<A, E, R>(effect: Effect.Effect<A, E, R>, cancel?: () => void): Effect.Effect<A, E, R> {
    const { keyboard, renderer } = this.options
    const take = (bytes: Uint8Array) => {
      this.hasEntered ||= bytes.includes(enter)
      if (cancel !== undefined && !this.session.isUsed && bytes.includes(interrupt)) cancel()
      else if (this.early === undefined) this.session.type(bytes)
      else this.early.push(bytes)
    }
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        this.ownsScreen = true
        this.tail = ""
        this.early = cancel === undefined ? [] : undefined
      }),
      () => keyboard.into(take, effect),
      () =>
        Effect.suspend(() => {
          const { line } = this
          this.ownsScreen = false
          this.line = ""
          return line === "" ? Effect.void : renderer.print(line)
        })
    )
  }

  /** Asks a question of the program. Output of the session waits until it ends. */
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

  /** Shows the rest of the output in lines, because something else is shown live. */
  share(): void {
    this.ownsScreen = false
  }

  /** Returns the text that ends an incomplete line, after `^C` or before a notice. */
  endOfLine(isBeforeNotice: boolean): string {
    const isOpen = isBeforeNotice && this.tail !== "" && !this.tail.endsWith("\n")
    return isOpen || this.tail === "^C" ? "\r\n" : ""
  }

  /** Sets the number of running commands of the agent. A question ends with the last one. */
  agentRuns(count: number): void {
    this.agentCommands = count
    if (count === 0) this.endAsking?.()
  }

  private show(chunk: Buffer): void | Promise<void> {
    if (this.asked !== undefined) return this.asked.then(() => this.show(chunk))
    const { renderer, runtime, terminal } = this.options
    if (this.ownsScreen) {
      const text = this.decoder.write(chunk)
      for (const bytes of this.early ?? []) this.session.type(bytes)
      this.early = undefined
      this.tail = (this.tail + text).slice(-2)
      return terminal.write(text)
    }
    const text = this.safe.take("stdout", chunk)
    if (this.agentCommands === 0) {
      const lines = (this.line + text.replaceAll("\r", "")).split("\n")
      this.line = lines.pop() ?? ""
      return lines.length === 0 ? undefined : Runtime.runPromise(runtime)(renderer.print(lines.join("\n")))
    }
    if (this.endAsking !== undefined) return terminal.write(text)
    Runtime.runFork(runtime)(this.ask(text))
  }

  /** Shows the beginning of a question, and passes on the typed keys until the command has ended. */
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
