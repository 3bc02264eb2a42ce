import * as Net from "node:net"
import * as Tls from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import * as ClientHello from "../../../src/sandbox/network/ClientHello.js"

/** Returns the first bytes that node's own client sends. */
const helloOf = (servername: string) =>
  new Promise<Buffer>((resolve) => {
    const server = Net.createServer((socket) => {
      socket.on("error", () => {})
      socket.once("data", (bytes) => {
        socket.destroy()
        server.close(() => resolve(bytes))
      })
    }).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as Net.AddressInfo
      Tls.connect({ host: "127.0.0.1", port, servername }).on("error", () => {})
    })
  })

const size = (bytes: number) => [bytes >> 8, bytes & 0xff]

/** Makes a ClientHello with these names, each in its own extension. */
const naming = (...names: ReadonlyArray<string>): Buffer => {
  const extensions = names.flatMap((name) => [
    ...[0, 0, ...size(name.length + 5), ...size(name.length + 3), 0],
    ...[...size(name.length), ...Buffer.from(name)]
  ])
  const body = [...Buffer.alloc(35), ...[0, 2, 0x13, 1], ...[1, 0], ...size(extensions.length), ...extensions]
  return Buffer.from([22, 3, 1, ...size(body.length + 4), 1, 0, ...size(body.length), ...body])
}

describe("the first message of a TLS connection", () => {
  it("names the server, however it is divided", async () => {
    const hello = await helloOf("Sub.Example.com")
    assert.deepStrictEqual(ClientHello.read(hello), { name: "sub.example.com" })
    for (let at = 0; at < hello.length; at++) assert.strictEqual(ClientHello.read(hello.subarray(0, at)), "more")
    // In records of seven bytes.
    const body = hello.subarray(5)
    const records = Array.from({ length: Math.ceil(body.length / 7) }, (_, at) => {
      const part = body.subarray(at * 7, at * 7 + 7)
      return Buffer.concat([Buffer.from([22, 3, 1, 0, part.length]), part])
    })
    assert.deepStrictEqual(ClientHello.read(Buffer.concat(records)), { name: "sub.example.com" })
  })

  it("is none where it names two servers: who reads it next may take the other", () => {
    assert.deepStrictEqual(ClientHello.read(naming("a.org")), { name: "a.org" })
    assert.strictEqual(ClientHello.read(naming("a.org", "b.org")), "none")
    assert.strictEqual(ClientHello.read(naming("a.org", "a.org")), "none")
  })

  it("is none where there is no name, or another message", async () => {
    assert.strictEqual(ClientHello.read(await helloOf("")), "none")
    assert.strictEqual(ClientHello.read(Buffer.from("GET / HTTP/1.1\r\n")), "none")
    assert.strictEqual(ClientHello.read(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])), "none")
    assert.strictEqual(ClientHello.read(Buffer.from([22, 3, 1, 0, 0])), "none")
    assert.strictEqual(ClientHello.read(Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0, 0])), "none")
    assert.strictEqual(ClientHello.read(Buffer.from([22, 3, 1, 0, 8, 1, 0, 0, 4, 3, 3, 0, 0])), "none")
  })

  it("takes any bytes behind its head", async () => {
    const hello = await helloOf("a.org")
    let seed = 3
    const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31)
    for (let at = 0; at < 5000; at++) {
      const changed = Buffer.from(hello)
      for (let n = 0; n < 3; n++) changed[9 + (next() % (changed.length - 9))] = next() % 256
      ClientHello.read(changed)
    }
  })
})
