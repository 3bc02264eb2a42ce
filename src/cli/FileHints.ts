/**
 * What the file commands say on standard error, for a person at `synapse read`, who has no tool to call.
 *
 * @since 0.1.0
 */
import type { Stdio } from "./Stdio.js"

type Write = Stdio["Type"]["write"]

/** Bytes of a line that are held until it ends: more is passed on as it is. */
const longest = 64 * 1024

const newline = 0x0a

/**
 * Passes on lines as soon as they have ended, those that tell what else can be called in the words for a person.
 *
 * @since 0.1.0
 * @category models
 */
export class FileHints {
  private held: Array<Uint8Array> = []
  private length = 0
  private isLong = false

  /** @param names the commands that a person calls with `synapse` before them */
  constructor(
    private readonly names: ReadonlyArray<string>,
    private readonly write: Write
  ) {}

  push(chunk: Uint8Array | string): void | Promise<void> {
    // The bytes may be changed afterwards.
    const bytes = Buffer.from(chunk as Uint8Array)
    const end = bytes.lastIndexOf(newline) + 1
    const parts = end === 0 ? [] : this.take(bytes.subarray(0, end))
    this.held.push(bytes.subarray(end))
    this.length += bytes.length - end
    if (this.isLong || this.length > longest) {
      this.isLong = true
      parts.push(...this.held)
      this.held = []
      this.length = 0
    }
    return this.pass(parts)
  }

  /** Nothing follows. */
  end(): void | Promise<void> {
    return this.pass(this.take(new Uint8Array()))
  }

  private pass(parts: ReadonlyArray<Uint8Array>): void | Promise<void> {
    const bytes = Buffer.concat(parts)
    if (bytes.length > 0) return this.write("stderr", bytes)
  }

  /** What is held, with its end. */
  private take(ended: Uint8Array): Array<Uint8Array> {
    // Every byte a character, so that all of them come back.
    const text = Buffer.concat([...this.held, ended]).toString("latin1")
    // Of a line that was too long, the end.
    const start = this.isLong ? text.indexOf("\n") + 1 : 0
    this.held = []
    this.length = 0
    this.isLong = false
    const lines = text.slice(start).split("\n")
    return [Buffer.from(text.slice(0, start) + lines.map((line) => this.translate(line)).join("\n"), "latin1")]
  }

  /** Only lines of ours begin like that: those of files have their number before them. */
  private translate(line: string): string {
    if (line.startsWith('Bash(command="')) {
      return line.replace(/Bash\(command=("(?:[^"\\]|\\.)*")\)/g, (call, text: string) => {
        const command = commandIn(text)
        return command === undefined ? call : `\`${this.named(command)}\``
      })
    }
    const [, before = "", command = ""] =
      /^(Usage: | {2}|read: .*: more lines follow line \d+: )(\w.*)$/.exec(line) ?? []
    return command === "" ? line : before + this.named(command)
  }

  private named(command: string): string {
    return this.names.some((name) => command.startsWith(`${name} `)) ? `synapse ${command}` : command
  }
}

/** The text of a JSON string. */
const commandIn = (json: string): string | undefined => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
