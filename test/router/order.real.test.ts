/** Calls that are made at once run in the order they came, over a real shell. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { make } from "../../src/promise.js"
import * as Temporary from "../support/Temporary.js"

describe("calls that are made at once", () => {
  it("run in the order they came, with the shell and without it", async () => {
    await Temporary.using(async (cwd) => {
      fs.writeFileSync(path.join(cwd, "f"), "one\n")
      const ran: Array<string> = []
      const gates: Array<() => void> = []
      const slow = {
        name: "slow",
        summary: "s",
        usage: "slow",
        run: async ({ args }: { readonly args: ReadonlyArray<string> }) => {
          ran.push(`${args[0]} begins`)
          await new Promise<void>((resolve) => gates.push(resolve))
          ran.push(`${args[0]} ends`)
          return "done\n"
        }
      }
      const quick = {
        ...slow,
        name: "quick",
        run: async ({ args }: { readonly args: ReadonlyArray<string> }) => {
          ran.push(`quick ${args[0]}`)
          return ""
        }
      }
      const synapse = await make({ cwd, sandbox: false, commands: [slow, quick] })
      const ended: Array<string> = []
      const call = (command: string) => {
        const pending = synapse.handle({ id: command, name: "Bash", arguments: { command } })
        pending.then(({ output }) => void ended.push(`${command}: ${output}`))
        return pending
      }
      const todo = `TodoWrite '{"todos":[]}'`
      const calls = [
        call("mkfifo gate; cat gate; echo shell >> f"),
        call("quick first"),
        call(todo),
        call("slow a"),
        call("slow cancelled"),
        call("read f"),
        call("echo two >> f"),
        call("edit f two 2"),
        call("skill:nosuch"),
        call("mcp:nosuch:tool"),
        call("bash cat f"),
        call("write g <<< x"),
        call("quick last")
      ]
      while (!fs.existsSync(path.join(cwd, "gate"))) await new Promise((resolve) => setTimeout(resolve, 5))
      assert.deepStrictEqual(ran, [])
      fs.writeFileSync(path.join(cwd, "gate"), "go\n")
      while (gates.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      calls[4]?.cancel()
      await calls[4]
      // What comes behind would have had the time to run.
      await new Promise((resolve) => setTimeout(resolve, 200))
      assert.deepStrictEqual(ran, ["quick first", "a begins"])
      gates[0]?.()
      await Promise.all(calls)
      assert.deepStrictEqual(ran, ["quick first", "a begins", "a ends", "quick last"])
      const brief = ended.map((each) => each.replace(/^(mcp:[^\n]*)\n.*/s, "$1"))
      assert.deepStrictEqual(brief, [
        "mkfifo gate; cat gate; echo shell >> f: go\n",
        "quick first: (no output)",
        `${todo}: Todo list updated: 0 completed, 0 in progress, 0 pending\n`,
        "slow cancelled: Command interrupted before it ended.",
        "slow a: done\n",
        "read f:      1\tone\n     2\tshell\n",
        "echo two >> f: (no output)",
        "edit f two 2: Replaced 1 occurrence in f (line 3)\n shell\n-two\n+2\n",
        "skill:nosuch: Unknown skill: nosuch (in skill:nosuch).\nThere are no skills.",
        `mcp:nosuch:tool: Unknown MCP server: nosuch (in mcp:nosuch:tool).`,
        "bash cat f: one\nshell\n2\n",
        "write g <<< x: Written 2 bytes (1 line) to g\n",
        "quick last: (no output)"
      ])
      await synapse.dispose()
    })
  })

  it("do not wait for the call that makes them", async () => {
    const inner: Array<string> = []
    const synapse = await make({
      sandbox: false,
      commands: [
        {
          name: "nest",
          summary: "s",
          usage: "nest",
          run: async ({ args: [depth] }) => {
            const command = depth === "0" ? "echo inner" : `nest ${Number(depth) - 1}`
            inner.push((await synapse.handle({ id: `of ${depth}`, name: "Bash", arguments: { command } })).output)
            return "done\n"
          }
        }
      ]
    })
    const call = (command: string) => synapse.handle({ id: command, name: "Bash", arguments: { command } })
    const [nested, after] = await Promise.all([call("nest 1"), call("echo after")])
    assert.deepStrictEqual([...inner, nested.output, after.output], ["inner\n", "done\n", "done\n", "after\n"])
    await synapse.dispose()
  })
})
