/** `synapse mcp serve` as it is installed, with the official client: `npm run build` makes the program. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  type CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  type Transport
} from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Temporary from "../support/Temporary.js"

const synapse = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

interface Place {
  readonly project: string
  readonly env: Readonly<Record<string, string>>
}

const using = (use: (place: Place) => Promise<void>) =>
  Temporary.using(async (directory) => {
    const project = path.join(directory, "project")
    fs.mkdirSync(project)
    fs.mkdirSync(path.join(directory, "user"))
    fs.writeFileSync(path.join(project, ".env"), "TOKEN=1\n")
    await use({
      project,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: path.join(directory, "user"),
        SYNAPSE_HOME: path.join(directory, "home")
      }
    })
  })

type Action =
  | { readonly action: "accept"; readonly content: { readonly answer: string } }
  | { readonly action: "decline" }

/** What a client can do, and the protocol that it speaks. */
interface Able {
  readonly root?: string
  readonly answer?: (message: string, offered: ReadonlyArray<string>) => Action
  readonly era?: "legacy" | "auto"
}

const connect = async (transport: Transport, { answer, era = "legacy", root }: Able = {}) => {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: {
        ...(root === undefined ? {} : { roots: {} }),
        ...(answer === undefined ? {} : { elicitation: { form: {} } })
      },
      versionNegotiation: { mode: era }
    }
  )
  if (root !== undefined) client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${root}` }] }))
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const offered = "requestedSchema" in params ? params.requestedSchema.properties["answer"] : undefined
      return answer(params.message, offered !== undefined && "enum" in offered ? (offered.enum ?? []) : [])
    })
  await client.connect(transport)
  return client
}

const stdio = ({ env, project }: Place, ...args: ReadonlyArray<string>) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [synapse, "mcp", "serve", ...args],
    cwd: path.dirname(project),
    env: { ...env },
    stderr: "ignore"
  })

const call = async (client: Client, command: string, options?: Parameters<Client["callTool"]>[1]) =>
  (await client.callTool({ name: "Bash", arguments: { command } }, options)) as CallToolResult

const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n")

/** Tests whether a process whose command line has a text is there. */
const runs = (text: string): boolean =>
  fs.readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text)
    } catch {
      return false
    }
  })

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

const until = async (condition: () => boolean) => {
  while (!condition()) await pause()
}

/** A number of seconds that tells a command from those of other runs. */
const seconds = () => `${1000 + Math.floor(Math.random() * 1e9)}`
const sleeping = (time: string) => runs(`sleep\0${time}`)

describe("synapse mcp serve", () => {
  for (const era of ["legacy", "auto"] as const)
    it(`keeps a session for its client, in the client's directory, and asks its person (${era})`, () =>
      using(async (place) => {
        const asked: Array<string> = []
        const answers: Array<Action> = [
          { action: "decline" },
          { action: "accept", content: { answer: "allow_session" } }
        ]
        const client = await connect(stdio(place), {
          era,
          root: place.project,
          answer: (message, offered) => {
            asked.push(`${message}\n${offered.join()}`)
            return answers.shift() ?? { action: "decline" }
          }
        })
        assert.strictEqual(client.getNegotiatedProtocolVersion(), era === "auto" ? "2026-07-28" : "2025-11-25")
        const { tools } = await client.listTools()
        assert.match(tools[0]?.description ?? "", /sandbox holds[\s\S]*- read <file>/)
        assert.deepStrictEqual(
          tools.map(({ annotations, name }) => [name, annotations?.destructiveHint]),
          [["Bash", true]]
        )
        const { content, isError, structuredContent } = await call(client, "pwd; X=kept")
        assert.deepStrictEqual(
          { content, isError, structuredContent },
          {
            content: [{ type: "text", text: `${place.project}\n` }],
            isError: undefined,
            structuredContent: { output: `${place.project}\n`, exitCode: 0 }
          }
        )
        const failed = await call(client, "echo $X; (exit 3)")
        assert.deepStrictEqual(failed.structuredContent, {
          output: "kept\n[exit 3]",
          exitCode: 3,
          failureCategory: "execution_error"
        })
        assert.isTrue(failed.isError)
        const denied = await call(client, "cat .env")
        assert.strictEqual((denied.structuredContent as { failureCategory?: string }).failureCategory, "blocked")
        assert.strictEqual(textOf(await call(client, "cat .env")), "TOKEN=1\n")
        assert.strictEqual(textOf(await call(client, "cat .env")), "TOKEN=1\n")
        assert.strictEqual(asked.length, 2)
        assert.include(asked[0], `read ${place.project}/.env`)
        assert.include(asked[0], "**/.env")
        assert.include(asked[0], "allow_once,allow_session,allow_permanent,deny")
        // A name that is no tool, and wrong parameters, are answers that a model can repair itself from.
        const unknown = (await client.callTool({ name: "Bsh", arguments: {} })) as CallToolResult
        assert.match(textOf(unknown), /Unknown tool: Bsh.*CORRECTION/s)
        await client.close()
      }))

  it("tells the progress of a command, ends it with its request, and shows images", () =>
    using(async (place) => {
      const client = await connect(stdio(place))
      const told: Array<string> = []
      await call(client, "echo begun; until [ -e go ]; do sleep 0.1; done; echo over", {
        onprogress: ({ message = "" }) => {
          told.push(message)
          // On a busy machine, a command is under way before it says anything.
          if (message !== "") fs.writeFileSync(path.join(path.dirname(place.project), "go"), "")
        }
      })
      assert.strictEqual(
        told.find((message) => message !== ""),
        "begun"
      )
      const time = seconds()
      const controller = new AbortController()
      const cancelled = call(client, `sleep ${time}`, { signal: controller.signal }).then(
        () => "answered",
        () => "cancelled"
      )
      await until(() => sleeping(time))
      controller.abort()
      assert.strictEqual(await cancelled, "cancelled")
      await until(() => !sleeping(time))
      assert.strictEqual(textOf(await call(client, "echo alive")), "alive\n")
      const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
      fs.writeFileSync(path.join(path.dirname(place.project), "dot.png"), Buffer.from(png, "base64"))
      const { content } = await call(client, "read dot.png")
      const image = content.find(({ type }) => type === "image")
      assert.deepInclude(image, { type: "image", data: png, mimeType: "image/png" })
      await client.close()
    }))

  it("leaves nothing where its client is killed in the middle of a command", () =>
    using(async ({ env, project }) => {
      const child = spawn(process.execPath, [synapse, "mcp", "serve"], {
        cwd: project,
        env,
        stdio: ["pipe", "pipe", "ignore"]
      })
      const time = seconds()
      const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      const clientInfo = { name: "test", version: "1" }
      say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } })
      say({ method: "notifications/initialized" })
      say({ id: 2, method: "tools/call", params: { name: "Bash", arguments: { command: `sleep ${time}` } } })
      await until(() => sleeping(time))
      const exited = new Promise((resolve) => child.on("exit", resolve))
      child.stdin.destroy()
      assert.strictEqual(await exited, 0)
      await until(() => !sleeping(time))
    }))
})

/** Starts it over HTTP, and ends it afterwards. */
const serving = async ({ env, project }: Place, use: (url: URL) => Promise<void>) => {
  const child = spawn(process.execPath, [synapse, "mcp", "serve", "--http", "0"], {
    cwd: project,
    env: { ...env, SYNAPSE_MCP_TOKEN: "secret" },
    stdio: ["ignore", "ignore", "pipe"]
  })
  try {
    const url = await new Promise<URL>((resolve, reject) => {
      let said = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        said += text
        const address = /http:\/\/\S+/.exec(said)?.[0]
        if (address !== undefined) resolve(new URL(address))
      })
      child.on("exit", () => reject(new Error(said)))
    })
    await use(url)
  } finally {
    const exited = new Promise((resolve) => (child.exitCode === null ? child.on("exit", resolve) : resolve(null)))
    child.kill()
    await exited
  }
}

/** One server for several tests. */
const shared = () => {
  let url: URL
  let end = () => {}
  let ended = Promise.resolve()
  beforeAll(
    () =>
      new Promise<void>((resolve, reject) => {
        const use = (at: URL) =>
          new Promise<void>((done) => {
            url = at
            end = done
            resolve()
          })
        ended = using((place) => serving(place, use))
        ended.catch(reject)
      })
  )
  afterAll(() => {
    end()
    return ended
  })
  return (use: (url: URL) => Promise<void>) => use(url)
}

const token = { authorization: "Bearer secret" }

const transportTo = (url: URL) => new StreamableHTTPClientTransport(url, { requestInit: { headers: token } })

/** The status of a request as it is written, and what is answered. */
const raw = (url: URL, headers: Readonly<Record<string, string>>, body: string) =>
  new Promise<readonly [number | undefined, string]>((resolve, reject) => {
    const accept = "application/json, text/event-stream"
    const request = http.request(
      url,
      { method: "POST", headers: { "content-type": "application/json", accept, ...token, ...headers } },
      (response) => {
        let text = ""
        response
          .setEncoding("utf8")
          .on("data", (more: string) => {
            text += more
          })
          .on("end", () => resolve([response.statusCode, text]))
      }
    )
    request.on("error", reject)
    request.end(body)
  })

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
})

describe("synapse mcp serve --http", () => {
  const sharing = shared()

  it("keeps a session for each client that has the token, and ends it with the client", () =>
    sharing(async (url) => {
      assert.strictEqual((await raw(url, { authorization: "Bearer other" }, initialize))[0], 401)
      const [one, other] = [transportTo(url), transportTo(url)]
      const clients = [await connect(one as Transport), await connect(other as Transport)] as const
      await call(clients[0], "X=kept")
      assert.strictEqual(textOf(await call(clients[0], "echo [$X]")), "[kept]\n")
      assert.strictEqual(textOf(await call(clients[1], "echo [$X]")), "[]\n")
      const time = seconds()
      await call(clients[0], `sleep ${time} & :`)
      assert.isTrue(sleeping(time))
      await one.terminateSession()
      await until(() => !sleeping(time))
      assert.strictEqual(textOf(await call(clients[1], "echo alive")), "alive\n")
      for (const client of clients) await client.close()
    }))

  it("gives a client that has lost its stream another one", () =>
    sharing(async (url) => {
      const transport = transportTo(url)
      const client = await connect(transport as Transport)
      const headers = { accept: "text/event-stream", ...token, "mcp-session-id": transport.sessionId ?? "" }
      const listen = () =>
        new Promise<number>((resolve, reject) => {
          const request = http.get(url, { headers }, (response) => {
            resolve(response.statusCode ?? 0)
            response.on("error", () => {})
            request.destroy()
          })
          request.on("error", reject)
        })
      await client.close()
      // Our first request may arrive before the server learns that the client ended.
      for (let times = 0; times < 2; times++) while ((await listen()) !== 200) await pause()
    }))

  it("lets a new client in where 100 are there, in the place of one that was idle", () =>
    sharing(async (url) => {
      const first = await connect(transportTo(url) as Transport)
      const listening = await connect(transportTo(url) as Transport)
      await call(listening, "X=kept")
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...token }
      const { headers: given } = await fetch(url, { method: "POST", headers, body: initialize })
      const idle = { "mcp-session-id": given.get("mcp-session-id") ?? "" }
      const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
      assert.strictEqual((await raw(url, idle, ping))[0], 200)
      const time = seconds()
      const running = call(first, `sleep ${time}`, { timeout: 100_000 }).catch(() => "ended")
      await until(() => sleeping(time))
      const flood = await Promise.all(Array.from({ length: 250 }, () => raw(url, {}, initialize)))
      assert.deepStrictEqual(
        flood.filter(([status]) => status !== 200 && status !== 503),
        []
      )
      while ((await raw(url, {}, initialize))[0] !== 200) await pause()
      assert.match(String(await raw(url, idle, ping)), /^404,.*longest idle of 100/)
      assert.strictEqual(textOf(await call(listening, "echo $X")), "kept\n")
      assert.isTrue(sleeping(time))
      const next = await connect(transportTo(url) as Transport)
      assert.strictEqual(textOf(await call(next, "echo alive")), "alive\n")
      for (const client of [next, listening, first]) await client.close()
      await running
    }))
})
