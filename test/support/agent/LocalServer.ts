/** A server on a free port of this machine; it and all its connections end with the scope. */
import type { AddressInfo, Server, Socket } from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface LocalServer {
  readonly port: number
  /** Returns the number of connections that are open. */
  readonly connections: () => number
}

export const listen = (make: () => Server): Effect.Effect<LocalServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    const server = yield* Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const made = make()
        made.on("connection", (socket) => {
          sockets.add(socket)
          socket.once("close", () => sockets.delete(socket))
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.async<void>((resume) => {
          for (const socket of sockets) socket.destroy()
          made.close(() => resume(Effect.void))
        })
    )
    return { port: (server.address() as AddressInfo).port, connections: () => sockets.size }
  })
