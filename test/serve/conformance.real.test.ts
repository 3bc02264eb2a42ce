/**
 * `synapse mcp serve` under the official conformance suite, as far as it is about tools, and under the inspector's command
 * line. Both need Node 22 and 370 MB, so they are no dependencies. To run them:
 *
 * npm install --no-save node@22 @modelcontextprotocol/conformance @modelcontextprotocol/inspector
 */
import { execFile, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

const root = path.resolve(import.meta.dirname, "../..")
const bin = path.join(root, "node_modules/.bin")
const synapse = path.join(root, "dist/bin/synapse.cjs")
const missing = ["node", "conformance", "mcp-inspector"].filter((name) => !fs.existsSync(path.join(bin, name)))

/** The others need tools, prompts or resources with the suite's own names and contents. */
const scenarios = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-error",
  "server-sse-multiple-streams",
  "dns-rebinding-protection"
]

const using = (
  use: (directory: string, run: (name: string, ...args: ReadonlyArray<string>) => Promise<string>) => Promise<void>
) =>
  Temporary.using(async (directory) => {
    const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: directory }
    const run = async (name: string, ...args: ReadonlyArray<string>) =>
      (await promisify(execFile)(path.join(bin, name), args, { cwd: directory, env })).stdout
    await use(directory, run)
  })

describe.skipIf(missing.length > 0)("the MCP server", () => {
  it("passes the conformance suite's scenarios about a server with tools", () =>
    using(async (directory, run) => {
      const server = spawn(process.execPath, [synapse, "mcp", "serve", "--http", "0"], {
        cwd: directory,
        env: { PATH: process.env["PATH"], HOME: directory },
        stdio: ["ignore", "pipe", "pipe"]
      })
      try {
        const url = await new Promise<string>((resolve, reject) => {
          let said = ""
          server.once("exit", () => reject(new Error(said)))
          for (const stream of [server.stdout, server.stderr])
            stream.on("data", (bytes: Buffer) => {
              said += bytes.toString()
              const [found] = /http:\S+/.exec(said) ?? []
              if (found !== undefined) resolve(found)
            })
        })
        for (const scenario of scenarios)
          assert.match(await run("conformance", "server", "--url", url, "--scenario", scenario), /\b0 failed/, scenario)
      } finally {
        server.kill()
      }
    }))

  it("answers the inspector's command line", () =>
    using(async (_, run) => {
      const words = ["--cli", process.execPath, synapse, "mcp", "serve", "--method"]
      const { tools } = JSON.parse(await run("mcp-inspector", ...words, "tools/list"))
      assert.deepStrictEqual(
        tools.map(({ name }: { readonly name: string }) => name),
        ["Bash"]
      )
      const called = await run(
        "mcp-inspector",
        ...words,
        "tools/call",
        "--tool-name",
        "Bash",
        "--tool-arg",
        "command=echo hi; exit 3"
      )
      assert.deepStrictEqual(JSON.parse(called).structuredContent, {
        output: "hi\n[exit 3]",
        exitCode: 3,
        failureCategory: "execution_error"
      })
    }))
})

it.runIf(missing.length > 0)("the conformance suite and the inspector are not installed", (context) =>
  context.skip(
    `to run them: npm install --no-save node@22 @modelcontextprotocol/conformance @modelcontextprotocol/inspector`
  )
)
