/**
 * Assigns the packets that found no route to the commands that sent them, by reading the kernel's counters between
 * commands.
 */

/** The numbers of packets that have found no route since the network was made. */
export interface NetworkCounters {
  readonly ipv4: number
  readonly ipv6: number
}

/** The counters of one network, which can be read repeatedly. */
export interface Source {
  readonly read: () => NetworkCounters | undefined
  readonly close: () => void
}

/** The number of packets that found no route, as far as they can be assigned to one command. */
export interface Traffic {
  /** Packets that were sent while the command ran. */
  readonly surely: number
  /** Packets that were sent while the command ran, or before it. */
  readonly perhaps: number
}

/** Assigns the packets that one sandbox's network counts to its commands. */
export interface NetworkMeter {
  /** Records that a command has ended whose traffic is not asked for. */
  readonly pass: () => void
  /** Takes a reading between commands; `isIdle` says that no command runs. */
  readonly note: (isIdle: boolean) => void
  /** Takes a reading after a command, and returns the packets that it sent. */
  readonly settle: () => Traffic
  readonly close: () => void
}

/**
 * Returns the number of packets that found no route between two readings. Where the readings are of different networks,
 * this is all that the later one counts.
 */
export const between = (before: NetworkCounters | undefined, after: NetworkCounters | undefined): number => {
  if (after === undefined) return 0
  if (before === undefined || before.ipv4 > after.ipv4 || before.ipv6 > after.ipv6) return after.ipv4 + after.ipv6
  return after.ipv4 - before.ipv4 + after.ipv6 - before.ipv6
}

/** Makes a meter, and takes its first reading at once. */
export const make = (source: Source): NetworkMeter => {
  let last = source.read()
  /** The last reading that was taken while no command ran. */
  let idle = last
  /** True where, since the last reading, a command has ended whose traffic was not asked for. */
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
