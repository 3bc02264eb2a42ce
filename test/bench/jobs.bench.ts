/** What a call costs that may go on as a job, and what the commands for jobs cost. */
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Table from "./Table.js"

const calls = 20
const runtime = ManagedRuntime.make(Synapse.layer({}, { sandbox: { enabled: false } }))
const toolset = await runtime.runPromise(Toolset)

let id = 0
const call = (command: string, others: object = {}) =>
  Effect.suspend(() =>
    toolset.handle({ id: String(id++), name: "Bash", arguments: JSON.stringify({ command, ...others }) })
  )

/** Milliseconds a call. */
const row = (name: string, each: Effect.Effect<unknown>): Table.Row => ({
  name,
  run: async () => {
    const start = performance.now()
    await runtime.runPromise(Effect.repeatN(each, calls - 1))
    return (performance.now() - start) / calls
  }
})

try {
  await runtime.runPromise(call("{ sleep 0.2; echo one; } &"))
  await runtime.runPromise(call("sleep 600 &"))
  await runtime.runPromise(call("job:wait 1"))
  await Table.print(
    [
      row("true", call("true")),
      row("true, with yield", call("true", { yield: 30_000 })),
      row("/bin/true", call("/bin/true")),
      row("/bin/true, with yield", call("/bin/true", { yield: 30_000 })),
      row("job:output 1", call("job:output 1")),
      row("job:wait 1, which has ended", call("job:wait 1")),
      row("job:list", call("job:list"))
    ],
    { title: "a call", samples: 5 }
  )
  await Table.print(
    [row("true", call("true")), row("true &", call("true &")), row("job:start true", call("job:start true"))],
    { title: "a call that starts a job", samples: 5 }
  )
} finally {
  await runtime.dispose()
}
