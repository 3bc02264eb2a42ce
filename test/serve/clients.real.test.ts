/**
 * `synapse mcp serve` in real clients, whose model is a server of the test. They are too large to install for this. To run
 * it:
 *
 * npm install --no-save @anthropic-ai/claude-agent-sdk @openai/codex @ai-sdk/mcp@1
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as path from "node:path"
import { promisify } from "node:util"
import { assert, it } from "@effect/vitest"
import * as ClaudeAgentSdk from "../../src/adapter/ClaudeAgentSdk.js"
import { make } from "../../src/promise.js"
import * as Temporary from "../support/Temporary.js"

const synapse = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")
const codex = path.resolve(import.meta.dirname, "../../node_modules/.bin/codex")

/** Loads a package that may not be installed, whose types are not known here. */
const load = (name: string) => import(/* @vite-ignore */ name).catch(() => undefined)

const commands = ["x=kept; echo one", "echo $x; exit 3"]

interface Item {
  readonly type: string
  readonly [field: string]: unknown
}

interface Asked {
  readonly messages?: ReadonlyArray<{ readonly content: string | ReadonlyArray<Item> }>
  readonly input?: ReadonlyArray<Item>
  readonly tools?: ReadonlyArray<{ readonly name?: string; readonly type: string }>
}

type Events = (asked: Asked, results: ReadonlyArray<Item>) => ReadonlyArray<Item>

/** Serves a model's API, and returns the results that the client gave for the model's calls. */
const modelServer = async (events: Events, use: (url: string) => Promise<unknown>): Promise<ReadonlyArray<Item>> => {
  let results: ReadonlyArray<Item> = []
  const server = http.createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const asked: Asked = JSON.parse(Buffer.concat(chunks).toString() || "{}")
    const given = [...(asked.messages ?? []).map(({ content }) => content), asked.input ?? []].flat()
    const now = given.filter((item) => typeof item !== "string" && /tool_result|_output/.test(item.type)) as Array<Item>
    if (now.length > results.length) results = now
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const event of events(asked, now)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return results
}

const claudeEvents: Events = ({ tools = [] }, { length }) => {
  const command = tools.some(({ name }) => name === "mcp__synapse__Bash") ? commands[length] : undefined
  const [block, delta, stop_reason] =
    command === undefined
      ? [{ type: "text", text: "" }, { type: "text_delta", text: "done" }, "end_turn"]
      : [
          { type: "tool_use", id: `toolu_${length}`, name: "mcp__synapse__Bash", input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify({ command }) },
          "tool_use"
        ]
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage }
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage },
    { type: "message_stop" }
  ]
}

const codexEvents: Events = ({ tools = [] }, { length }) => {
  const command = commands[length]
  const namespace = tools.find(({ name }) => name === "mcp__synapse")?.name
  const item =
    command === undefined
      ? { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "done" }] }
      : {
          type: "function_call",
          call_id: `c${length}`,
          namespace,
          name: "Bash",
          arguments: JSON.stringify({ command })
        }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "r", usage } }
  ]
}

for (const kind of ["in its process", "as a program"])
  it(`Claude keeps a shell, and hears of failures, with the server ${kind}`, (context) =>
    Temporary.using(async (directory) => {
      const sdk = await load("@anthropic-ai/claude-agent-sdk")
      if (sdk === undefined) return context.skip("@anthropic-ai/claude-agent-sdk is not installed")
      await using own = await make({ cwd: directory, sandbox: false })
      const program = { type: "stdio", command: process.execPath, args: [synapse, "mcp", "serve"] }
      const server = kind === "as a program" ? program : ClaudeAgentSdk.server(own)
      const results = await modelServer(claudeEvents, async (url) => {
        const env = {
          PATH: process.env["PATH"],
          HOME: directory,
          ANTHROPIC_API_KEY: "none",
          ANTHROPIC_BASE_URL: url,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          ENABLE_TOOL_SEARCH: "false"
        }
        const given = { mcpServers: { synapse: server }, allowedTools: ["mcp__synapse__Bash"], settingSources: [] }
        const options = { ...given, disallowedTools: ["Bash"], cwd: directory, env, maxTurns: 5 }
        for await (const message of sdk.query({ prompt: "go", options }))
          if (message.type === "result") assert.strictEqual(message.result, "done")
      })
      const [one, failed] = results.map((result) => JSON.stringify(result))
      assert.include(
        one,
        kind === "as a program" ? '{\\"output\\":\\"one\\\\n\\",\\"exitCode\\":0}' : '"text":"one\\n"'
      )
      assert.include(failed, '"content":"kept\\n[exit 3]","is_error":true')
    }))

it("Codex keeps a shell, and hears of failures, after synapse mcp install", (context) =>
  Temporary.using(async (directory) => {
    if (!fs.existsSync(codex)) return context.skip("@openai/codex is not installed")
    const home = path.join(directory, ".codex")
    fs.mkdirSync(home)
    const env = { PATH: process.env["PATH"], HOME: directory }
    const results = await modelServer(codexEvents, async (url) => {
      const mock = `name = "mock", base_url = "${url}", wire_api = "responses"`
      const settings =
        'model = "mock"\nmodel_provider = "mock"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"'
      fs.writeFileSync(path.join(home, "config.toml"), `${settings}\nmodel_providers.mock = { ${mock} }\n`)
      await promisify(execFile)(process.execPath, [synapse, "mcp", "install", "--yes", "codex"], {
        cwd: directory,
        env
      })
      const words = ["exec", "--skip-git-repo-check", "-c", "mcp_servers.synapse.required=true", "go"]
      const child: ChildProcess = spawn(codex, words, { cwd: directory, env, stdio: "ignore" })
      assert.strictEqual(await new Promise((resolve) => child.on("exit", resolve)), 0)
    })
    const [one, failed] = results.map((result) => JSON.stringify(result))
    assert.match(one ?? "", /output.*one/)
    assert.match(failed ?? "", /kept.*exitCode.*3/)
  }))

it("the AI SDK's MCP client calls the tool", (context) =>
  Temporary.using(async (directory) => {
    const [sdk, transports] = [await load("@ai-sdk/mcp"), await load("@ai-sdk/mcp/mcp-stdio")]
    if (sdk === undefined) return context.skip("@ai-sdk/mcp is not installed")
    const env = { PATH: process.env["PATH"], HOME: directory }
    const given = { command: process.execPath, args: [synapse, "mcp", "serve"], cwd: directory, env }
    const transport = new transports.Experimental_StdioMCPTransport(given)
    const client = await sdk.createMCPClient({ transport })
    const { Bash } = await client.tools()
    const call = (command: string | undefined, toolCallId: string) =>
      Bash.execute({ command }, { toolCallId, messages: [] })
    assert.deepInclude(await call(commands[0], "1"), { structuredContent: { output: "one\n", exitCode: 0 } })
    assert.deepInclude(await call(commands[1], "2"), { isError: true })
    await client.close()
  }))
