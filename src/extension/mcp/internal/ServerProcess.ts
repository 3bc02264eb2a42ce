/** Runs the program of an MCP server, and ends it with all that it has started. */
import * as ChildProcess from "node:child_process"
import * as Timers from "node:timers/promises"
import * as Attempt from "../../../domain/Attempt.js"
import * as ProcessTable from "../../../session/ProcessTable.js"

/** A program that was started, as the leader of a process group of its own. */
export interface ServerProcess {
  /** Writes to its standard input. Rejects where it can't have been read as a whole. */
  readonly write: (text: string) => Promise<void>
  /** The end of what it has written to its standard error. */
  readonly stderr: () => string
  /** False where it has ended, or was killed: also in the moment before the system reports that. */
  readonly isThere: () => boolean
  /** How it ended: `exit code 3`, `SIGSEGV`; undefined while it runs. */
  readonly ending: () => string | undefined
  /**
   * Ends it: closes its standard input, sends SIGTERM to its group, then SIGKILL, each after a grace. Resolves when it
   * has ended; the rest of its group has been sent SIGKILL then.
   */
  readonly end: () => Promise<void>
}

export interface Program {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/** Hears what a server writes, and that it has ended. */
export interface Listener {
  /** Nothing more is read before its promise is fulfilled: a server that writes without end is held up by its pipe. */
  readonly onOutput: (chunk: Uint8Array) => Promise<void>
  /** Called once, after all output. */
  readonly onEnd: () => void
}

/** Milliseconds after standard input was closed, and after SIGTERM. */
const grace = 500
/** Milliseconds that output may come after the program has ended: what it has started can hold the pipe open for ever. */
const rest = 200
const keptOfStderr = 8192

/**
 * Waits for the end of this process, and then kills the group: also where this process was killed by SIGKILL. The server
 * has a second of its own before that, for its standard input has ended too.
 */
const watch = 'read -r _; sleep 1; kill -KILL "-$0"'

/** Starts a program. Rejects with the system's error where it can't be started. */
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
    // Where it can't be started, the end of standard input has to do.
    watcher.on("error", () => {})
    watcher.stdin.on("error", () => {})

    const killGroup = (signal: NodeJS.Signals) => {
      // It is empty already.
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
    // What it wrote last tells why it ended: it is waited for, though not longer than for the killed group to let go.
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

/** Tells whether a promise was fulfilled within so many milliseconds. */
export const within = async (promise: Promise<unknown>, milliseconds: number): Promise<boolean> => {
  const late = new AbortController()
  const isDone = Promise.race([
    promise.then(() => true),
    Timers.setTimeout(milliseconds, false, { signal: late.signal }).catch(() => false)
  ])
  return isDone.finally(() => late.abort())
}
