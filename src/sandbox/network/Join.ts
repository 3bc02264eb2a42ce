/** Joins two connections. */
import type * as Net from "node:net"

/** Passes bytes in both directions, and the end of each. */
export const join = (one: Net.Socket, other: Net.Socket): void => {
  if (one.destroyed || other.destroyed) {
    one.destroy()
    return void other.destroy()
  }
  for (const [from, to] of [[one, other] as const, [other, one] as const]) {
    from.pipe(to)
    from.on("error", () => to.destroy())
    // Bytes written before may still be in transit.
    from.on("close", (failed) => (failed ? to.destroy() : to.end()))
  }
}
