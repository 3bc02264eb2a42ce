/** How long the event loop stands still, at most, while commands work on huge input, and what that work takes. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { setImmediate } from "node:timers/promises"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Table from "./Table.js"

const MiB = 1024 ** 2
/** The longest pause that is allowed, in milliseconds. */
const limit = 50
const directory = Fs.mkdtempSync(Path.join(Os.homedir(), ".synapse-pause-"))
const runtime = ManagedRuntime.make(
  Synapse.layer({ cwd: directory }, { sandbox: { home: `${directory}-home`, temporary: directory } })
)

/** Makes the arguments of a call. */
const calling = (command: string) => JSON.stringify({ command, timeout: 600_000 })

const handle = (args: string) =>
  runtime.runPromise(Effect.flatMap(Toolset, (toolset) => toolset.handle({ id: "1", name: "Bash", arguments: args })))

const run = (command: string) => handle(calling(command))

/** Writes a file of a size in MiB. */
const fill = (name: string, size: number, part: (at: number) => string) => {
  const file = Fs.openSync(Path.join(directory, name), "w")
  for (let at = 0; at < size; at++) Fs.writeSync(file, part(at).padEnd(MiB, part(at)).slice(0, MiB))
  Fs.closeSync(file)
}

let most = 0
const sampling = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 5)

/**
 * Runs a command, and returns the longest time between two turns of the event loop, 2 ms apart where it is idle. Of that
 * time, no more counts than this process worked: the rest is other processes', where the machine is busy.
 */
const pause = async (command: string): Promise<number> => {
  // Making them is the caller's work.
  const args = calling(command)
  await setImmediate()
  let longest = 0
  let before = performance.now()
  let usage = process.cpuUsage()
  const look = () => {
    const now = performance.now()
    const { system, user } = process.cpuUsage(usage)
    longest = Math.max(longest, Math.min(now - before, (user + system) / 1000))
    before = now
    usage = process.cpuUsage()
  }
  const turn = setInterval(look, 2)
  await handle(args)
  look()
  clearInterval(turn)
  return longest
}

const many = (text: string, count: number) => text.repeat(count)
const redirects = `: ${many("</dev/null ", 300_000)}`
const words = `: ${many("a/b ", 2_500_000)}`
const quoted = `: '${many("\nx > $(y) {a,b}", 300_000)}'`

const commands: ReadonlyArray<readonly [name: string, command: string]> = [
  ["edit, not found in 256 MiB", "edit lines 'no such text' x"],
  ["edit, found in 256 MiB", "edit lines .255. .0000.; edit lines .0000. .255."],
  ["edit --all, 16 Mi hits", "edit letters a b --all; edit letters b a --all"],
  ["edit, a line of 16 MiB", "edit letters 'aaaaaaaaaaaaaaaab' x"],
  ["read, a line of 256 MiB", "read line"],
  ["300,000 redirects", redirects],
  ["10 MB of words", words],
  ["5 MB in quotes", quoted],
  ["10 MB of one word", `: ${many("a", 10_000_000)}`],
  ["1 MB of newlines", `:${many("\n", 1_000_000)}`],
  ["1 MB of set", `: ${many("set ", 250_000)}`],
  ["1 MB of paths that are missing", many("/a/b/c ", 150_000)],
  ["300 words of 9 kB refused", `for i in {1..300}; do echo "${many("a", 9000)}: Permission denied" >&2; done; false`]
]

try {
  await run("true")
  fill("lines", 256, (at) => `${`.${at}.`.padEnd(79, "x")}\n`)
  fill("letters", 16, () => "a")
  fill("line", 256, () => "a")
  Fs.writeFileSync(Path.join(directory, "redirects"), redirects)
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  most = 0
  await Table.print(
    [
      { name: "the limit", run: () => limit },
      ...commands.map(([name, command]) => ({ name, run: () => pause(command) }))
    ],
    {
      title: "longest pause of the event loop",
      samples: 1,
      goals: Object.fromEntries(commands.map(([name]) => [name, 1]))
    }
  )
  console.log(`Resident memory grew by ${((most - before) / MiB).toFixed(1)} MiB at most (goal: 400).\n`)
  await Table.print(
    [
      { name: "grep, not found in 256 MiB", run: () => run("LC_ALL=C grep -c 'no such text' lines") },
      { name: "edit, not found in 256 MiB", run: () => run("edit lines 'no such text' x") },
      { name: "cp 256 MiB", run: () => run("cp lines copied; rm copied") },
      { name: "edit, found in 256 MiB", run: () => run("edit lines .255. .255-; edit lines .255- .255.") }
    ],
    { title: "what it takes", samples: 1 }
  )
  await Table.print(
    [
      { name: "300,000 redirects in a file", run: () => run("source ./redirects") },
      { name: "300,000 redirects", run: () => run(redirects) }
    ],
    { title: "what a huge command takes", samples: 3, goals: { "300,000 redirects": 1.5 } }
  )
} finally {
  clearInterval(sampling)
  await runtime.dispose()
  Fs.rmSync(directory, { recursive: true, force: true })
  Fs.rmSync(`${directory}-home`, { recursive: true, force: true })
}
