/**
 * Passes a standard input on to a command, through a FIFO of the session's directory.
 *
 * The input's own descriptor is not handed to the shell: through `/proc`, a command could open it anew for writing, past
 * the sandbox.
 */
import * as Fs from "node:fs"
import * as Net from "node:net"
import type { Read } from "../../domain/CommandInput.js"

/** Milliseconds between two looks whether the shell has opened the FIFO: it does so just after it began the command. */
const look = 1

const { O_NONBLOCK, O_WRONLY } = Fs.constants

/** The paths at which systems have cat. */
const systems = ["/bin/cat", "/usr/bin/cat", "/run/current-system/sw/bin/cat"]

/** Returns the path of `cat`; where it is unknown, its name. */
export const cat = (): string => systems.find((path) => Fs.existsSync(path)) ?? "cat"

/** The standard input of one command. It is read no faster than the command reads, and no further once nobody does. */
export class CommandStdin {
  private timer: NodeJS.Timeout | undefined
  private socket: Net.Socket | undefined
  private isOver = false

  constructor(
    private readonly path: string,
    private readonly read: Read
  ) {}

  /** Waits until the shell has opened the FIFO, and passes the input on; where it can't be, the command gets none. */
  open(): void {
    if (this.isOver) return
    try {
      const fd = Fs.openSync(this.path, O_WRONLY | O_NONBLOCK)
      this.socket = new Net.Socket({ fd, readable: false, writable: true })
    } catch (error) {
      // Nobody has opened it for reading yet.
      if ((error as NodeJS.ErrnoException).code === "ENXIO") this.timer = setTimeout(() => this.open(), look)
      return
    }
    // Nobody reads any more.
    this.socket.on("error", () => this.close())
    void this.pass(this.socket)
  }

  /** Passes nothing on any more. */
  close(): void {
    this.isOver = true
    clearTimeout(this.timer)
    this.socket?.destroy()
  }

  private async pass(socket: Net.Socket): Promise<void> {
    for (let chunk = await this.read(); chunk !== undefined && !this.isOver; chunk = await this.read()) {
      if (!socket.write(chunk)) await drained(socket)
      if (this.isOver) return
    }
    socket.end()
  }
}

const drained = (socket: Net.Socket): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done)
      resolve()
    }
    socket.on("drain", done).on("close", done)
  })
