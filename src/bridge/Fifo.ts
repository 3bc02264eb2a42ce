/**
 * The ends of FIFOs, opened so that nobody waits.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Net from "node:net"

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = Fs.constants

/** Whatever lies there now: a command may have put something else in a FIFO's place. */
const open = (path: string, flags: number): number => {
  const fd = Fs.openSync(path, flags | O_NONBLOCK | O_NOFOLLOW)
  if (Fs.fstatSync(fd).isFIFO()) return fd
  Fs.closeSync(fd)
  throw new Error(`${path} is no FIFO any more`)
}

/**
 * To be read from. It ends when the last writer has gone, and not before there was one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openToRead = (path: string): number => open(path, O_RDONLY)

/**
 * To be read as it comes. It ends when the last writer has gone, and not before there was one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const reader = (path: string): Net.Socket =>
  new Net.Socket({ fd: openToRead(path), readable: true, writable: false })

/**
 * To be read from and written to, with no end: whoever opens the other end need not wait.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openBoth = (path: string): number => open(path, O_RDWR)

/**
 * To be written to, where somebody reads. Writing fails when nobody does any more.
 *
 * @since 0.1.0
 * @category constructors
 */
export const writer = (path: string): Net.Socket =>
  new Net.Socket({ fd: open(path, O_WRONLY), readable: false, writable: true })

/**
 * Whether nobody has it open, so that nothing is in it.
 *
 * @since 0.1.0
 */
export const isUnused = (path: string): boolean => {
  try {
    Fs.closeSync(open(path, O_WRONLY))
    return false
  } catch (error) {
    // Nobody reads; that is what is asked first, for opening it to read would answer for oneself.
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
