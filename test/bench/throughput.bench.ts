/** How fast a large output comes through, and what memory it takes. */
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Pipe from "./Pipe.js"
import * as Table from "./Table.js"

const megabytes = 2048
const command = `head -c ${megabytes}M /dev/zero | tr '\\0' x`
const fast = `head -c ${megabytes}M /dev/zero`

/** The whole way of a call, with the most that a file of all output may hold. */
const way = (outputFileLimit?: number) => {
  const runtime = ManagedRuntime.make(
    Synapse.layer(outputFileLimit === undefined ? {} : { outputFileLimit }, { sandbox: { enabled: false } })
  )
  const run = (text: string) =>
    runtime.runPromise(
      Effect.flatMap(Toolset, (toolset) =>
        toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command: text }) })
      )
    )
  return { run, dispose: () => runtime.dispose() }
}

const standard = way()
const whole = way(megabytes * 2 ** 21)
const none = way(0)
try {
  await Table.print(
    [
      { name: "bare pipe", run: () => Pipe.drain(fast).then(() => undefined) },
      { name: "whole toolset", run: () => standard.run(fast).then(() => undefined) },
      { name: "… without a file of all", run: () => none.run(fast).then(() => undefined) },
      { name: "… with all 2 GB in the file", run: () => whole.run(fast).then(() => undefined) }
    ],
    { title: "2 GB of output", samples: 4, goals: { "whole toolset": 1 } }
  )
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 5)
  await standard.run(command)
  clearInterval(watch)
  console.log(
    `memory while ${megabytes} MB came: ${((most - before) / 2 ** 20).toFixed(1)} MB more (goal: less than 60)\n`
  )
} finally {
  await Promise.all([standard.dispose(), whole.dispose(), none.dispose()])
}
