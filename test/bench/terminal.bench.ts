/** What the renderer writes while five tasks run, against drawing all lines anew in each frame, and what an event costs. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SubAgentStep } from "../../src/domain/SubAgentEvent.js"
import { RunEvent } from "../../src/terminal/RunEvent.js"
import { Terminal } from "../../src/terminal/Terminal.js"
import * as TerminalRenderer from "../../src/terminal/TerminalRenderer.js"

const tasks = Array.from({ length: 5 }, (_, at) => String(at))
const seconds = 3

const event = (id: string, step: SubAgentStep): RunEvent =>
  RunEvent.SubAgent({ event: { id, type: "explore", description: `find the router, part ${id}`, step } })

const tool = (at: number): RunEvent => {
  const call = { id: String(at), name: "Bash", arguments: JSON.stringify({ command: `read src/some/file-${at}.ts` }) }
  return event(tasks[at % tasks.length] ?? "0", SubAgentStep.ToolStarted({ call }))
}

/** Runs events at a given rate a second; returns the bytes and frames that were written in a second, and the share of a processor. */
const measured = (rate: number) =>
  Effect.gen(function* () {
    let bytes = 0
    let frames = 0
    const terminal = Layer.succeed(Terminal, {
      isLive: true,
      size: () => ({ columns: 100, rows: 50 }),
      onResize: () => () => {},
      write: (text) => {
        bytes += Buffer.byteLength(text)
        frames++
      }
    })
    const running = Effect.flatMap(TerminalRenderer.TerminalRenderer, ({ flush, take }) =>
      Effect.gen(function* () {
        for (const id of tasks) yield* take(event(id, SubAgentStep.Started()))
        for (let at = 0; at < 25; at++) yield* take(tool(at))
        yield* flush
        const [bytesBefore, framesBefore] = [bytes, frames]
        const cpu = process.cpuUsage()
        const began = performance.now()
        for (let at = 0; ; ) {
          const now = performance.now() - began
          if (now >= seconds * 1000) break
          for (; at < (now / 1000) * rate; at++) yield* take(tool(at))
          yield* Effect.sleep(Math.max(5, 1000 / rate / 2))
        }
        const { system, user } = process.cpuUsage(cpu)
        return {
          bytes: (bytes - bytesBefore) / seconds,
          frames: (frames - framesBefore) / seconds,
          share: (system + user) / 1000 / (seconds * 1000)
        }
      })
    )
    return yield* Effect.provide(running, Layer.provide(TerminalRenderer.layer, terminal))
  })

/** The bytes of all lines: five tasks, each with five tools and a line on the earlier ones. */
const whole = Buffer.byteLength(
  `\x1b[35A\x1b[J${tasks.map((id) => `◐ Task(explore: find the router, part ${id}) [1000 tools, 3s]\r\n  ... (995 earlier tools)\r\n${"  ├─• read src/some/file-1000.ts\r\n".repeat(5)}`).join("")}`
)

for (const [rate, goal] of [
  [1, 0.3],
  [10, 0.7],
  [2000, 1.2]
] as const) {
  const { bytes, frames, share } = await Effect.runPromise(measured(rate))
  const ratio = bytes / (frames * whole)
  console.log(
    `${rate} events a second: ${bytes.toFixed(0)} bytes and ${frames.toFixed(1)} frames a second, ${ratio.toFixed(2)} of drawing all anew (goal: at most ${goal}), ${(100 * share).toFixed(1)} % of a processor`
  )
}

/** Milliseconds of a processor for one event, where all of them come at once. */
const count = 100_000
const terminal = Layer.succeed(Terminal, {
  isLive: true,
  size: () => ({ columns: 100, rows: 50 }),
  onResize: () => () => {},
  write: () => {}
})
const spent = await Effect.runPromise(
  Effect.flatMap(TerminalRenderer.TerminalRenderer, ({ flush, take }) =>
    Effect.gen(function* () {
      for (const id of tasks) yield* take(event(id, SubAgentStep.Started()))
      for (let at = 0; at < 5000; at++) yield* take(tool(at))
      const cpu = process.cpuUsage()
      for (let at = 0; at < count; at++) yield* take(tool(at))
      yield* flush
      return process.cpuUsage(cpu).user / count
    })
  ).pipe(Effect.provide(Layer.provide(TerminalRenderer.layer, terminal)))
)
console.log(`an event: ${spent.toFixed(1)} microseconds (goal: at most 50)\n`)
