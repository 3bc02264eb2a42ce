/** What a call of an MCP tool costs, over the official client alone, and how long a large answer holds up everything else. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as McpSettings from "../../src/extension/mcp/internal/McpSettings.js"
import * as LiveMcpClient from "../../src/extension/mcp/LiveMcpClient.js"
import { McpClient } from "../../src/extension/mcp/McpClient.js"
import { McpConfig, McpEntry } from "../../src/extension/mcp/McpConfig.js"
import * as Table from "./Table.js"

const calls = 500
const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-bench-"))
const args = [path.resolve("test/fixtures/mcp/odd.mjs"), path.join(directory, "log")]

const transport = new StdioClientTransport({ command: process.execPath, args, maxBufferSize: 2 ** 26 })
const bare = new Client({ name: "bench", version: "1" })
await bare.connect(transport)
await bare.listTools()

const entry = McpEntry.Stdio({
  server: { name: "odd", source: "home", target: "odd" },
  fingerprint: "f",
  command: process.execPath,
  args,
  env: {},
  cwd: directory
})
const config = Layer.succeed(McpConfig, { home: directory, root: directory, entries: Effect.succeed([entry]) })
const runtime = ManagedRuntime.make(
  LiveMcpClient.layer.pipe(
    Layer.provide(config),
    Layer.provide(Layer.succeed(McpSettings.McpSettings, McpSettings.defaults))
  )
)
const client = await runtime.runPromise(McpClient)

type Call = (name: string, args: Record<string, unknown>) => Promise<unknown>

const ways: Record<"official client" | "McpClient.call", Call> = {
  "official client": (name, args) => bare.callTool({ name, arguments: args }),
  "McpClient.call": (name, args) => runtime.runPromise(client.call("odd", name, args))
}

/** Microseconds a call. */
const perCall = async (call: () => Promise<unknown>) => {
  const start = performance.now()
  for (let at = 0; at < calls; at++) await call()
  return ((performance.now() - start) * 1000) / calls
}

/** The longest time in milliseconds that nothing else could run. */
const longestHold = async (call: () => Promise<unknown>) => {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await call()
  delay.disable()
  return delay.max / 1e6
}

const echo = (call: Call) => () => perCall(() => call("echo", { text: "hello" }))
const big = (call: Call) => () => longestHold(() => call("big", { bytes: 8 * 1024 ** 2 }))

try {
  const bareEcho = echo(ways["official client"])
  const ownEcho = echo(ways["McpClient.call"])
  await Table.print(
    [
      { name: "the most that it may be", run: () => 5000 },
      { name: "McpClient.call over the official client", run: async () => (await ownEcho()) - (await bareEcho()) },
      { name: "the official client", run: bareEcho }
    ],
    {
      title: "what a call of an MCP tool costs more",
      unit: "µs",
      samples: 9,
      goals: { "McpClient.call over the official client": 1 }
    }
  )
  await Table.print(
    Object.entries(ways).map(([name, call]) => ({ name, run: big(call) })),
    { title: "an answer of 8 MB: nothing else runs for", unit: "ms", samples: 9, goals: { "McpClient.call": 1 } }
  )
} finally {
  await bare.close()
  await runtime.dispose()
  fs.rmSync(directory, { recursive: true, force: true })
}
