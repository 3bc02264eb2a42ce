/**
 * The terminal of a person's session. Each shell has a pseudo-terminal of the sandbox as its controlling terminal,
 * made by `script` of util-linux, and the person's own commands run on it.
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Path from "node:path"
import * as Fifo from "./Fifo.js"
import { OutputPipe, type Sink } from "./internal/OutputPipe.js"
import * as ShellEnvironment from "./ShellEnvironment.js"

/** How a command uses the terminal: it runs on it, or it reads the next entry from it. */
export type Use = "command" | "entry"

export interface Options {
  /** Returns the current size of the person's terminal. */
  readonly size: () => { readonly columns: number; readonly rows: number }
  /** Shows output of the pseudo-terminal to the person. */
  readonly show: (chunk: Buffer) => void | Promise<void>
  /** Returns the bash text that each new shell reads: functions for entries, and the history. */
  readonly definitions: () => string
}

/** The path by which a shell opens its controlling terminal. */
export const device = "/dev/tty"

/** The text of an escape sequence that ends with BEL or ST. */
const body = String.raw`(?:[^\x07\x1b\xc2]|\xc2(?![\x9c\x9d]))*`
const passed = String.raw`(?:[^\x1b]|\x1b\x1b)*`

/**
 * Matches what is removed from the output: the shell's mark after each command, and some escape sequences. They set the
 * person's clipboard or title, or make the terminal type its title. The second group is an unfinished sequence at the
 * end.
 */
const taken = new RegExp(
  [
    String.raw`(?:\x1b\]|\xc2\x9d)(?:7770;([\w-]+)|(?:[012]|52);${body})(?:\x07|\x1b\\|\xc2\x9c)`,
    String.raw`\x1bk${body}\x1b\\`,
    String.raw`\x1bPtmux;${passed}\x1b\\`,
    String.raw`\x1b\[2[01]t`,
    [
      String.raw`((?:\x1b\]|\xc2\x9d)(?:7{0,3}|5|(?:7770|[012]|52)(?:;${body}[\x1b\xc2]?)?)`,
      String.raw`\x1bk${body}\x1b?`,
      String.raw`\x1bP(?:tmux;${passed}\x1b?|t?m?u?x?)`,
      String.raw`\x1b(?:\[2?[01]?)?`,
      String.raw`\xc2)$`
    ].join("|")
  ].join("|"),
  "g"
)

/** The most characters held back for an unfinished sequence. */
const longest = 1024 ** 2

/** The length of the line with the terminal's size. */
const sizeLength = 32

/** How long to wait for the rest of a command's output after its end, in ms. */
const patience = 500

/** How long a program sees a changed size, so that it redraws its screen, in ms. */
const redrawn = 50

/**
 * Removes marks and forbidden sequences from output. `held` is an unfinished sequence, to put before the next chunk.
 */
export const filter = (
  text: string
): { readonly shown: string; readonly held: string; readonly marks: ReadonlyArray<string> } => {
  const marks: Array<string> = []
  let held = ""
  const shown = text.replace(taken, (_, mark: string | undefined, end: string | undefined) => {
    if (mark !== undefined) marks.push(mark)
    held = end ?? ""
    return ""
  })
  return { shown, held: held.length > longest ? "" : held, marks }
}

/** Returns bash text that writes a mark to the terminal. */
export const told = (id: string): string =>
  `\\builtin printf '\\033]7770;%s\\007' ${id} 2>/dev/null >${device}||\\builtin :`

export class ShellTerminal {
  /** Takes the output of the command on the terminal, and returns what the person sees of it. */
  capture: ((chunk: Buffer) => Buffer) | undefined
  /** Tells the supervisor that the size has changed. */
  tellSize: () => void = () => {}
  private keys: Net.Socket | undefined
  private screen: OutputPipe | undefined
  private sizeFile: number | undefined
  private pending = ""
  /** The mark that `settled` waits for, and the function that ends its wait. */
  private awaited = ""
  private arrived = () => {}

  constructor(private readonly options: Options) {}

  /** True while a command of the shell runs on the terminal. */
  get isUsed(): boolean {
    return this.capture !== undefined
  }

  /** Creates the terminal's files in the session's directory. Rejects with the system's error. */
  async open(directory: string): Promise<void> {
    this.close()
    const [keys, screen] = [Path.join(directory, "keys"), Path.join(directory, "screen")]
    await Fifo.makeFifos([keys, screen])
    this.screen = new OutputPipe(screen)
    this.screen.attach(this.hear)
    // Opened for reading too: the pseudo-terminal does not exist yet, and another may replace it.
    this.keys = Fifo.writer(Fifo.openBoth(keys)).unref()
    this.sizeFile = Fs.openSync(Path.join(directory, "size"), "wx", 0o600)
    this.resize()
  }

  close(): void {
    this.keys?.destroy()
    this.screen?.close()
    if (this.sizeFile !== undefined) Fs.closeSync(this.sizeFile)
    this.keys = undefined
    this.screen = undefined
    this.sizeFile = undefined
  }

  type(bytes: Uint8Array): void {
    this.keys?.write(bytes)
  }

  /** Sets the pseudo-terminal to the size of the person's terminal, minus `less` rows. */
  resize(less = 0): void {
    const { columns, rows } = this.options.size()
    if (this.sizeFile === undefined) return
    Fs.writeSync(this.sizeFile, `rows ${rows - less} cols ${columns}\n`.padStart(sizeLength), 0)
    this.tellSize()
  }

  /** Makes the program on the terminal redraw its screen, by changing the size for a moment. */
  redraw(): void {
    this.resize(1)
    setTimeout(() => this.resize(), redrawn).unref()
  }

  /** Returns the bash text that each new shell reads. */
  definitions(): string {
    return [
      `__synapse_person() { \\builtin set -m;${ShellEnvironment.switching(true)}; }`,
      `__synapse_agent() { \\builtin set +m;${ShellEnvironment.switching(false)}; }`,
      this.options.definitions()
    ].join("\n")
  }

  /** Waits until the output before the mark is shown; only briefly if the shell has ended and writes no mark. */
  async settled(id: string, isOver: boolean): Promise<void> {
    if (this.awaited === id) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.awaited = id
      this.arrived = resolve
      timer = setTimeout(resolve, isOver ? patience / 10 : patience)
    })
    clearTimeout(timer)
    this.arrived = () => {}
  }

  private readonly hear: Sink = (chunk) => {
    const { held, marks, shown: text } = filter(this.pending + chunk.toString("latin1"))
    this.pending = held
    for (const mark of marks) {
      if (this.awaited === mark) this.arrived()
      this.awaited = mark
    }
    if (text === "") return
    const shown = Buffer.from(text, "latin1")
    return this.options.show(this.capture?.(shown) ?? shown)
  }
}
