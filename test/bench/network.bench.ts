/** What a gigabyte takes through the sandbox's way to an allowed host, and how much later a session with one starts. */
import * as ChildProcess from "node:child_process"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Table from "./Table.js"

const bytes = 2 ** 30
const source = ChildProcess.spawn(process.execPath, [
  "-e",
  `const part = Buffer.alloc(2 ** 20)
   require("net").createServer((socket) => {
     let left = ${bytes / 2 ** 20}
     const send = () => { while (left-- > 0) if (!socket.write(part)) return socket.once("drain", send); socket.end() }
     socket.on("error", () => {}); send()
   }).listen(0, "127.0.0.1", function () { console.log(this.address().port) })`
])
const port = await new Promise<number>((resolve) => source.stdout.once("data", (text) => resolve(Number(text))))
const take = `'${process.execPath}' -e 'let n = 0; require("net").connect(${port}, "127.0.0.1").on("data", (part) => { n += part.length }).on("end", () => console.log(n))'`

const session = (allowedHosts: ReadonlyArray<string>, enabled = true) => {
  const runtime = ManagedRuntime.make(Synapse.layer({}, { sandbox: { enabled, allowedHosts } }))
  const run = (command: string) =>
    runtime.runPromise(
      Effect.flatMap(Toolset, (toolset) =>
        toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) })
      )
    )
  return { run, dispose: () => runtime.dispose() }
}
const started = async (allowedHosts: ReadonlyArray<string>) => {
  const { dispose, run } = session(allowedHosts)
  await run("true")
  await dispose()
}

const direct = session([], false)
const within = session([`localhost:${port}`])
try {
  const taking = (run: (command: string) => Promise<unknown>) => async () => {
    const result = JSON.stringify(await run(take))
    if (!result.includes(String(bytes))) throw new Error(result)
  }
  await Table.print(
    [
      { name: "node to node", run: taking(direct.run) },
      { name: "through the sandbox", run: taking(within.run) }
    ],
    { title: "1 GiB from a server of the machine", samples: 5, goals: { "through the sandbox": 1 } }
  )
  globalThis.gc?.()
  const before = { cpu: process.cpuUsage(), memory: process.memoryUsage.rss() }
  await taking(within.run)()
  const { system, user } = process.cpuUsage(before.cpu)
  const more = (process.memoryUsage.rss() - before.memory) / 2 ** 20
  console.log(`on the way: ${((user + system) / 1e6).toFixed(2)} s of CPU, ${more.toFixed(0)} MiB more memory\n`)
  await Table.print(
    [
      { name: "without a host", run: () => started([]) },
      { name: "with a host", run: () => started(["example.com"]) }
    ],
    { title: "a session with its first command", samples: 8 }
  )
} finally {
  await Promise.all([direct.dispose(), within.dispose()])
  source.kill()
}
