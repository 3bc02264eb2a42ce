/**
 * Records in which order the two streams of a command were written.
 *
 * One read of a pipe may return several writes, between which the other pipe was written to. The kernel tells
 * the turns in which the pipes were written (`WriteWatch`), but not how much each time: the lines that were read
 * together are shared out evenly among their stream's turns.
 */
import type { LineOrder, StreamName } from "../../domain/LineOrder.js"
import type { LineCounter } from "./LineCounter.js"

/** One batch of reads: the bytes of each stream, and the turns in which they were written, one stream after the other. */
interface Group {
  stdout: number
  stderr: number
  first: StreamName
  turns: number
}

/** The most groups that are kept as they are; of more, those in the middle become one. */
const maxGroups = 4096
const keptAtEnds = 1024

const otherOf = (stream: StreamName): StreamName => (stream === "stdout" ? "stderr" : "stdout")

const lastOf = ({ first, turns }: Group): StreamName => (turns % 2 === 1 ? first : otherOf(first))

const hasBoth = ({ stderr, stdout }: Group): boolean => stdout > 0 && stderr > 0

/** The order of a command's output. */
export class OutputOrder {
  private groups: Array<Group> = []
  private open: Group | undefined

  /** Adds a write of unknown length, which may have been read already. */
  wrote(stream: StreamName): void {
    const group = this.opened(stream)
    if (group.turns === 0 || lastOf(group) !== stream) {
      if (group.turns === 0) group.first = stream
      group.turns++
    }
  }

  /** Adds what was read. */
  took(stream: StreamName, bytes: number): void {
    if (bytes > 0) this.opened(stream)[stream] += bytes
  }

  /** True where both streams have bytes that were read since the last `settle`. */
  get isMixed(): boolean {
    return this.open !== undefined && hasBoth(this.open)
  }

  /** Tells that all that was read so far was written before all that comes. */
  settle(): void {
    const { open } = this
    this.open = undefined
    if (open === undefined || open.stdout + open.stderr === 0) return
    const before = this.groups.at(-1)
    if (before === undefined || hasBoth(before) || hasBoth(open) || before.stdout > 0 !== open.stdout > 0) {
      this.groups.push(open)
    } else {
      before.stdout += open.stdout
      before.stderr += open.stderr
    }
    if (this.groups.length > maxGroups) {
      const count = this.groups.length - 2 * keptAtEnds
      const middle = this.groups.splice(keptAtEnds, count)
      this.groups.splice(keptAtEnds, 0, middle.reduce(together))
    }
  }

  /** Returns the order in lines of the texts; undefined where only one stream has any, or one came wholly before the other. */
  lines(stdout: LineCounter, stderr: LineCounter): LineOrder | undefined {
    this.settle()
    const counters = { stdout, stderr }
    const read = { stdout: 0, stderr: 0 }
    const told = { stdout: 0, stderr: 0 }
    const order: Array<[StreamName, number]> = []
    const add = (stream: StreamName, lines: number) => {
      const last = order.at(-1)
      if (lines === 0) return
      if (last?.[0] === stream) last[1] += lines
      else order.push([stream, lines])
    }
    const take = (stream: StreamName, bytes: number): number => {
      read[stream] += bytes
      const lines = counters[stream].upTo(read[stream]) - told[stream]
      told[stream] += lines
      return lines
    }
    for (const group of this.groups) {
      const lines = { stdout: take("stdout", group.stdout), stderr: take("stderr", group.stderr) }
      for (const [stream, count] of shared(group, lines)) add(stream, count)
    }
    const isPlain = order.length < 2 || (order.length === 2 && order[0]?.[0] === "stdout")
    return isPlain ? undefined : order
  }

  private opened(first: StreamName): Group {
    this.open ??= { stdout: 0, stderr: 0, first, turns: 0 }
    return this.open
  }
}

/** Makes one group of two; where the second goes on with the stream that the first has ended with, that is one turn. */
const together = (one: Group, next: Group): Group => ({
  stdout: one.stdout + next.stdout,
  stderr: one.stderr + next.stderr,
  first: one.turns === 0 ? firstOf(one) : one.first,
  turns: turnsOf(one) + turnsOf(next) - (lastOf(known(one)) === firstOf(next) ? 1 : 0)
})

const firstOf = (group: Group): StreamName => known(group).first
const turnsOf = (group: Group): number => known(group).turns

/** Returns a group with a turn for each stream that has bytes: standard output first, where nothing is known. */
const known = (group: Group): Group => {
  if (!hasBoth(group)) return { ...group, first: group.stdout > 0 ? "stdout" : "stderr", turns: 1 }
  if (group.turns === 0) return { ...group, first: "stdout", turns: 2 }
  return group.turns === 1 ? { ...group, turns: 2 } : group
}

/** Shares the lines of a group out among its turns. */
function* shared(group: Group, lines: Readonly<Record<StreamName, number>>): Iterable<[StreamName, number]> {
  const { first, turns } = known(group)
  const other = otherOf(first)
  const turnsOfStream = { [first]: Math.ceil(turns / 2), [other]: Math.floor(turns / 2) } as Record<StreamName, number>
  for (let turn = 0; turn < turns; turn++) {
    const stream = turn % 2 === 0 ? first : other
    const at = Math.floor(turn / 2)
    const until = (turns: number) => Math.floor((turns * lines[stream]) / turnsOfStream[stream])
    yield [stream, until(at + 1) - until(at)]
  }
}
