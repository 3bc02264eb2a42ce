/** Opens FIFOs without blocking. */
import * as Fs from "node:fs"
import * as Net from "node:net"

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = Fs.constants

/** Opens a FIFO; throws where a command has put something else in its place. */
const open = (path: string, flags: number): number => {
  const fd = Fs.openSync(path, flags | O_NONBLOCK | O_NOFOLLOW)
  if (Fs.fstatSync(fd).isFIFO()) return fd
  Fs.closeSync(fd)
  throw new Error(`${path} is no FIFO any more`)
}

/** Opens a FIFO for reading. It ends when the last writer has gone, but not before there was one. */
export const openToRead = (path: string): number => open(path, O_RDONLY)

/** Opens a FIFO to read it as it comes. It ends when the last writer has gone, but not before there was one. */
export const reader = (path: string): Net.Socket =>
  new Net.Socket({ fd: openToRead(path), readable: true, writable: false })

/** Opens a FIFO for reading and writing: it never ends, and whoever opens the other end does not wait. */
export const openBoth = (path: string): number => open(path, O_RDWR)

/** Opens a FIFO for writing, where somebody reads it. Writing fails once nobody does. */
export const writer = (path: string): Net.Socket =>
  new Net.Socket({ fd: open(path, O_WRONLY), readable: false, writable: true })

/** Tests whether nobody has a FIFO open, so that it is empty. */
export const isUnused = (path: string): boolean => {
  try {
    Fs.closeSync(open(path, O_WRONLY))
    return false
  } catch (error) {
    // ENXIO: nobody reads. This is tested first, for opening it for reading would make this process its reader.
    if ((error as NodeJS.ErrnoException).code !== "ENXIO") return false
  }
  const fd = openToRead(path)
  try {
    return Fs.readSync(fd, Buffer.allocUnsafe(1)) === 0
  } catch {
    // EAGAIN: somebody writes.
    return false
  } finally {
    Fs.closeSync(fd)
  }
}
