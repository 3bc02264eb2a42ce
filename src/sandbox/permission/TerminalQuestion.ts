/** Asks for one line at the controlling terminal. Only what is typed after the question was seen is an answer. */
import * as Fs from "node:fs"
import * as Tty from "node:tty"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Attempt from "../../domain/Attempt.js"

/**
 * Milliseconds without a key that pass before the prompt is shown: what comes meanwhile was typed for something else, and is
 * dropped.
 */
const quiet = 250

/** Milliseconds after a line in which anything more makes it a pasted text, which answers nothing. */
const behind = 30

const interrupt = "\x03"
/** Ctrl-D, by which whoever types for a person ends the input. */
const endOfInput = "\x04"

/** Ends a sequence or string that a command has left open. */
const ended = "\x18\x1b\\"
const atCursor = (text: string): string => `\x1b7${text}\x1b8`
/** Private modes that hide text, move it, or send keys that nobody has pressed. */
const off = [2026, 69, 6, 5, 1, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004]

/**
 * Puts the terminal into its usual state, whatever a command has written: it could conceal the question, or draw over it.
 * Leaving the alternate screen, the margins and the origin mode move the cursor, which is put back. DECSTR does less.
 */
export const reset = [
  ended,
  atCursor("\x1b[?1049l"),
  atCursor(`\x1b[?${off.join("l\x1b[?")}l\x1b[r`),
  "\x1b[m\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b%G\x1b[4l\x1b[20l\x1b[?7h\x1b[?25h\x1b>\x1b[=0u\x1b[>4m",
  // Colours of the palette, of the text, the background and the cursor.
  "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
  "\x1b[J"
].join("")

/** Stands for more than one line at once; it is no answer to anything. */
const pasted = "(pasted text)"

/**
 * Returns whether this process is in the background of its terminal, where reading would stop it. On Linux `/proc`
 * tells; elsewhere it is not known.
 */
const isInBackground = (): boolean =>
  Attempt.orElse(() => {
    const stat = Fs.readFileSync("/proc/self/stat", "utf8")
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return group !== foreground
  }, false)

class Question {
  private readonly stream: Tty.ReadStream
  /** True while keys come one by one, without an echo: none of them is a part of the answer. */
  private isDeaf = false
  private text = ""
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly fd: number,
    /** The last line of the question. */
    private readonly prompt: string,
    /** Takes the line; it is empty at the end of the input, or where the terminal has gone. */
    private readonly done: (line: string) => void
  ) {
    this.stream = new Tty.ReadStream(fd)
    this.stream.setEncoding("utf8")
    this.stream.on("data", this.onData).once("end", this.onEnd).once("error", this.onEnd)
    process.on("SIGCONT", this.onContinue)
    this.settle()
  }

  /** Leaves the terminal as it was; the line of a question that has no answer ends. */
  close(isAnswered: boolean): void {
    clearTimeout(this.timer)
    process.off("SIGCONT", this.onContinue)
    this.stream.off("data", this.onData)
    if (!isAnswered) this.write("\n")
    this.deafen(false)
    this.stream.destroy()
  }

  /** Waits until nothing more is typed, and shows the prompt then. */
  private settle(): void {
    if (!this.deafen(true)) return
    this.timer = setTimeout(() => {
      this.deafen(false)
      this.write(this.prompt)
    }, quiet)
  }

  private readonly onData = (chunk: string): void => {
    if (this.isDeaf) {
      if (chunk.includes(interrupt)) {
        this.write("^C")
        process.kill(0, "SIGINT")
      } else if (this.text === "") this.timer?.refresh()
      // More than a line has come at once.
      else if (chunk !== endOfInput) this.end(pasted)
      return
    }
    this.text += chunk
    const at = this.text.indexOf("\n")
    if (at < 0) return
    if (at + 1 < this.text.length) return this.end(pasted)
    // What stands behind the line is read at once only where keys come one by one.
    const line = this.text.slice(0, at)
    if (line.trim() === "") return this.end(line, true)
    if (this.deafen(true)) this.timer = setTimeout(() => this.end(line, true), behind)
  }

  private readonly onEnd = (): void => this.end("")

  private readonly onContinue = (): void => {
    // Who stopped this process may have set the terminal.
    if (this.isDeaf && this.deafen(false)) this.deafen(true)
    if (!this.isDeaf) this.write(this.prompt)
  }

  private end(line: string, isAnswered = false): void {
    this.close(isAnswered)
    this.done(line)
  }

  /** Returns false where the terminal has gone, which ends the question. */
  private deafen(isDeaf: boolean): boolean {
    if (this.isDeaf === isDeaf) return true
    this.isDeaf = isDeaf
    try {
      this.stream.setRawMode(isDeaf)
      return true
    } catch {
      return false
    }
  }

  private write(text: string): void {
    // The terminal has gone.
    Attempt.ignore(() => Fs.writeSync(this.fd, text))
  }
}

/**
 * Shows a text, and its last line once nothing more is typed, and reads a line behind it: empty at the end of the input, and no
 * word of anybody's where more than a line came at once; none where there is no terminal.
 */
export const ask = (text: string): Effect.Effect<Option.Option<string>> =>
  Effect.async((resume) => {
    const last = text.lastIndexOf("\n") + 1
    let question: Question
    try {
      if (isInBackground()) return resume(Effect.succeedNone)
      const fd = Fs.openSync("/dev/tty", "r+")
      Fs.writeSync(fd, reset + text.slice(0, last))
      question = new Question(fd, text.slice(last), (line) => resume(Effect.succeedSome(line)))
    } catch {
      return resume(Effect.succeedNone)
    }
    return Effect.sync(() => question.close(false))
  })
