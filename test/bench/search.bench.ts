/** What extensions cost: a search through 1,000 tools, and the tokens that tools cost a model, here and as plain lists. */
import * as Path from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { CommandHandler, Described } from "../../src/command/CommandHandler.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Synapse from "../../src/Synapse.js"
import * as ToolFormat from "../../src/toolset/ToolFormat.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Table from "./Table.js"

/** The tools of a real server, as its client gets them. */
const toolsOf = async (name: string, ...args: ReadonlyArray<string>) => {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "legacy" } })
  const program = Path.resolve(`node_modules/@modelcontextprotocol/${name}/dist/index.js`)
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, ...args], stderr: "ignore" })
  )
  try {
    const { tools } = await client.listTools()
    return tools.map(({ description, inputSchema, name: tool }) => ({ name: tool, description, inputSchema }))
  } finally {
    await client.close()
  }
}

const real = [...(await toolsOf("server-everything", "stdio")), ...(await toolsOf("server-filesystem", process.cwd()))]

/** That many tools: the real ones, again and again, of another server each time. */
const plain = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const tool = real[at % real.length] as (typeof real)[number]
    return { ...tool, server: `server${Math.floor(at / real.length)}` }
  })

const commands = (count: number): ReadonlyArray<Described> =>
  plain(count).map(({ description = "", name, server }) => {
    const command = `mcp:${server}:${name}`
    return { name: command, summary: description.split("\n", 1)[0] ?? "", usage: command }
  })

const extension = (name: string, known: ReadonlyArray<Described>): CommandHandler => ({
  name,
  summary: "Calls a tool.",
  usage: name,
  known: () => known,
  run: () => Effect.succeed(CommandResult.make())
})

const app = (count: number, describeExtensions = false) => {
  const handlers = { "mcp:*": extension("mcp:*", commands(count)), "skill:*": extension("skill:*", []) }
  return ManagedRuntime.make(
    Synapse.layer({}, { sandbox: { enabled: false }, commands: handlers as Synapse.Commands, describeExtensions })
  )
}

const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)

/** The tokens of the tool's definition in an app with that many tools. */
const definition = async (count: number, describeExtensions: boolean) => {
  const runtime = app(count, describeExtensions)
  const { tools } = await runtime.runPromise(Toolset)
  const text = JSON.stringify(tools.map((tool) => ToolFormat.toFormat(tool, "anthropic")))
  await runtime.dispose()
  return tokens(text)
}

const runtime = app(1000)
const handle = async (command: string) =>
  runtime.runPromise(
    Effect.flatMap(Toolset, (toolset) =>
      toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) })
    )
  )

try {
  const rows = ["file", "read text file", "mcp:server3:", "nothing like it", "file --limit 1000"]
  const results = await Table.print(
    rows.map((words) => ({ name: `command:search ${words}`, run: () => handle(`command:search ${words}`) })),
    { title: "search through 1,000 tools, warm", samples: 30 }
  )
  const slowest = Math.max(...results.map(({ median }) => median))
  console.log(`The slowest took ${slowest.toFixed(1)} ms; at most 30: ${slowest <= 30 ? "met" : "MISSED"}.\n`)

  const counts = [0, 50, 500]
  const table = [
    ["tokens for a model (bytes / 4), tools:", ...counts.map(String)],
    ["plain MCP tool lists", ...counts.map((count) => String(tokens(JSON.stringify(plain(count)))))],
    ["Synapse's one tool", ...(await Promise.all(counts.map((count) => definition(count, false)))).map(String)],
    [
      "… with SYNAPSE_DESCRIBE_EXTENSIONS=1",
      ...(await Promise.all(counts.map((count) => definition(count, true)))).map(String)
    ]
  ]
  for (const [at, [name = "", ...cells]] of table.entries()) {
    console.log(`| ${name.padEnd(40)} | ${cells.map((cell) => cell.padStart(7)).join(" | ")} |`)
    if (at === 0) console.log(`|${"-".repeat(42)}|${cells.map(() => `${"-".repeat(8)}:`).join("|")}|`)
  }
  const { output } = await handle("command:search read text file")
  console.log(`\nThe answer to "command:search read text file" among 1,000 tools: ${tokens(output)} tokens.\n`)
} finally {
  await runtime.dispose()
}
