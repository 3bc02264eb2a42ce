/**
 * The ends of FIFOs, opened so that nobody waits.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Net from "node:net"

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = Fs.constants

/**
 * To be read from. It ends when the last writer has gone, and not before there was one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openToRead = (path: string): number => Fs.openSync(path, O_RDONLY | O_NONBLOCK)

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
export const openBoth = (path: string): number => Fs.openSync(path, O_RDWR | O_NONBLOCK)

/**
 * To be read as it comes, whoever writes comes and goes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const listener = (path: string): Net.Socket =>
  new Net.Socket({ fd: openBoth(path), readable: true, writable: false })

/**
 * To be written to, where somebody reads. Writing fails when nobody does any more.
 *
 * @since 0.1.0
 * @category constructors
 */
export const writer = (path: string): Net.Socket =>
  new Net.Socket({ fd: Fs.openSync(path, O_WRONLY | O_NONBLOCK), readable: false, writable: true })

/**
 * Whether nobody has it open, so that nothing is in it.
 *
 * @since 0.1.0
 */
export const isUnused = (path: string): boolean => {
  try {
    Fs.closeSync(Fs.openSync(path, O_WRONLY | O_NONBLOCK))
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
