/** What a long queue of calls costs: `synapse call` with all of them at once, against one after the other. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Table from "./Table.js"

const calls = 5000
const program = path.resolve("dist/bin/synapse.cjs")
const line = (id: string, command: string) => `${JSON.stringify({ id, name: "Bash", arguments: { command } })}\n`

/** One program, and its answers. */
const open = () => {
  const child = spawn(process.execPath, [program, "call", "--no-sandbox"], { stdio: ["pipe", "pipe", "inherit"] })
  let answered: (id: string) => void = () => {}
  let rest = ""
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n")
    rest = lines.pop() ?? ""
    for (const one of lines) answered(JSON.parse(one).toolCallId)
  })
  const memory = () => {
    const found = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, "utf8"))
    return Number(found?.[1]) / 1024
  }
  return {
    write: (text: string) => child.stdin.write(text),
    /** Waits for a number of answers, or for that of one id. */
    answers: (what: number | string) =>
      new Promise<void>((resolve) => {
        let count = 0
        answered = (id) => {
          if (id === what || ++count === what) resolve()
        }
      }),
    memory,
    close: () => child.kill()
  }
}

/** Runs it in a program of its own; returns its time, and the most memory that it took. */
const measured = async (run: (program: ReturnType<typeof open>) => Promise<void>) => {
  const program = open()
  const warm = program.answers(1)
  program.write(line("warm", "true"))
  await warm
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, program.memory())
  }, 10)
  const start = performance.now()
  await run(program)
  const time = performance.now() - start
  clearInterval(watch)
  program.close()
  return { time, most }
}

const memory: Record<string, number> = {}
const row = (name: string, run: (program: ReturnType<typeof open>) => Promise<void>): Table.Row => ({
  name,
  run: async () => {
    const { most, time } = await measured(run)
    memory[name] = Math.max(memory[name] ?? 0, most)
    return time
  }
})
const inTurn = (count: number) => async (program: ReturnType<typeof open>) => {
  for (let id = 0; id < count; id++) {
    const answer = program.answers(1)
    program.write(line(String(id), "true"))
    await answer
  }
}
const atOnce = (count: number) => async (program: ReturnType<typeof open>) => {
  const all = program.answers(count)
  program.write(Array.from({ length: count }, (_, id) => line(String(id), "true")).join(""))
  await all
}

await Table.print([row("one after the other", inTurn(calls)), row("all at once", atOnce(calls))], {
  title: `${calls} calls`,
  samples: 3,
  goals: { "all at once": 1.5 }
})
const more = (memory["all at once"] ?? 0) - (memory["one after the other"] ?? 0)
console.log(`memory of the queue: ${more.toFixed(1)} MB more (goal: at most 60)`)

/** Milliseconds until a cancellation is answered while other calls wait behind one that sleeps. */
const cancelled = async (waiting: number) => {
  const program = open()
  const warm = program.answers("warm")
  program.write(line("warm", "true"))
  await warm
  program.write(line("sleep", "sleep 60"))
  program.write(Array.from({ length: waiting }, (_, id) => line(String(id), "true")).join(""))
  await new Promise((resolve) => setTimeout(resolve, 1500))
  const answer = program.answers(String(waiting - 1))
  const start = performance.now()
  program.write(`{"cancel":"${waiting - 1}"}\n`)
  await answer
  const time = performance.now() - start
  program.close()
  return time
}
for (const waiting of [10, 5000, 50_000]) {
  const time = await cancelled(waiting)
  console.log(`a cancellation while ${waiting} calls wait: ${time.toFixed(1)} ms (goal: less than 100)`)
}

const long = open()
const first = long.answers(1000)
long.write(Array.from({ length: 1000 }, (_, id) => line(`a${id}`, "true")).join(""))
await first
const before = long.memory()
const rest = long.answers(10_000)
long.write(Array.from({ length: 10_000 }, (_, id) => line(`b${id}`, "true")).join(""))
await rest
console.log(`memory after 10,000 calls more: ${(long.memory() - before).toFixed(1)} MB more\n`)
long.close()
