/** Waits for a command's process substitutions after the command itself has ended. */

import * as ProcessFiles from "../ProcessFiles.js"
import * as ProcessTable from "../ProcessTable.js"
import * as PipeHolders from "./PipeHolders.js"
import * as ProcessSignals from "./ProcessSignals.js"

/** The FIFOs of the command that is over. */
export interface HeldPipes {
  /** The paths of the FIFOs. */
  readonly paths: ReadonlyArray<string>
  /** Reads all that they hold; returns whether a process still holds one for writing. */
  readonly drain: () => boolean
  /** Reads as it comes, until the next `drain`; calls `ended` once nobody writes to one of them any more. */
  readonly follow: (ended: () => void) => void
}

/** Milliseconds between two looks at who holds the pipes: the shortest, and the longest. */
const firstPause = 1
const longestPause = 100

/** Milliseconds to wait where no system tells who holds the pipes. */
const blindGrace = 50

/** Milliseconds after which what can't be killed is left alone. */
const longestKill = 1000

/**
 * Milliseconds that a shell which has just forked for a background process may take until it has redirected its output
 * elsewhere (`server >log 2>&1 &`).
 */
const forkingTime = 100

/** Tests for a shell that works: one in the background waits for its children, or has become another program. */
const isForking = (pid: number): boolean => ProcessFiles.stat(pid)?.state === "R" && ProcessFiles.isShell(pid)

/** The looks that must find no substitution where it is not sure what holds a pipe, such as a process that ends. */
const looks = 3

/**
 * Returns the milliseconds that a substitution may do nothing before it counts as a background process. Some never end
 * though nobody needs them any more: `grep -m1 x < <(tail -f log)`, `echo yes | a-server-of-its-own &`.
 */
const patience = ({ isListening, relation }: PipeHolders.Substitution): number => {
  if (relation === "Unread") return isListening ? 20 : 2000
  return isListening ? 2000 : Number.POSITIVE_INFINITY
}

/** Milliseconds that one may take which could as well be a background process. */
const doubtfulTime = 2000

/** Milliseconds that one which others still write to may take to read what the command has written. */
const readingTime = 1000

interface Seen {
  readonly at: number
  /** The work that it had done when it was seen first after its last work, and when that was. */
  readonly worked: number
  readonly restsSince: number
}

/** The wait for the process substitutions of one command. */
export class Substitutions {
  /** When `stop` gives up. */
  private killUntil: number | undefined
  private wake: () => void = () => {}
  private readonly seen = new Map<number, Seen>()

  constructor(
    private readonly pipes: HeldPipes,
    /** The processes that may have started them (`PipeHolders.parents`). */
    private readonly parents: ReadonlyArray<number>,
    private readonly startedAt: number
  ) {}

  /** Kills all that the command has left, and ends the wait once it is gone. */
  stop(): void {
    this.killUntil ??= performance.now() + longestKill
    this.wake()
  }

  /** Waits until no substitution writes any more; returns whether another process still holds the pipes. */
  async end(): Promise<boolean> {
    const blindUntil = process.platform === "linux" ? 0 : performance.now() + blindGrace
    const forkingUntil = performance.now() + forkingTime
    let without = 0
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      const holders = this.look()
      const isHeld = this.pipes.drain()
      if (!isHeld) return false
      const awaited = holders.substitutions.filter((one) => this.isAwaited(one))
      without = awaited.length > 0 ? 0 : without + 1
      if (this.killUntil === undefined) {
        const isSettled = performance.now() >= forkingUntil || !holders.pids.some(isForking)
        const isFound = isSettled && (without >= looks || (without > 0 && holders.isSure))
        if (isFound && performance.now() >= blindUntil) return true
      } else {
        if (holders.pids.length === 0 || performance.now() > this.killUntil) return true
        for (const pid of holders.pids) ProcessSignals.send(pid, "SIGKILL")
        pause = firstPause
      }
      await this.pause(pause)
    }
  }

  private look(): PipeHolders.Holders {
    const since = ProcessTable.ticksAt(this.startedAt)
    const paths = this.pipes.paths.flatMap((path) => [path, `${path} (deleted)`])
    return PipeHolders.find(this.parents, since, paths)
  }

  private isAwaited(one: PipeHolders.Substitution): boolean {
    const now = performance.now()
    const last = this.seen.get(one.pid) ?? { at: now, worked: one.worked, restsSince: now }
    const seen = last.worked === one.worked ? last : { ...last, worked: one.worked, restsSince: now }
    this.seen.set(one.pid, seen)
    if (one.isDoubtful && now - seen.at >= doubtfulTime) return false
    if (one.relation === "Open") return !one.isListening && now - seen.at < readingTime
    return now - seen.restsSince < patience(one)
  }

  private async pause(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.wake = resolve
      timer = setTimeout(resolve, milliseconds)
      this.pipes.follow(resolve)
    })
    clearTimeout(timer)
  }
}
