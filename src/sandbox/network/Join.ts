/** Joins two connections. */
import * as Net from "node:net"

/** The most bytes of one read. A stream of Node reads 64 KiB, and takes new memory for each read. */
const most = 256 * 1024

/** A connection out of the sandbox. Joined to one of the sandbox, it passes on what it reads without copying it. */
interface Outgoing extends Net.Socket {
  to: Net.Socket | undefined
}

const isOutgoing = (socket: Net.Socket): socket is Outgoing => "to" in socket

/** Connects to an address outside. */
export const connect = (host: string, port: number): Net.Socket => {
  const callback = (length: number, buffer: Uint8Array): boolean => {
    const bytes = buffer.subarray(0, length)
    const { to } = socket
    if (to === undefined) return socket.push(Buffer.from(bytes))
    if (to.destroyed) return false
    to.write(bytes, () => socket.resume())
    // The system has taken everything, so the memory is free again.
    return to.writableLength === 0
  }
  const onread = { buffer: Buffer.allocUnsafeSlow(most), callback }
  const socket: Outgoing = Object.assign(Net.connect({ host, port, allowHalfOpen: true, onread }), { to: undefined })
  return socket
}

const pass = (from: Net.Socket, to: Net.Socket): void => {
  if (!isOutgoing(from)) return void from.pipe(to)
  const bytes: Buffer | null = from.read()
  if (bytes !== null) to.write(bytes)
  from.to = to
  from.on("end", () => to.end())
  from.resume()
}

/** Passes bytes in both directions, and the end of each. */
export const join = (one: Net.Socket, other: Net.Socket): void => {
  if (one.destroyed || other.destroyed) {
    one.destroy()
    return void other.destroy()
  }
  for (const [from, to] of [[one, other] as const, [other, one] as const]) {
    pass(from, to)
    from.on("error", () => to.destroy())
    // Bytes written before may still be in transit.
    from.on("close", (failed) => (failed ? to.destroy() : to.end()))
  }
}
