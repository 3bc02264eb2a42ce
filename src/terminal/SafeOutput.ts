/**
 * Lets only text, colours and line erasing of a command's output reach the terminal. Everything else is made visible.
 */
import { StringDecoder } from "node:string_decoder"
import * as UntrustedText from "../domain/UntrustedText.js"

/** Matches colours, erasing of the current line, and every control character that is not white space. */
const controls = /\x1b\[[0-9;:]*m|\x1b\[[0-2]?K|(?!\r\n)[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g

/** Matches a sequence that may continue in the next chunk. */
const unfinished = /\x1b(?:\[[0-9;:]{0,60})?$/

interface Stream {
  readonly decoder: StringDecoder
  rest: string
}

/** The output of one command. */
export class SafeOutput {
  private readonly streams: Record<"stdout" | "stderr", Stream> = {
    stdout: { decoder: new StringDecoder("utf8"), rest: "" },
    stderr: { decoder: new StringDecoder("utf8"), rest: "" }
  }
  private isColoured = false
  private isOpen = false

  /**
   * @param hasColours false to drop colours and all other control sequences
   */
  constructor(private readonly hasColours: boolean) {}

  /** Returns what to write for a chunk. */
  take(name: "stdout" | "stderr", chunk: Uint8Array): string {
    const stream = this.streams[name]
    const text = stream.rest + stream.decoder.write(Buffer.from(chunk))
    const [tail = ""] = unfinished.exec(text) ?? []
    stream.rest = tail
    return this.show(text.slice(0, text.length - tail.length))
  }

  /** Returns what is left at the end: incomplete sequences, and a reset of colours. */
  rest(): string {
    const rests = Object.values(this.streams).map(({ decoder, rest }) => this.show(rest + decoder.end(), true))
    return `${rests.join("")}${this.isColoured ? "\x1b[m" : ""}`
  }

  /** Like `rest`, but also ends an open line. */
  end(): string {
    const rest = this.rest()
    return `${rest}${this.isOpen ? "\n" : ""}`
  }

  private show(text: string, isEnd = false): string {
    if (text === "") return ""
    const shown = UntrustedText.replaceInvisible(text, UntrustedText.escaped).replace(controls, (control) => {
      // A bell is dropped silently; a backspace stays within its line.
      if (control === "\x07") return ""
      if (control === "\b" || control === "\r") return control
      if (control.length === 1 || isEnd) return UntrustedText.escaped(control)
      if (!this.hasColours) return ""
      this.isColoured = true
      return control
    })
    const visible = shown.replace(/\x1b\[[0-9;:]*[mK]/g, "")
    if (visible !== "") this.isOpen = !visible.endsWith("\n")
    return shown
  }
}
