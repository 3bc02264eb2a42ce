/**
 * The terminal of a person: each shell of the session has a pseudo-terminal of the sandbox as its controlling terminal,
 * and the person's own commands run on it (`script` of util-linux).
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Path from "node:path"
import * as Fifo from "./Fifo.js"
import { OutputPipe, type Sink } from "./internal/OutputPipe.js"
import * as ShellEnvironment from "./ShellEnvironment.js"

/** The use that a command makes of the terminal: it runs on it, or reads the next entry from it. */
export type Use = "command" | "entry"

export interface Options {
  /** Returns the size of the person's terminal now. */
  readonly size: () => { readonly columns: number; readonly rows: number }
  /** Shows what is written to the pseudo-terminal. */
  readonly show: (chunk: Buffer) => void | Promise<void>
  /** Returns lines of bash that each new shell reads: functions for entries, and the history. */
  readonly definitions: () => string
}

/** The device, as a shell opens it: its controlling terminal. */
export const device = "/dev/tty"

/** The text of a sequence that ends with BEL or ST. */
const body = String.raw`(?:[^\x07\x1b\xc2]|\xc2(?![\x9c\x9d]))*`
const passed = String.raw`(?:[^\x1b]|\x1b\x1b)*`

/**
 * Matches what is taken out: the mark that a shell writes behind a command's output, and what sets the clipboard or the title of the
 * person's terminal, or has it type that title. The second group is the end of a text that may be the beginning of one of these.
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

/** The most characters that are held back for the end of one. */
const longest = 1024 ** 2

/** The characters of the line with a terminal's size. */
const sizeLength = 32

/** Milliseconds after a command's end in which the rest of its output may come. */
const patience = 500

/** Milliseconds for which a program sees another size, so that it draws its screen anew. */
const redrawn = 50

/** Takes out of a terminal's output what is not shown. `held` is the end that belongs to what comes next. */
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

/** Makes the text that writes a mark to the terminal. */
export const told = (id: string): string =>
  `\\builtin printf '\\033]7770;%s\\007' ${id} 2>/dev/null >${device}||\\builtin :`

/** The terminal of one session. */
export class ShellTerminal {
  /** Takes the output of the command that runs on it, and returns what is shown of it. */
  capture: ((chunk: Buffer) => Buffer) | undefined
  /** Tells the shells' supervisor that the size has changed. */
  tellSize: () => void = () => {}
  private keys: Net.Socket | undefined
  private screen: OutputPipe | undefined
  private sizeFile: number | undefined
  private pending = ""
  /** The mark that is waited for, and who waits. */
  private awaited = ""
  private arrived = () => {}

  constructor(private readonly options: Options) {}

  /** True while a command of the shell runs on it. */
  get isUsed(): boolean {
    return this.capture !== undefined
  }

  /** Makes its files in a session's directory; rejects with the system's error. */
  async open(directory: string): Promise<void> {
    this.close()
    const [keys, screen] = [Path.join(directory, "keys"), Path.join(directory, "screen")]
    await Fifo.makeFifos([keys, screen])
    this.screen = new OutputPipe(screen)
    this.screen.attach(this.hear)
    // Its own reader: a pseudo-terminal is not there yet, and may be followed by another one.
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

  /** Types on it. */
  type(bytes: Uint8Array): void {
    this.keys?.write(bytes)
  }

  /** Gives it the size of the person's terminal, less so many rows. */
  resize(less = 0): void {
    const { columns, rows } = this.options.size()
    if (this.sizeFile === undefined) return
    Fs.writeSync(this.sizeFile, `rows ${rows - less} cols ${columns}\n`.padStart(sizeLength), 0)
    this.tellSize()
  }

  /** Has the program that has the screen draw it anew, as it does where the size changes. */
  redraw(): void {
    this.resize(1)
    setTimeout(() => this.resize(), redrawn).unref()
  }

  /** The lines of bash that each new shell reads. */
  definitions(): string {
    return [
      `__synapse_person() { \\builtin set -m;${ShellEnvironment.switching(true)}; }`,
      `__synapse_agent() { \\builtin set +m;${ShellEnvironment.switching(false)}; }`,
      this.options.definitions()
    ].join("\n")
  }

  /** Waits until all that was written before the mark is shown; for a shell that has ended, no mark comes. */
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
