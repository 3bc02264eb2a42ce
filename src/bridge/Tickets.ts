/**
 * Hands out free slots by tickets. A ticket is one byte in a FIFO: it is read by one reader only.
 *
 * Whoever has read a ticket calls with the same byte. Where the reader dies in between, the ticket is lost, and is
 * replaced after a while.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Fifo from "./Fifo.js"

/** The most reads at a time: a pipe holds no more, unless somebody fills it without end. */
const mostReads = 256

/** Milliseconds from taking a ticket to the call, after which the ticket counts as lost. */
const patience = 2000

/**
 * Hands out free slots by tickets, and replaces tickets that were lost.
 *
 * @since 0.1.0
 * @category models
 */
export class Tickets {
  private readonly fd: number
  private readonly buffer = Buffer.alloc(4096)
  /** The time at which each ticket was first missed. */
  private readonly missed = new Map<string, number>()

  constructor(path: string) {
    this.fd = Fifo.openBoth(path)
  }

  /** True where the FIFO was deleted. */
  get lost(): boolean {
    return Fs.fstatSync(this.fd).nlink === 0
  }

  give(slots: string): void {
    for (const slot of slots) this.missed.delete(slot)
    this.write(slots)
  }

  /** Makes sure that exactly the free slots have a ticket. Returns whether a ticket is left at the moment. */
  check(free: ReadonlyArray<string>, now = performance.now()): boolean {
    const there = this.readAll()
    const kept: Array<string> = []
    for (const slot of free) {
      const since = this.missed.get(slot) ?? now
      if (there.has(slot) || now - since >= patience) {
        kept.push(slot)
        this.missed.delete(slot)
      } else this.missed.set(slot, since)
    }
    for (const slot of this.missed.keys()) if (!free.includes(slot)) this.missed.delete(slot)
    if (kept.length > 0) this.write(kept.join(""))
    return kept.length > 0
  }

  close(): void {
    Fs.closeSync(this.fd)
  }

  private write(slots: string): void {
    try {
      Fs.writeSync(this.fd, slots)
    } catch {
      // A command has filled the FIFO: `check` empties it, and replaces what was lost.
    }
  }

  private readAll(): Set<string> {
    const found = new Set<string>()
    for (let reads = 0; reads < mostReads; reads++) {
      let count: number
      try {
        count = Fs.readSync(this.fd, this.buffer)
      } catch {
        // EAGAIN: that was all.
        return found
      }
      for (const slot of this.buffer.toString("latin1", 0, count)) found.add(slot)
    }
    return found
  }
}
