/** `synapse mcp serve` under the official conformance suite, as far as it is about tools, and the inspector's command line. */
import { spawn } from "node:child_process"
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import * as Conformance from "../support/mcp/Conformance.js"
import * as Temporary from "../support/Temporary.js"

const synapse = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

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

it("passes the scenarios about a server with tools", (context) =>
  Temporary.using(async (directory) => {
    if (!Conformance.isInstalled) return context.skip(Conformance.why)
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
      for (const scenario of scenarios) {
        const words = ["server", "--url", url, "--scenario", scenario]
        assert.match((await Conformance.run(directory, "conformance", ...words)).stdout, /\b0 failed/, scenario)
      }
    } finally {
      server.kill()
    }
  }))

it("answers the inspector's command line", (context) =>
  Temporary.using(async (directory) => {
    if (!Conformance.isInstalled) return context.skip(Conformance.why)
    const inspect = async (...words: ReadonlyArray<string>) => {
      const server = ["--cli", process.execPath, synapse, "mcp", "serve"]
      const { stdout } = await Conformance.run(directory, "mcp-inspector", ...server, "--method", ...words)
      return JSON.parse(stdout)
    }
    const { tools } = await inspect("tools/list")
    assert.deepStrictEqual(
      tools.map(({ name }: { readonly name: string }) => name),
      ["Bash"]
    )
    const { structuredContent } = await inspect(
      "tools/call",
      "--tool-name",
      "Bash",
      "--tool-arg",
      "command=echo hi; exit 3"
    )
    const failed = { output: "hi\n[exit 3]", exitCode: 3, failureCategory: "execution_error" }
    assert.deepStrictEqual(structuredContent, failed)
  }))
