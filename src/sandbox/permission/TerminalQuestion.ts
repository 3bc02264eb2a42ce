/**
 * Asks for one line at the controlling terminal. Only text typed after the question was visible counts as an answer.
 */
import * as Fs from "node:fs"
import * as Tty from "node:tty"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Attempt from "../../domain/Attempt.js"

/**
 * How long no key may arrive before the prompt is shown, in ms. Keys typed before were meant for something else and are
 * dropped.
 */
const quiet = 250

/** If more text arrives within this time after a line, in ms, the line was pasted and is no answer. */
const behind = 30

const interrupt = "\x03"
/** Ctrl-D, which programs send to end the input. */
const endOfInput = "\x04"

/** Ends an escape sequence or string that a command has left open. */
const ended = "\x18\x1b\\"
const atCursor = (text: string): string => `\x1b7${text}\x1b8`
/** Private modes that hide text, move it, or send keys that nobody has pressed. */
const off = [2026, 69, 6, 5, 1, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004]

/**
 * Resets the terminal, since a command's output could conceal the question or draw over it. Leaving the alternate
 * screen, the margins and the origin mode moves the cursor, so it is put back. DECSTR resets less.
 */
export const reset = [
  ended,
  atCursor("\x1b[?1049l"),
  atCursor(`\x1b[?${off.join("l\x1b[?")}l\x1b[r`),
  "\x1b[m\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b%G\x1b[4l\x1b[20l\x1b[?7h\x1b[?25h\x1b>\x1b[=0u\x1b[>4m",
  // Colours of the palette, the text, the background and the cursor.
  "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
  "\x1b[J"
].join("")

/** The result for several lines at once, which matches no answer. */
const pasted = "(pasted text)"

/**
 * Tests whether this process is in the background of its terminal, where reading would stop it. Known only on Linux,
 * from `/proc`.
 */
const isInBackground = (): boolean =>
  Attempt.orElse(() => {
    const stat = Fs.readFileSync("/proc/self/stat", "utf8")
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return group !== foreground
  }, false)

class Question {
  private readonly stream: Tty.ReadStream
  /** True while the terminal delivers single keys without echo. Such keys are never part of the answer. */
  private isDeaf = false
  private text = ""
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly fd: number,
    /** The last line of the question. */
    private readonly prompt: string,
    /** Receives the line; empty at the end of input or if the terminal is gone. */
    private readonly done: (line: string) => void
  ) {
    this.stream = new Tty.ReadStream(fd)
    this.stream.setEncoding("utf8")
    this.stream.on("data", this.onData).once("end", this.onEnd).once("error", this.onEnd)
    process.on("SIGCONT", this.onContinue)
    this.settle()
  }

  /** Restores the terminal. If the question has no answer, its line is ended. */
  close(isAnswered: boolean): void {
    clearTimeout(this.timer)
    process.off("SIGCONT", this.onContinue)
    this.stream.off("data", this.onData)
    if (!isAnswered) this.write("\n")
    this.deafen(false)
    this.stream.destroy()
  }

  /** Waits until no more keys arrive, then shows the prompt. */
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
      // More than one line arrived at once.
      else if (chunk !== endOfInput) this.end(pasted)
      return
    }
    this.text += chunk
    const at = this.text.indexOf("\n")
    if (at < 0) return
    if (at + 1 < this.text.length) return this.end(pasted)
    // Text after the line is only readable at once while the terminal delivers single keys.
    const line = this.text.slice(0, at)
    if (line.trim() === "") return this.end(line, true)
    if (this.deafen(true)) this.timer = setTimeout(() => this.end(line, true), behind)
  }

  private readonly onEnd = (): void => this.end("")

  private readonly onContinue = (): void => {
    // Whoever stopped this process may have changed the terminal's mode.
    if (this.isDeaf && this.deafen(false)) this.deafen(true)
    if (!this.isDeaf) this.write(this.prompt)
  }

  private end(line: string, isAnswered = false): void {
    this.close(isAnswered)
    this.done(line)
  }

  /** Returns false if the terminal is gone, which ends the question. */
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
    // The terminal is gone.
    Attempt.ignore(() => Fs.writeSync(this.fd, text))
  }
}

/**
 * Shows a text, with its last line as the prompt once no more keys arrive, and reads a line. The line is empty at the
 * end of input, and `(pasted text)` if several lines came at once. None if there is no terminal.
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
