/** A proxy that leads every request, and every tunnel, to one port of this machine, and keeps what it was sent in clear. */
import * as Http from "node:http"
import * as Net from "node:net"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as LocalServer from "./LocalServer.js"

export interface ProxyServer {
  readonly port: number
  /** The first lines of the requests to it: `POST http://…`, `CONNECT host:443`. */
  readonly asked: ReadonlyArray<string>
  /** The value of `proxy-authorization` of each. */
  readonly authorized: ReadonlyArray<string | undefined>
  /** All that it could read of tunnels and their requests. */
  readonly read: () => string
}

export const serve = (
  target: number,
  options: { readonly refuses?: boolean } = {}
): Effect.Effect<ProxyServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const authorized: Array<string | undefined> = []
    let read = ""
    const server = yield* LocalServer.listen(() => {
      const made = Http.createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`)
        authorized.push(request.headers["proxy-authorization"])
        const { pathname } = new URL(request.url ?? "")
        const onward = Http.request(
          { port: target, host: "127.0.0.1", method: request.method, path: pathname, headers: request.headers },
          (answer) => {
            response.writeHead(answer.statusCode ?? 500, answer.headers)
            answer.pipe(response)
          }
        )
        request.pipe(onward)
      })
      made.on("connect", (request, socket, head) => {
        asked.push(`CONNECT ${request.url}`)
        authorized.push(request.headers["proxy-authorization"])
        read += JSON.stringify(request.headers)
        socket.on("error", () => {})
        if (options.refuses === true) {
          socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
          return
        }
        const onward = Net.connect(target, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 Connected\r\n\r\n")
          onward.write(head)
        })
        onward.on("error", () => socket.destroy())
        onward.on("close", () => socket.destroy())
        onward.pipe(socket)
        socket.on("data", (bytes: Buffer) => {
          read += bytes.toString("latin1")
          onward.write(bytes)
        })
      })
      return made
    })
    return { port: server.port, asked, authorized, read: () => read }
  })
