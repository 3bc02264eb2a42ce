/**
 * Tells which commands the packets without a route belong to, by readings between them.
 *
 * @since 0.1.0
 */

/**
 * The number of packets that found no route since the network was made.
 *
 * @since 0.1.0
 * @category models
 */
export interface NetworkCounters {
  readonly ipv4: number
  readonly ipv6: number
}

/**
 * The counters of one network, which can be read again and again.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  readonly read: () => NetworkCounters | undefined
  readonly close: () => void
}

/**
 * The number of packets that found no route.
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
 * Divides what the counters of one sandbox's network count between its commands.
 *
 * @since 0.1.0
 * @category models
 */
export interface NetworkMeter {
  /** Says that a command has ended whose traffic nobody asks for. */
  readonly pass: () => void
  /** Takes a reading in time that nobody waits for; `isIdle` says that no command runs. */
  readonly note: (isIdle: boolean) => void
  /** Takes a reading after a command, and answers with what it sent. */
  readonly settle: () => Traffic
  readonly close: () => void
}

/**
 * Returns how many packets found no route between two readings; of another network's, all that the later one counts.
 *
 * @since 0.1.0
 * @category readings
 */
export const between = (before: NetworkCounters | undefined, after: NetworkCounters | undefined): number => {
  if (after === undefined) return 0
  if (before === undefined || before.ipv4 > after.ipv4 || before.ipv6 > after.ipv6) return after.ipv4 + after.ipv6
  return after.ipv4 - before.ipv4 + after.ipv6 - before.ipv6
}

/**
 * Makes a meter, which takes its first reading at once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (source: Source): NetworkMeter => {
  let last = source.read()
  /** The last reading that was taken while nothing ran. */
  let idle = last
  /** Whether a command has ended since the last reading that nobody asked about. */
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
