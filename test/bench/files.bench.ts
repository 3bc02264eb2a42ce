/** What the file commands cost: a window deep in a large file, an edit of one, and a Synapse command in a shell line. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Table from "./Table.js"

const MiB = 1024 ** 2
const directory = Fs.mkdtempSync(Path.join(Os.homedir(), ".synapse-files-"))
const runtime = ManagedRuntime.make(
  Synapse.layer({ cwd: directory }, { sandbox: { home: `${directory}-home`, temporary: directory } })
)

const run = (command: string) =>
  runtime.runPromise(
    Effect.flatMap(Toolset, (toolset) =>
      Effect.map(toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) }), (result) => {
        if (result.isError) throw new Error(`${command}: ${result.output}`)
      })
    )
  )

/** Lines of that many bytes, up to a size. */
const fill = (name: string, size: number, width: number) => {
  const file = Fs.openSync(Path.join(directory, name), "w")
  let count = 0
  for (let written = 0; written < size; ) {
    const lines: Array<string> = []
    for (let length = 0; length < MiB; length += width) lines.push(`${String(++count).padStart(width - 1, ".")}\n`)
    written += Fs.writeSync(file, lines.join(""))
  }
  Fs.closeSync(file)
  return count
}

const row = (name: string, command: string, times = 1): Table.Row => ({
  name,
  run: async () => {
    const start = performance.now()
    for (let at = 0; at < times; at++) await run(command)
    return (performance.now() - start) / times
  }
})

try {
  for (const width of [20, 80, 400]) {
    const count = fill("large", 1024 * MiB, width)
    const [from, to] = [count - 100, count - 91]
    globalThis.gc?.()
    const before = process.memoryUsage.rss()
    let most = 0
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss() - before)
    }, 5)
    await Table.print(
      [row("sed", `sed -n '${from},${to}p;${to}q' large`), row("read", `read large --offset ${from - 1} --limit 10`)],
      { title: `10 lines deep in 1 GiB, ${width} bytes a line`, samples: 5, goals: { read: 1.5 } }
    )
    clearInterval(watching)
    console.log(`Resident memory grew by ${(most / MiB).toFixed(1)} MiB at most (goal: 64).\n`)
  }
  Fs.rmSync(Path.join(directory, "large"))

  fill("hundred", 100 * MiB, 80)
  await Table.print(
    [
      row("cp", "cp hundred copied"),
      row("sed -i", "sed -i 's/\\.77777$/.88888/' hundred; sed -i 's/\\.88888$/.77777/' hundred"),
      row("edit", "edit hundred .77777 .88888; edit hundred .88888 .77777")
    ],
    { title: "an edit in 100 MiB, and back again", samples: 5 }
  )

  for (let at = 1; at <= 60; at++) Fs.writeFileSync(Path.join(directory, `part${at}`), `one\ntwo ${at}\nthree\n`)
  const loop = (body: string) => `for i in {1..60}; do ${body}; done`
  await Table.print(
    [
      row("sed -i", `${loop("sed -i s/one/1/ part$i")}; ${loop("sed -i s/1/one/ part$i")}`),
      row("edit", `${loop("edit part$i one 1")}; ${loop("edit part$i 1 one")}`)
    ],
    { title: "60 small files in a loop, and back again", samples: 5, goals: { edit: 4 } }
  )

  Fs.writeFileSync(Path.join(directory, "small"), "one\ntwo\nthree\n")
  await Table.print(
    [
      row("cat small | tail -n 1", "cat small | tail -n 1", 50),
      row("read small | tail -n 1", "read small | tail -n 1", 50),
      row("read small", "read small", 50),
      row("cat small", "cat small", 50),
      row("write small x", "write small 'one two'", 50),
      row("TodoWrite in a line", "TodoWrite '{\"todos\":[]}' && true", 50),
      row("TodoWrite alone", "TodoWrite '{\"todos\":[]}'", 50)
    ],
    { title: "a command of ours in a shell line", samples: 9 }
  )
} finally {
  await runtime.dispose()
  Fs.rmSync(directory, { recursive: true, force: true })
  Fs.rmSync(`${directory}-home`, { recursive: true, force: true })
}
