/**
 * Opens a sandbox's servers on the machine's own localhost, and nowhere else.
 */
import * as Net from "node:net"
import type { NetworkDoor } from "../platform/SandboxPlatform.js"
import type { Published } from "../policy/SandboxPolicy.js"
import { join } from "./Join.js"

const mostConnections = 1024

/**
 * Listens on the machine and passes each connection to the server in the sandbox. Fails if the machine's port is taken.
 */
export const open = (door: NetworkDoor, { inside, outside }: Published): Promise<Net.Server> => {
  const connect = () => door.connect("127.0.0.1", inside).catch(() => door.connect("::1", inside))
  const server = Net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on("error", () => {})
    connect().then(
      (inner) => join(socket, inner),
      () => socket.resetAndDestroy()
    )
  })
  server.maxConnections = mostConnections
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE"
      reject(isTaken ? new Error(`port ${outside} of the machine is taken; ${inside}:<port> names another one`) : error)
    })
    server.listen(outside, "127.0.0.1", () => resolve(server))
  })
}
