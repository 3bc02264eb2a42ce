/**
 * The sandboxes and tools of frameworks that need Node 22 or are too large to install for this. To run the parts that use
 * them:
 *
 * npm install --no-save @mastra/core@1 ai7@npm:ai@7
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV3 } from "ai/test"
import * as AiSdk from "../../src/adapter/AiSdk.js"
import * as Mastra from "../../src/adapter/Mastra.js"
import type { Synapse } from "../../src/promise/Synapse.js"
import { make } from "../../src/promise.js"
import * as Temporary from "../support/Temporary.js"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const over = (test: (synapse: Synapse, cwd: string) => Promise<void>) =>
  Temporary.using(async (cwd) => {
    fs.writeFileSync(path.join(cwd, "dot.png"), Buffer.from(png, "base64"))
    await using synapse = await make({ cwd, sandbox: false })
    await test(synapse, cwd)
  })

/** Loads modules of a framework that may not be installed, whose types are not known here. */
const load = (...modules: ReadonlyArray<string>) =>
  Promise.all(modules.map((module) => import(/* @vite-ignore */ module))).catch(() => undefined)

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}

/** Answers with the next call, or with the end. */
const answer = (calls: ReadonlyArray<readonly [tool: string, input: object]>, done: number) => {
  const [toolName, input] = calls[done] ?? []
  const unified = toolName === undefined ? ("stop" as const) : ("tool-calls" as const)
  const part =
    toolName === undefined
      ? { type: "text" as const, text: "done" }
      : { type: "tool-call" as const, toolCallId: `c${done}`, toolName, input: JSON.stringify(input) }
  return { content: [part], finishReason: { unified, raw: undefined }, usage, warnings: [] }
}

const modelOf = (...calls: ReadonlyArray<readonly [tool: string, input: object]>) =>
  new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => answer(calls, prompt.filter(({ role }) => role === "tool").length)
  })

/** What a model was told about its calls. */
const told = (model: MockLanguageModelV3) =>
  (model.doGenerateCalls.at(-1)?.prompt ?? []).flatMap(({ content, role }) =>
    role === "tool" ? content.map((part) => (part.type === "tool-result" ? part.output : undefined)) : []
  )

describe("Mastra", () => {
  it("gives its model text, errors as errors, and images", (context) =>
    over(async (synapse) => {
      const [agents] = (await load("@mastra/core/agent")) ?? []
      if (agents === undefined) return context.skip("@mastra/core is not installed")
      const model = modelOf(
        ...["x=kept; echo one", "echo $x; exit 3", "read dot.png"].map((command) => ["Bash", { command }] as const)
      )
      const tools = { Bash: Mastra.bash(synapse) }
      const agent = new agents.Agent({ id: "a", name: "a", instructions: "-", model, tools })
      assert.strictEqual((await agent.generate("go", { maxSteps: 5 })).text, "done")
      const [one, failed, image] = told(model)
      assert.deepStrictEqual(one, { type: "text", value: "one\n" })
      assert.deepStrictEqual(failed, { type: "error-text", value: "kept\n[exit 3]" })
      assert.include(JSON.stringify(image), `"type":"image-data","data":"${png}"`)
    }))

  it("runs the commands of its workspace", (context) =>
    over(async (synapse) => {
      const [agents, workspaces] = (await load("@mastra/core/agent", "@mastra/core/workspace")) ?? []
      if (agents === undefined) return context.skip("@mastra/core is not installed")
      const model = modelOf(["mastra_workspace_execute_command", { command: "echo $((6 * 7)); exit 3" }])
      const workspace = new workspaces.Workspace({ sandbox: Mastra.sandbox(synapse) })
      const agent = new agents.Agent({ id: "a", name: "a", instructions: "-", model, workspace })
      assert.strictEqual((await agent.generate("go", { maxSteps: 5 })).text, "done")
      assert.match(JSON.stringify(told(model)), /42.*Exit code: 3/)
    }))

  it("keeps commands of a workspace apart, in their directories, with their variables and limits", () =>
    over(async (synapse, cwd) => {
      const { executeCommand } = Mastra.sandbox(synapse)
      const heard: Array<string> = []
      const result = await executeCommand("cd /; x=1; printf '%s|' # comment", [], {})
      assert.deepInclude(result, { success: true, exitCode: 0, stdout: "|", timedOut: false, killed: false })
      const options = { cwd: "/usr", env: { V: "it's" }, onStdout: (text: string) => heard.push(text) }
      const { stdout } = await executeCommand("echo", ["a b", "$V"], options)
      assert.deepStrictEqual([stdout, heard.join("")], ["a b $V\n", "a b $V\n"])
      assert.strictEqual((await executeCommand("pwd; echo [$x] $V", [], options)).stdout, "/usr\n[] it's\n")
      assert.strictEqual((await executeCommand("pwd")).stdout, `${cwd}\n`)
      assert.deepInclude(await executeCommand("sleep 1000", [], { timeout: 100 }), { exitCode: 124, timedOut: true })
      const aborted = { abortSignal: AbortSignal.abort() }
      assert.deepInclude(await executeCommand("sleep 1000", [], aborted), { exitCode: 130, killed: true })
      assert.match((await executeCommand("echo \0")).stderr, /holds a NUL byte/)
    }))
})

describe("the AI SDK's sandbox", () => {
  it("runs the commands of its tools", (context) =>
    over(async (synapse) => {
      const [sdk, tests] = (await load("ai7", "ai7/test")) ?? []
      if (sdk === undefined) return context.skip("ai 7 is not installed")
      let done = 0
      const model = new tests.MockLanguageModelV4({ doGenerate: async () => answer([["sh", {}]], done++) })
      const sh = sdk.tool({
        inputSchema: sdk.jsonSchema({ type: "object" }),
        execute: (_: unknown, { experimental_sandbox }: { readonly experimental_sandbox: AiSdk.Sandbox }) =>
          experimental_sandbox.run({ command: "echo $((6 * 7))" })
      })
      const tools = { sh, Bash: AiSdk.bash(synapse) }
      const options = { experimental_sandbox: AiSdk.sandbox(synapse), stopWhen: sdk.isStepCount(3) }
      const { steps, text } = await sdk.generateText({ model, tools, prompt: "go", ...options })
      assert.deepStrictEqual(
        [text, steps[0].toolResults[0].output],
        ["done", { exitCode: 0, stdout: "42\n", stderr: "" }]
      )
    }))

  it("reads, writes, lists and deletes files", () =>
    over(async (synapse) => {
      const sandbox = AiSdk.sandbox(synapse)
      const bytes = new Uint8Array(2 ** 20 + 3).map((_, at) => at % 251)
      const odd = "-d/it's"
      await sandbox.writeFile({ path: `${odd}/b`, content: new Blob([bytes]).stream() })
      assert.deepStrictEqual(await sandbox.readBinaryFile({ path: `${odd}/b` }), bytes)
      const stream = (await sandbox.readFile({ path: `${odd}/b` })) ?? undefined
      assert.strictEqual((await new Response(stream).arrayBuffer()).byteLength, bytes.length)
      const text = { path: `${odd}/t` }
      await sandbox.writeTextFile({ ...text, content: "a\nb\nc" })
      assert.strictEqual(await sandbox.readTextFile(text), "a\nb\nc")
      assert.strictEqual(await sandbox.readTextFile({ ...text, startLine: 2, endLine: 2 }), "b\n")
      assert.strictEqual(await sandbox.readTextFile({ ...text, startLine: 2, endLine: 9 }), "b\nc")
      const kinds = await Promise.all([odd, text.path, "/dev/null", "no"].map((path) => sandbox.stat({ path })))
      assert.deepStrictEqual(kinds.slice(1), [{ type: "file", size: 5 }, { type: "other", size: 0 }, null])
      assert.strictEqual(kinds[0]?.type, "directory")
      const listed = await sandbox.listDirectory({ path: odd })
      assert.sameDeepMembers(listed ?? [], [
        { name: "b", type: "file" },
        { name: "t", type: "file" }
      ])
      const deleted = [await sandbox.deleteFile(text), await sandbox.deleteFile(text)]
      assert.deepStrictEqual(deleted, [true, false])
      assert.deepStrictEqual(
        [await sandbox.readTextFile(text), await sandbox.listDirectory({ path: "no" })],
        [null, null]
      )
      for (const failing of [
        () => sandbox.deleteFile({ path: odd }),
        () => sandbox.writeTextFile({ path: odd, content: "x" }),
        () => sandbox.listDirectory({ path: `${odd}/b` }),
        () => sandbox.writeTextFile({ ...text, content: "x", encoding: "none" })
      ]) {
        assert.match(
          await failing().then(String, (error) => String(error)),
          /^Error: .*(?:[Dd]irectory|unknown encoding none)$/
        )
      }
    }))

  it("starts processes, whose output comes as they run, until they end or are killed", () =>
    over(async (synapse) => {
      const sandbox = AiSdk.sandbox(synapse)
      const process = await sandbox.spawn({ command: "echo a; until [ -e go ]; do sleep 0.1; done; echo b; exit 5" })
      let output = ""
      for await (const bytes of process.stdout) {
        output += Buffer.from(bytes).toString()
        if (output === "a\n") await sandbox.run({ command: "touch go" })
      }
      assert.deepStrictEqual([output, await process.wait()], ["a\nb\n", { exitCode: 5 }])
      const quick = await sandbox.spawn({ command: "echo e >&2; exit 2" })
      assert.deepStrictEqual([await new Response(quick.stderr).text(), await quick.wait()], ["e\n", { exitCode: 2 }])
      const controller = new AbortController()
      const [killed, aborted] = [
        await sandbox.spawn({ command: "sleep 1000" }),
        await sandbox.spawn({ command: "sleep 1000", abortSignal: controller.signal })
      ]
      await killed.kill()
      controller.abort()
      assert.deepStrictEqual([await killed.wait(), await aborted.wait()], [{ exitCode: 143 }, { exitCode: 143 }])
      const refused = await sandbox.spawn({ command: "cat", stdin: true }).catch(String)
      assert.match(refused, /no writable standard input/)
    }))
})
