/**
 * The limits on timeouts.
 *
 * @since 0.1.0
 */
import * as FiberRef from "effect/FiberRef"
import * as GlobalValue from "effect/GlobalValue"

/**
 * The longest time that a timer of Node's can hold, in milliseconds, and so the longest timeout of a command: some 24
 * days.
 *
 * @since 0.1.0
 */
export const longest = 2 ** 31 - 1

/**
 * The time in milliseconds that a line which names a task for a sub-agent may take, where its call gives none.
 *
 * @since 0.1.0
 */
export const ofTasks = 30 * 60_000

/**
 * The time in milliseconds of calls that name none, of those too that Synapse answers itself, which take the time that they
 * need where it is undefined.
 *
 * @since 0.1.0
 * @category fiber refs
 */
export const ofCalls: FiberRef.FiberRef<number | undefined> = GlobalValue.globalValue("synapse/Timeout", () =>
  FiberRef.unsafeMake<number | undefined>(undefined)
)
