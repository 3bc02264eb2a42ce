/** Runs the program of an MCP server, and ends it together with everything that it started. */
import * as ChildProcess from "node:child_process"
import * as Timers from "node:timers/promises"
import * as Attempt from "../../../domain/Attempt.js"
import * as ProcessTable from "../../../session/ProcessTable.js"

/** A running program, which leads its own process group. */
export interface ServerProcess {
  /** Writes to its standard input. Rejects if the program can't have read all of it. */
  readonly write: (text: string) => Promise<void>
  /** The end of what it wrote to standard error. */
  readonly stderr: () => string
  /** False if it ended or was killed, even before the system reports that. */
  readonly isThere: () => boolean
  /** How it ended: `exit code 3`, `SIGSEGV`. Undefined while it runs. */
  readonly ending: () => string | undefined
  /**
   * Ends it: closes its standard input, then sends SIGTERM to its group, then SIGKILL, with a pause after each.
   * Resolves when it has ended and the rest of its group was killed.
   */
  readonly end: () => Promise<void>
}

export interface Program {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

export interface Listener {
  /** Output is not read until its promise resolves, so that a server that writes endlessly is slowed by its pipe. */
  readonly onOutput: (chunk: Uint8Array) => Promise<void>
  /** Called once, after all output. */
  readonly onEnd: () => void
}

/** Milliseconds to wait after closing standard input, and after SIGTERM. */
const grace = 500
/** Milliseconds to wait for output after the program has ended. Its children can hold the pipe open forever. */
const rest = 200
const keptOfStderr = 8192

/**
 * Waits for the end of this process and kills the group, even if this process was killed by SIGKILL. The server's
 * standard input ends too, which gives it a second to end by itself.
 */
const watch = 'read -r _; sleep 1; kill -KILL "-$0"'

/** Starts a program. Rejects with the system's error if it can't start. */
export const start = (program: Program, listener: Listener): Promise<ServerProcess> =>
  new Promise((resolve, reject) => {
    const child = ChildProcess.spawn(program.program, program.args, {
      cwd: program.cwd,
      env: program.environment,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"]
    })
    child.once("error", reject)
    if (child.pid === undefined) return
    const pid = child.pid
    const watcher = ChildProcess.spawn("/bin/sh", ["-c", watch, String(pid)], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["pipe", "ignore", "ignore"]
    })
    // Without the watcher, the server must end by itself when its standard input ends.
    watcher.on("error", () => {})
    watcher.stdin.on("error", () => {})

    const killGroup = (signal: NodeJS.Signals) => {
      // The group may already be empty.
      Attempt.ignore(() => process.kill(-pid, signal))
    }

    let stderr: Buffer = Buffer.alloc(0)
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-keptOfStderr)
    })
    child.stdout.on("data", (chunk: Buffer) => {
      child.stdout.pause()
      void listener.onOutput(chunk).then(() => child.stdout.resume())
    })
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {})

    let ending: string | undefined
    const exited = new Promise<void>((done) => {
      child.once("exit", (code, signal) => {
        ending = signal ?? `exit code ${code}`
        killGroup("SIGKILL")
        watcher.kill("SIGKILL")
        done()
      })
    })
    // Wait for the last output, which tells why it ended, but only as long as the killed group needs to close the pipe.
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      listener.onEnd()
    }
    let timer: NodeJS.Timeout | undefined
    child.once("close", over)
    void exited.then(() => {
      if (!isOver) timer = setTimeout(over, rest)
    })

    let ended: Promise<void> | undefined
    const end = async () => {
      child.stdin.end()
      if (await within(exited, grace)) return
      killGroup("SIGTERM")
      if (await within(exited, grace)) return
      killGroup("SIGKILL")
      await exited
    }

    resolve({
      write: (text) =>
        new Promise((written, failed) => {
          child.stdin.write(text, (error) => (error ? failed(error) : written()))
        }),
      stderr: () => stderr.toString("utf8"),
      isThere: () => ending === undefined && !ProcessTable.isKilled(pid),
      ending: () => ending,
      end: () => {
        ended ??= end()
        return ended
      }
    })
  })

/** Tests whether a promise resolves within a time. */
export const within = async (promise: Promise<unknown>, milliseconds: number): Promise<boolean> => {
  const late = new AbortController()
  const isDone = Promise.race([
    promise.then(() => true),
    Timers.setTimeout(milliseconds, false, { signal: late.signal }).catch(() => false)
  ])
  return isDone.finally(() => late.abort())
}
