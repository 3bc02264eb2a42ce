// Sessions of the daemon, by hand after a build: node test/bench/daemon.mjs [SESSIONS [CLIENTS [CALLS]]], in a home of its own.
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const [sessions = 100, clients = 50, calls = 10_000] = process.argv.slice(2).map(Number)
const home = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-bench-"))
process.env["HOME"] = home
fs.mkdirSync(path.join(home, "project"))
process.chdir(path.join(home, "project"))
const { connect } = await import("synapse-shell/promise")

const read = (/** @type {string} */ file) => {
  try {
    return fs.readFileSync(file, "latin1")
  } catch {
    return ""
  }
}

/** Sums up the memory of this home's processes, each page counted once, in MB. */
const memory = () => {
  const own = fs
    .readdirSync("/proc")
    .filter((pid) => pid !== `${process.pid}` && read(`/proc/${pid}/environ`).includes(home))
  const sizes = own.map((pid) => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0))
  return `${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)} MB in ${own.length} processes`
}

let began = performance.now()
const tell = (/** @type {string} */ what) => {
  console.log(`${what}: ${Math.round(performance.now() - began)} ms, ${memory()}`)
  began = performance.now()
}

const client = await connect()
const all = Array.from({ length: sessions }, (_, at) => client.session(`s${at}`))
for (const session of all) await session.run("n=0")
tell(`${sessions} sessions opened`)

let next = 0
let wrong = 0
const work = async () => {
  while (next < calls) {
    const at = next++
    const { output } = (await all[at % sessions]?.run(`n=$((n + 1)); echo ${at}`)) ?? {}
    if (output !== `${at}\n`) wrong++
  }
}
await Promise.all(Array.from({ length: clients }, work))
tell(`${calls} calls of ${clients} clients, ${wrong} of them wrong`)

let counted = 0
for (const session of all) counted += Number((await session.run("echo $n")).output)
tell(`${counted} of ${calls} have run`)
await Promise.all(all.map((session) => session.close()))
tell("ended")
fs.rmSync(home, { recursive: true, maxRetries: 20 })
