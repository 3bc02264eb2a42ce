/** The gateway without a sandbox: the commands' side is a listener of the test's own. */
import * as Dgram from "node:dgram"
import * as Http from "node:http"
import * as Net from "node:net"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { Gateway, type Refused } from "../../../src/sandbox/network/Gateway.js"
import { connect } from "../../../src/sandbox/network/Join.js"
import * as HostEntry from "../../../src/sandbox/policy/HostEntry.js"

const rules = (entries: ReadonlyArray<string>): ReadonlyArray<HostEntry.HostRule> =>
  entries.map((pattern) => ({ ...Either.getOrThrow(HostEntry.parse(pattern, "allowed")), pattern, source: "file" }))

const listening = (server: Net.Server, host: string) =>
  new Promise<number>((resolve) => {
    server.listen(0, host, () => resolve((server.address() as Net.AddressInfo).port))
  })

/** Runs with a gateway, an origin for all hosts that answers with what it got, and the addresses of names. */
const withGateway = async (
  entries: ReadonlyArray<string>,
  use: (world: {
    readonly send: (port: number, text: string) => Promise<string>
    readonly got: Array<string>
    /** The ports outside that were connected to. */
    readonly dialled: Array<number>
    readonly refused: Array<Refused>
    readonly allow: (entries: ReadonlyArray<string>) => Promise<void>
    readonly query: (packet: Buffer) => Promise<Buffer>
  }) => Promise<void>
): Promise<void> => {
  const got: Array<string> = []
  const dialled: Array<number> = []
  const refused: Array<Refused> = []
  const origin = Http.createServer((request, response) => {
    request.resume().on("end", () => {
      const { connection, "x-http-method-override": override, x_method = override } = request.headers
      got.push(`${request.method} ${request.url} ${x_method ?? ""}`.trim())
      response.end(connection === "close" ? "served" : "waiting for a request")
    })
  })
  const at = await listening(origin, "127.0.0.1")
  const names = Dgram.createSocket("udp4")
  await new Promise<void>((resolve) => names.bind(0, "127.0.0.1", resolve))
  const ports = new Map<number, number>()
  let hosts: HostEntry.Hosts = { allowed: rules(entries), denied: [] }
  const gateway = new Gateway({
    door: {
      names: async () => names,
      listen: async (_, port) => {
        const server = Net.createServer()
        ports.set(port, await listening(server, "127.1.0.1"))
        return server
      },
      connect: () => Promise.reject(new Error("no server")),
      own: async () => {},
      close: () => {}
    },
    upstream: {
      lookup: async () => ["93.184.216.34"],
      connect: (_, port) => {
        dialled.push(port)
        return connect("127.0.0.1", at)
      },
      isProxied: () => false,
      connectByProxy: () => Promise.reject(new Error("no proxy")),
      isReachable: () => true
    },
    hosts: () => hosts,
    onRefused: (one) => refused.push(one),
    onReached: () => {},
    onFailed: () => {},
    onLate: () => {}
  })
  await gateway.open()
  const query = (packet: Buffer) =>
    new Promise<Buffer>((resolve) => {
      const socket = Dgram.createSocket("udp4").once("message", (answer) => {
        socket.close()
        resolve(answer)
      })
      socket.send(packet, names.address().port, "127.0.0.1")
    })
  const send = (port: number, text: string) =>
    new Promise<string>((resolve) => {
      const socket = Net.connect(ports.get(port) ?? 0, "127.1.0.1", () => socket.write(text))
      let said = ""
      socket.on("data", (bytes) => {
        said += bytes
      })
      socket.on("error", () => {})
      socket.setTimeout(2000, () => {
        said += "(silence)"
        socket.destroy()
      })
      socket.once("close", () => resolve(said))
    })
  try {
    await use({
      send,
      got,
      dialled,
      refused,
      query,
      allow: async (next) => {
        hosts = { allowed: rules(next), denied: [] }
        await gateway.update()
      }
    })
  } finally {
    gateway.close()
    origin.close()
  }
}

const question = (name: string, type: number, additional = "") =>
  Buffer.concat([
    Buffer.from(`1234010000010000000000${additional === "" ? "00" : "01"}`, "hex"),
    ...name.split(".").flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0, 0, type, 0, 1]),
    Buffer.from(additional, "hex")
  ])

/** What Go's own resolver adds to its questions: EDNS0, for answers of up to 1,232 bytes. */
const edns = "00002904d0000000000000"

const head = (line: string, ...more: ReadonlyArray<string>) => [line, "Host: a.test", ...more, "", ""].join("\r\n")

const once = "Connection: close"

describe("a host with methods", () => {
  it("takes these of plain HTTP alone, however others are put", () =>
    withGateway(["GET,HEAD:a.test"], async ({ got, query, refused, send }) => {
      await query(question("a.test", 1))
      assert.match(await send(80, head("GET /1 HTTP/1.1", once)), /200 OK.*served/s)
      assert.match(await send(80, head("HEAD /2 HTTP/1.1", once)), /200 OK/)
      assert.deepStrictEqual(got.splice(0), ["GET /1", "HEAD /2"])
      const post = head("POST /bad HTTP/1.1", "Content-Length: 0", once)
      for (const attack of [
        post,
        post.replace("/bad", "http://a.test/bad"),
        post.replace("POST", "DELETE"),
        post.replace("POST", "PROPFIND"),
        post.replace("POST", "get"),
        post.replace("POST", "any"),
        post.replace("POST", "GET\x00POST"),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x00\x05hello",
        head("CONNECT a.test:80 HTTP/1.1"),
        head("GET /bad HTTP/1.1", "Host: b.test", once)
      ]) {
        assert.notInclude(await send(80, attack), "200", attack)
      }
      assert.deepStrictEqual(got, [])
      assert.include(refused[0], {
        host: "a.test",
        port: 80,
        reason: "GET,HEAD:a.test allows GET and HEAD alone",
        grant: "a.test:80"
      })
      // Behind another request, as its body, and by a header.
      const first = head("GET /1 HTTP/1.1")
      assert.notInclude(await send(80, first + post), "served\r\nHTTP")
      await send(80, head("GET /2 HTTP/1.1", `Content-Length: ${post.length}`, once) + post)
      await send(80, head("GET /3 HTTP/1.1", "X-HTTP-Method-Override: DELETE", "X_Method: PUT", once))
      assert.deepStrictEqual(
        got.filter((line) => line !== "GET /1"),
        ["GET /2", "GET /3"]
      )
    }))

  it("takes anything where another entry for the same port allows it, and is cut with that entry", () =>
    withGateway(["GET:a.test:8443", "a.test:80"], async ({ allow, dialled, got, query, refused, send }) => {
      await query(question("a.test", 1))
      const post = head("POST /x HTTP/1.1", "Content-Length: 0", "X-HTTP-Method-Override: PUT", once)
      assert.include(await send(80, post), "served")
      assert.notInclude(await send(8443, post.replace("a.test", "a.test:8443")), "served")
      // What is no HTTP has no method.
      await send(8443, "SSH-2.0-x\r\n")
      assert.deepStrictEqual([got, dialled], [["POST /x PUT"], [80]])
      assert.deepStrictEqual(
        refused.map(({ port }) => port),
        [8443]
      )
      const held = send(80, head("GET / HTTP/1.1"))
      await new Promise((resolve) => setTimeout(resolve, 100))
      await allow(["GET:a.test"])
      assert.notInclude(await held, "(silence)")
    }))
})

describe("the gateway's name server", () => {
  it("answers as each resolver asks: glibc's, Go's with EDNS0, and for IPv6 alone", () =>
    withGateway(["a.test"], async ({ query }) => {
      for (const more of ["", edns]) {
        const ipv4 = await query(question("a.test", 1, more))
        assert.strictEqual(ipv4.subarray(0, 12).toString("hex"), "123481800001000100000000")
        assert.deepStrictEqual([...ipv4.subarray(-4)], [127, 1, 0, 1])
        // There is the name, without an address of this kind: so it is looked up as IPv4.
        const ipv6 = await query(question("a.test", 28, more))
        assert.strictEqual(ipv6.subarray(0, 12).toString("hex"), "123481800001000000000000")
        const denied = await query(question("b.test", 1, more))
        assert.strictEqual(denied.subarray(0, 12).toString("hex"), "123481830001000000000000")
      }
    }))
})
