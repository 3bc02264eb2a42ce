/**
 * Which commands the packets without a route belong to, by readings between them.
 *
 * @since 0.1.0
 */
import * as NetworkCounters from "./NetworkCounters.js"

/**
 * Packets that found no route.
 *
 * @since 0.1.0
 * @category models
 */
export interface Traffic {
  /** While the command ran. */
  readonly surely: number
  /** While it ran, or before it. */
  readonly perhaps: number
}

/**
 * @since 0.1.0
 * @category models
 */
export interface NetworkMeter {
  /** A command has ended that nobody asks about. */
  readonly pass: () => void
  /** Takes a reading, in time that nobody waits for; `isIdle` says that no command runs. */
  readonly note: (isIdle: boolean) => void
  /** Takes a reading after a command, and answers what it sent. */
  readonly settle: () => Traffic
  readonly close: () => void
}

const { between } = NetworkCounters

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (source: NetworkCounters.Source): NetworkMeter => {
  let last = source.read()
  /** The last one that was taken while nothing ran. */
  let idle = last
  /** Whether more than one command has ended since. */
  let isShared = false
  return {
    pass: () => {
      isShared = true
    },
    note: (isIdle) => {
      last = source.read()
      isShared = false
      if (isIdle) idle = last
    },
    settle: () => {
      const now = source.read()
      const [before, since] = [between(idle, last), between(last, now)]
      const traffic = isShared ? { surely: 0, perhaps: before + since } : { surely: since, perhaps: before }
      last = now
      idle = now
      isShared = false
      return traffic
    },
    close: source.close
  }
}

/**
 * For the network that a process is in.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (pid: number): NetworkMeter | undefined => {
  const source = NetworkCounters.open(pid)
  return source === undefined ? undefined : make(source)
}
