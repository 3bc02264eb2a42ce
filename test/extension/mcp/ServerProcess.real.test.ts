import * as ChildProcess from "node:child_process"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Servers from "../../support/mcp/Servers.js"
import * as Temporary from "../../support/Temporary.js"

const built = path.resolve(import.meta.dirname, "../../../dist/extension/mcp/internal/ServerProcess.js")

/** A program that starts a server which ignores its end, and then what that one starts; it prints both. */
const program = (server: string) => `
import { start } from ${JSON.stringify(built)}
await start(
  { program: process.execPath, args: ["-e", ${JSON.stringify(server)}], cwd: "/", environment: {} },
  { onOutput: async (chunk) => void process.stdout.write(chunk), onEnd: () => {} }
)
`

const stubborn = `
process.on("SIGTERM", () => {})
setInterval(() => {}, 1000)
const { pid } = require("node:child_process").spawn("/bin/sleep", ["1000"])
console.log(process.pid + " " + pid)
`

describe("ServerProcess", () => {
  it("ends a server that ignores SIGTERM and the end of its input", async () => {
    let pid = 0
    await Servers.within((world) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd", "stubborn"))
        yield* Effect.scoped(
          Effect.flatMap(Servers.client(world), (client) =>
            Effect.map(client.call("odd", "pid", {}), (answer) => {
              pid = Number(Servers.textOf(answer))
            })
          )
        )
        assert.isFalse(Servers.isAlive(pid))
        assert.include(world.log("odd"), "SIGTERM")
      })
    )
  })

  it("ends what a server has started, when it ends by itself, by a crash, and by us", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        world.entries.push(world.odd("odd", "family"))
        const child = Number(Servers.textOf(yield* client.call("odd", "child", {})))
        assert.isTrue(Servers.isAlive(child))
        // Its children hold its output open.
        assert.include((yield* Effect.flip(client.call("odd", "crash", {}))).message, "exit code 7")
        yield* Servers.until(() => !Servers.isAlive(child))
        const second = Number(Servers.textOf(yield* client.call("odd", "child", {})))
        world.entries.length = 0
        yield* client.servers
        yield* Servers.until(() => !Servers.isAlive(second))
        const children = world.log("odd").filter((line) => line.startsWith("child"))
        assert.lengthOf(children, 2)
        assert.isFalse(children.some((line) => Servers.isAlive(Number(line.slice("child ".length)))))
      })
    ))

  it("ends all of it when this program is killed by SIGKILL", () =>
    Temporary.using(async (directory) => {
      const running = ChildProcess.spawn(process.execPath, ["--input-type=module", "-e", program(stubborn)], {
        cwd: directory,
        stdio: ["ignore", "pipe", "inherit"]
      })
      const pids = await new Promise<ReadonlyArray<number>>((resolve, reject) => {
        running.stdout.once("data", (chunk) => resolve(String(chunk).trim().split(" ").map(Number)))
        running.once("close", (code) => reject(new Error(`the program ended with exit code ${code}`)))
      })
      assert.deepStrictEqual(pids.map(Servers.isAlive), [true, true])
      running.kill("SIGKILL")
      await Effect.runPromise(Servers.until(() => !pids.some(Servers.isAlive)))
    }))
})
