import { assert, describe, it } from "@effect/vitest"
import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import * as Wire from "../../../src/extension/mcp/internal/Wire.js"

/** Hands each message of a program to `use`, until one says that it is the last. */
const listen = async (
  script: string,
  use: (message: JSONRPCMessage, transport: Wire.StdioTransport) => void
): Promise<void> => {
  const transport = Wire.makeStdioTransport({
    program: process.execPath,
    args: ["-e", script],
    cwd: "/",
    environment: {}
  })
  const last = new Promise<void>((resolve) => {
    transport.onmessage = (message) => {
      if ("method" in message && message.method === "last") resolve()
      else use(message, transport)
    }
  })
  await transport.start()
  await last
  await transport.close()
}

/** Asks so often, and then says that it was the last; what it is answered it reads in small pieces, with rests. */
const asking = (count: number) => `
const say = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n"
let at = 0
const more = () => {
  let some = ""
  for (let end = Math.min(at + 100, ${count}); at < end; at++) some += say({ id: at, method: "roots/list" })
  process.stdout.write(at < ${count} ? some : some + say({ method: "last" }), at < ${count} ? more : undefined)
}
more()
process.stdin.on("data", () => {
  process.stdin.pause()
  setTimeout(() => process.stdin.resume(), 2)
})
`

describe("StdioTransport", () => {
  it("does not read requests whose answers are not taken", async () => {
    const text = "x".repeat(1024)
    let [unread, most] = [0, 0]
    await listen(asking(4000), (message, transport) => {
      most = Math.max(most, ++unread)
      const taken = () => unread--
      void transport
        .send({ jsonrpc: "2.0", id: "id" in message ? message.id : 0, result: { text } } as JSONRPCMessage)
        .then(taken, taken)
    })
    // 64 KiB, and a few.
    assert.isBelow(most, 80)
  })

  it("leaves turns to others while there are messages", async () => {
    const script = `process.stdout.write('{"jsonrpc":"2.0","method":"noise"}\\n'.repeat(200) + '{"jsonrpc":"2.0","method":"last"}\\n')
process.stdin.resume()`
    let [messages, turns] = [0, 0]
    const turn = () => {
      if (messages > 0 && messages < 200) turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await listen(script, () => {
      messages++
      for (const end = performance.now() + 1; performance.now() < end; ) {}
    })
    clearImmediate(next)
    assert.strictEqual(messages, 200)
    assert.isAbove(turns, 20)
  })
})
