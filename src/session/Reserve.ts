/**
 * Room on the disk that is kept for the session itself, so that a full disk does not keep the command from running that
 * makes it less full.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"

/** The bytes that are kept. */
const size = 64 * 1024

/** Error codes of a file system that has no more room. */
const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === "ENOSPC" || code === "EDQUOT"
}

/**
 * A file that is given up where there is no more room, and made again as soon as there is.
 *
 * @since 0.1.0
 * @category models
 */
export class Reserve {
  private kept = false

  constructor(private readonly path: string) {}

  /** Writes something; once more without the reserve, where the disk is full. Throws the error of the last attempt. */
  use(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (!isFull(error) || !this.kept) throw error
      this.giveUp()
      return write()
    }
    if (!this.kept) this.keep()
  }

  private keep(): void {
    try {
      // Written, not only made longer: a hole takes no room.
      Fs.rmSync(this.path, { force: true })
      Fs.writeFileSync(this.path, Buffer.alloc(size, 1), { mode: 0o600, flag: "wx" })
      this.kept = true
    } catch {
      this.giveUp()
    }
  }

  private giveUp(): void {
    this.kept = false
    Fs.rmSync(this.path, { force: true })
  }
}
