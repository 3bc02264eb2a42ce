/**
 * The file with the text of the command that the shell runs next.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"

const newline = 10

/**
 * The file, held open and rewritten in place, since truncating it first takes ten times as long.
 *
 * @since 0.1.0
 * @category models
 */
export class CommandFile {
  private readonly fd: number
  private length = 0

  /** Creates the file; throws the file system's error. */
  constructor(readonly path: string) {
    this.fd = Fs.openSync(path, "wx", 0o600)
  }

  /**
   * Writes the text. Where it can't be written whole, the file is emptied, and the file system's error thrown: the shell
   * must never run a part of a command, nor the rest of another.
   */
  write(text: string): void {
    const length = Buffer.byteLength(text)
    // A text with one more character would be another copy of it, which counts where it is long.
    const bytes = Buffer.allocUnsafe(text.endsWith("\n") ? length : length + 1)
    bytes.write(text)
    bytes[bytes.length - 1] = newline
    const before = this.length
    // What may lie in the file if this fails.
    this.length = Math.max(before, bytes.length)
    try {
      for (let done = 0; done < bytes.length; ) {
        done += Fs.writeSync(this.fd, bytes, done, bytes.length - done, done)
      }
    } catch (error) {
      Fs.ftruncateSync(this.fd, 0)
      throw error
    }
    if (bytes.length < this.length) Fs.ftruncateSync(this.fd, bytes.length)
    this.length = bytes.length
  }

  /** True where a command has put another file in its place; throws where there is none. */
  get isReplaced(): boolean {
    return Fs.lstatSync(this.path).ino !== Fs.fstatSync(this.fd).ino
  }

  /** True where a command has deleted it. */
  get isDeleted(): boolean {
    return Fs.fstatSync(this.fd).nlink === 0
  }

  close(): void {
    Fs.closeSync(this.fd)
  }
}
