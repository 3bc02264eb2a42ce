/** A socket that reads a FIFO as its bytes come. */
import * as Net from "node:net"

/** The bytes that a pipe holds on Linux by default: one read empties it. */
export const capacity = 65_536

/**
 * Reads a FIFO into the buffers of `onread`, until the last writer has gone or the socket is destroyed. Takes a
 * descriptor that does not block, and owns it.
 */
export const make = (fd: number, onread: Net.OnReadOpts): Net.Socket => {
  // The types lack `onread` here; the documentation has it.
  const options: Net.SocketConstructorOpts & { readonly onread: Net.OnReadOpts } = {
    fd,
    readable: true,
    writable: false,
    onread
  }
  const socket = new Net.Socket(options)
  // An error of the pipe is its end: `close` follows.
  socket.on("error", () => {})
  socket.resume()
  return socket
}
