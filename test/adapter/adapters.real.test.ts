/** The adapters under the frameworks that they are for, over a real shell: state, failures, images and cancellation. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ToolMessage } from "@langchain/core/messages"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { Agent, type Model, Runner, shellTool, Usage } from "@openai/agents"
import { generateText, stepCountIs } from "ai"
import { MockLanguageModelV3 } from "ai/test"
import * as AiSdk from "../../src/adapter/AiSdk.js"
import * as ClaudeAgentSdk from "../../src/adapter/ClaudeAgentSdk.js"
import * as LangChain from "../../src/adapter/LangChain.js"
import * as OpenAiAgents from "../../src/adapter/OpenAiAgents.js"
import type { Synapse } from "../../src/promise/Synapse.js"
import { make } from "../../src/promise.js"
import * as Temporary from "../support/Temporary.js"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** What a model asks for, one after the other. */
const commands = ["x=kept; echo one", "echo $x; exit 3", "read dot.png"]

const over = (test: (synapse: Synapse, cwd: string) => Promise<void>) => () =>
  Temporary.using(async (cwd) => {
    fs.writeFileSync(path.join(cwd, "dot.png"), Buffer.from(png, "base64"))
    await using synapse = await make({ cwd, sandbox: false })
    await test(synapse, cwd)
  })

/** Waits until a command of the session has begun. */
const begun = async (file: string) => {
  while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe("the AI SDK's tool", () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 }
  }

  it(
    "gives the model text, errors as errors, and images",
    over(async (synapse) => {
      const model = new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
          const done = prompt.filter(({ role }) => role === "tool").length
          const command = commands[done]
          return command === undefined
            ? {
                content: [{ type: "text", text: "done" }],
                finishReason: { unified: "stop", raw: undefined },
                usage,
                warnings: []
              }
            : {
                content: [
                  { type: "tool-call", toolCallId: `c${done}`, toolName: "Bash", input: JSON.stringify({ command }) }
                ],
                finishReason: { unified: "tool-calls", raw: undefined },
                usage,
                warnings: []
              }
        }
      })
      const { steps, text } = await generateText({
        model,
        tools: { Bash: AiSdk.bash(synapse) },
        prompt: "go",
        stopWhen: stepCountIs(5)
      })
      assert.strictEqual(text, "done")
      const results = steps.flatMap(({ staticToolResults }) => staticToolResults.map(({ output }) => output))
      assert.deepStrictEqual(
        results.map(({ extras, isError, toolCallId }) => [toolCallId, isError, extras.stdout]),
        [
          ["c0", false, "one\n"],
          ["c1", true, "kept\n"],
          ["c2", false, results[2]?.extras.stdout]
        ]
      )
      const sent = model.doGenerateCalls.at(-1)?.prompt.flatMap(({ content, role }) => (role === "tool" ? content : []))
      const outputs = sent?.map((part) => (part.type === "tool-result" ? part.output : undefined))
      assert.deepStrictEqual(outputs?.slice(0, 2), [
        { type: "text", value: "one\n" },
        { type: "error-text", value: "kept\n[exit 3]" }
      ])
      assert.include(JSON.stringify(outputs?.[2]), png)
    })
  )

  it(
    "ends the command with the SDK's abort signal",
    over(async (synapse, cwd) => {
      const abort = new AbortController()
      const { execute } = AiSdk.bash(synapse)
      const options = { toolCallId: "1", messages: [], abortSignal: abort.signal }
      const running = execute?.({ command: "touch begun; sleep 1000" }, options)
      await begun(path.join(cwd, "begun"))
      abort.abort()
      const result = await running
      assert.strictEqual(result !== undefined && "extras" in result ? result.extras.exitCode : undefined, 130)
    })
  )
})

describe("the OpenAI Agents SDK's tools", () => {
  /** A model that makes these calls, one a turn, and then is done. */
  const modelOf = (calls: ReadonlyArray<object>) => {
    const inputs: Array<unknown> = []
    const model: Model = {
      getResponse: async ({ input }) => {
        inputs.push(input)
        const call = calls[inputs.length - 1]
        return {
          usage: new Usage(),
          output: [
            call === undefined
              ? {
                  type: "message",
                  role: "assistant",
                  status: "completed",
                  content: [{ type: "output_text", text: "done" }]
                }
              : // The kinds of call differ in their fields.
                ({ status: "completed", ...call } as never)
          ]
        }
      },
      // biome-ignore lint/correctness/useYield: nothing is streamed.
      getStreamedResponse: async function* () {
        throw new Error("not streamed")
      }
    }
    return { model, inputs }
  }
  const runner = new Runner({ tracingDisabled: true })

  it(
    "gives the model text, and images",
    over(async (synapse) => {
      const calls = commands.map((command, at) => ({
        type: "function_call",
        callId: `c${at}`,
        name: "Bash",
        arguments: JSON.stringify({ command })
      }))
      const { inputs, model } = modelOf(calls)
      const agent = new Agent({ name: "a", model, tools: [OpenAiAgents.bash(synapse)] })
      assert.strictEqual((await runner.run(agent, "go")).finalOutput, "done")
      const sent = JSON.stringify(inputs.at(-1))
      assert.include(sent, '"one\\n"')
      assert.include(sent, '"kept\\n[exit 3]"')
      assert.include(sent, png)
    })
  )

  it(
    "ends the command with the run's abort signal, under the id of its call",
    over(async (synapse, cwd) => {
      const abort = new AbortController()
      const ids: Array<string> = []
      const handle = ((call, options) => {
        ids.push(call.id)
        return synapse.handle(call, options)
      }) satisfies Synapse["handle"]
      const noting: Synapse = { ...synapse, handle }
      const call = { callId: "c7", arguments: '{"command":"touch begun; sleep 1000"}' }
      const { model } = modelOf([{ type: "function_call", name: "Bash", ...call }])
      const agent = new Agent({ name: "a", model, tools: [OpenAiAgents.bash(noting)] })
      const running = runner.run(agent, "go", { signal: abort.signal }).catch(() => "aborted")
      await begun(path.join(cwd, "begun"))
      abort.abort()
      await running
      const { output } = await synapse.handle({ id: "next", name: "Bash", arguments: { command: "echo next" } })
      assert.deepStrictEqual([ids, output], [["c7"], "next\n"])
    })
  )

  it(
    "is a shell for models that know one",
    over(async (synapse) => {
      const action = { commands: ["y=2; echo $y; echo e >&2", "exit $y"] }
      const { inputs, model } = modelOf([
        { type: "shell_call", callId: "s", action },
        { type: "shell_call", callId: "t", action: { commands: ["sleep 1000"], timeoutMs: 300 } },
        { type: "shell_call", callId: "u", action: { commands: ["echo \0"] } }
      ])
      const agent = new Agent({ name: "a", model, tools: [shellTool({ shell: OpenAiAgents.shell(synapse) })] })
      assert.strictEqual((await runner.run(agent, "go")).finalOutput, "done")
      const last = inputs.at(-1)
      const sent = Array.isArray(last)
        ? last.flatMap((item) => (item.type === "shell_call_output" ? item.output : []))
        : []
      assert.match(`${sent[3]?.stderr}`, /holds a NUL byte/)
      assert.deepStrictEqual(sent, [
        { stdout: "2\n", stderr: "e\n", outcome: { type: "exit", exitCode: 0 } },
        { stdout: "", stderr: "", outcome: { type: "exit", exitCode: 2 } },
        { stdout: "", stderr: "", outcome: { type: "timeout" } },
        { stdout: "", stderr: sent[3]?.stderr, outcome: { type: "exit", exitCode: 1 } }
      ])
    })
  )
})

describe("LangChain's tool", () => {
  it(
    "answers tool calls with messages, and keeps what failed",
    over(async (synapse) => {
      const tool = LangChain.bash(synapse)
      const answers = []
      for (const [at, command] of commands.entries()) {
        answers.push(await tool.invoke({ type: "tool_call", id: `c${at}`, name: "Bash", args: { command } }))
      }
      assert.deepStrictEqual(
        answers.map((answer) => [ToolMessage.isInstance(answer), answer.tool_call_id, answer.status]),
        [
          [true, "c0", "success"],
          [true, "c1", "error"],
          [true, "c2", "success"]
        ]
      )
      assert.strictEqual(answers[1].content, "kept\n[exit 3]")
      assert.strictEqual(answers[1].artifact.extras.exitCode, 3)
      assert.include(JSON.stringify(answers[2].content), png)
      assert.strictEqual(await tool.invoke({ command: "echo plain" }), "plain\n")
    })
  )

  it(
    "ends the command with the run's abort signal",
    over(async (synapse, cwd) => {
      const abort = new AbortController()
      const running = LangChain.bash(synapse).invoke({ command: "touch begun; sleep 1000" }, { signal: abort.signal })
      await begun(path.join(cwd, "begun"))
      abort.abort()
      await running.catch(() => "aborted")
      assert.strictEqual(await LangChain.bash(synapse).invoke({ command: "echo next" }), "next\n")
    })
  )
})

describe("the Claude Agent SDK's server", () => {
  it(
    "lists the tool, and answers calls until they are cancelled",
    over(async (synapse, cwd) => {
      const { instance, name, type } = ClaudeAgentSdk.server(synapse)
      assert.deepStrictEqual([type, name], ["sdk", "synapse"])
      const client = new Client({ name: "test", version: "1" })
      const [near, far] = InMemoryTransport.createLinkedPair()
      await Promise.all([client.connect(near), instance.connect(far)])
      const { tools } = await client.listTools()
      assert.deepStrictEqual(
        tools.map((tool) => [tool.name, tool.inputSchema.required]),
        [["Bash", ["command"]]]
      )
      const call = (command: string, signal?: AbortSignal) =>
        client.callTool({ name: "Bash", arguments: { command } }, undefined, signal === undefined ? {} : { signal })
      assert.deepInclude(await call("x=1; echo one"), { content: [{ type: "text", text: "one\n" }], isError: false })
      assert.deepInclude(await call("echo $x; exit 3"), {
        content: [{ type: "text", text: "1\n[exit 3]" }],
        isError: true
      })
      assert.include(JSON.stringify(await call("read dot.png")), png)
      const abort = new AbortController()
      const running = call("touch begun; sleep 1000", abort.signal).catch(() => "cancelled")
      await begun(path.join(cwd, "begun"))
      abort.abort()
      assert.strictEqual(await running, "cancelled")
      // The next one does not wait for the command that was cancelled.
      assert.deepInclude(await call("echo $x"), { isError: false })
      await client.close()
    })
  )
})
