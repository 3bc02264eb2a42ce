/**
 * The program as it is installed: `npm run build` makes it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const synapse = path.resolve(import.meta.dirname, "../../../dist/bin/synapse.cjs")

/** Synapse's own directory for all files that run in this process: not the user's, and gone with the whole run. */
const home = fs.mkdtempSync(path.join(path.dirname(os.tmpdir()), "synapse-home-"))

interface Ended {
  readonly exitCode: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  /** Settled when the program's stdout has this text in it. */
  readonly says: (text: string) => Promise<void>
}

export const start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Running => {
  if (!fs.existsSync(synapse)) throw new Error(`${synapse} is missing: npm run build makes it`)
  const child = spawn(process.execPath, [synapse, ...args], {
    env: { ...process.env, SYNAPSE_HOME: home, ...env }
  })
  const stdout: Array<Buffer> = []
  const stderr: Array<Buffer> = []
  const waiting = new Set<() => void>()
  child.stdout.on("data", (chunk: Buffer) => {
    stdout.push(chunk)
    for (const look of waiting) look()
  })
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (exitCode) =>
      resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() })
    )
  })
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!Buffer.concat(stdout).includes(text)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
      ended.then(() => reject(new Error(`it ended without saying ${text}`)), reject)
    })
  return { child, ended, says }
}

/** Runs it to its end; stdout is text. */
export const run = async (args: ReadonlyArray<string>, stdin = "", env: Readonly<Record<string, string>> = {}) => {
  const { child, ended } = start(args, env)
  child.stdin.end(stdin)
  const { exitCode, stderr, stdout } = await ended
  return { exitCode, stdout: stdout.toString(), stderr }
}

/** The command lines of all processes. */
export const commandLines = (): ReadonlyArray<ReadonlyArray<string>> =>
  fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)]
      } catch {
        return []
      }
    })

/** Whether a process with exactly these arguments runs. */
export const isRunning = (...args: ReadonlyArray<string>): boolean =>
  commandLines().some((line) => line.join("\0") === args.join("\0"))
