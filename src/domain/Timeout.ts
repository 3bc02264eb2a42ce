/** The limits on timeouts. */
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"

/**
 * The longest time that a timer of Node's can hold, in milliseconds, and so the longest timeout of a command: some 24
 * days.
 */
export const longest = 2 ** 31 - 1

/** The time in milliseconds that a line which names a task for a sub-agent may take, where its call gives none. */
export const ofTasks = 30 * 60_000

/**
 * The time in milliseconds of calls that name none, of those too that Synapse answers itself, which take the time that they
 * need where it is undefined.
 */
export const ofCalls: FiberRef.FiberRef<number | undefined> = GlobalValue.globalValue("synapse/Timeout", () =>
  FiberRef.unsafeMake<number | undefined>(undefined)
)
