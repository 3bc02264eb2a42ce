/**
 * The terminal of a person: each shell of the session has a pseudo-terminal of the sandbox as its controlling terminal,
 * and the person's own commands run on it (`script` of util-linux).
 */
import * as Fs from "node:fs"
import * as Net from "node:net"
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

/** The sequence that a shell writes behind a command's output. No terminal shows it, and it is taken out. */
const mark = /\x1b\]7770;([\w-]+)\x07/
const opening = "\x1b]7770;"

/** The most characters of a mark. */
const longest = 32

/** Milliseconds after a command's end in which the rest of its output may come. */
const patience = 500

/** Milliseconds for which a program sees another size, so that it draws its screen anew. */
const redrawn = 50

/** Returns the length of the end of a text that may be the beginning of a mark. */
const unfinished = (text: string): number => {
  const at = text.lastIndexOf("\x1b")
  if (at < 0 || text.length - at > longest) return 0
  const rest = text.slice(at)
  return opening.startsWith(rest) || (rest.startsWith(opening) && !rest.includes("\x07")) ? rest.length : 0
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
    const fd = Fs.openSync(keys, Fs.constants.O_RDWR | Fs.constants.O_NONBLOCK)
    this.keys = new Net.Socket({ fd, readable: false, writable: true }).on("error", () => {})
    this.keys.unref()
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
    Fs.writeSync(this.sizeFile, `rows ${rows - less} cols ${columns}\n`.padStart(longest), 0)
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
    let text = this.pending + chunk.toString("latin1")
    for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
      text = text.slice(0, found.index) + text.slice(found.index + found[0].length)
      if (this.awaited === found[1]) this.arrived()
      this.awaited = found[1] ?? ""
    }
    const rest = unfinished(text)
    this.pending = text.slice(text.length - rest)
    if (text.length === rest) return
    const shown = Buffer.from(text.slice(0, text.length - rest), "latin1")
    return this.options.show(this.capture?.(shown) ?? shown)
  }
}
