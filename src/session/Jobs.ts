/**
 * The jobs of a session: whatever of its commands still runs when their calls have ended, and what that prints.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import { ExecutionFailed } from "../domain/CommandError.js"
import type { JobStatus, Terminal } from "../domain/JobStatus.js"
import type { StreamName } from "../domain/KeptOutput.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import type { Start } from "./JobInput.js"
import { type Job, type JobTable, SessionJobs, streams } from "./JobTable.js"
import * as Listeners from "./Listeners.js"
import * as ProcessTable from "./ProcessTable.js"

/**
 * The error for a number that no job has.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchJob extends Data.TaggedError("NoSuchJob")<{
  readonly id: number
  readonly known: ReadonlyArray<number>
}> {
  override get message() {
    const { id, known } = this
    const others = known.length === 0 ? "There are no jobs" : `The jobs are ${known.join(", ")}`
    // The number that is guessed for a job that the same line has started.
    const late = id === Math.max(0, ...known) + 1 ? ". What a line leaves running is a job once the line has ended" : ""
    return `there is no job ${id}. ${others}${late}`
  }
}

/**
 * The error for a job that can't be written to.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoInput extends Data.TaggedError("NoInput")<{
  readonly id: number
  /** `none`: it has none, or that was ended. `full`: it does not read. `pipe`: it has no terminal to press keys on. */
  readonly why: "none" | "full" | "pipe"
}> {
  override get message(): string {
    const { id, why } = this
    if (why === "full") return `job ${id} does not read its input: 1 MiB waits for it`
    return why === "none"
      ? `job ${id} has no open input: job:start gives a job one`
      : `job ${id} has no terminal, which takes keys: start it by job:start --pty`
  }
}

/**
 * The part of a job's output that is asked for: by default, what is new since the last look.
 *
 * @since 0.1.0
 * @category models
 */
export interface OutputOptions {
  readonly all?: boolean
  /** One stream; both where undefined. */
  readonly stream?: StreamName | undefined
  /** True to keep what moves the cursor and colours, in the output of a job with a terminal. */
  readonly raw?: boolean
}

/**
 * The conditions that end a wait for jobs, besides their ends.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  /** True to wait for the first end only. */
  readonly any?: boolean
  /** Finds what is waited for in all that a job has printed. */
  readonly find?: ((text: string) => string | undefined) | undefined
  /** A port that a job listens on. */
  readonly port?: number | undefined
  /** Milliseconds in which a job has printed nothing. */
  readonly idle?: number | undefined
}

/**
 * The job that ended a wait, and what `find` has found, or the condition that has come true.
 *
 * @since 0.1.0
 * @category models
 */
export interface Waited {
  readonly job: JobStatus
  readonly why: "ended" | "found" | "port" | "idle" | "input"
  readonly found?: string
}

/**
 * The details of a job. It is `waiting for input` where a process of it sleeps in a read of its input, or has left a line
 * unfinished on its terminal and waits.
 *
 * @since 0.1.0
 * @category models
 */
export interface JobDetails extends Omit<JobStatus, "state"> {
  readonly state: JobStatus["state"] | "waiting for input"
  readonly terminal?: Terminal
  readonly processes: number
  readonly ports: ReadonlyArray<number>
}

/** Milliseconds between two looks at a job that is waited for; for its ports, which take some to read. */
const waitEvery = 20
const portEvery = 100

/** Milliseconds that a job has to end by itself, and after which it is left alone: what another user owns can't be ended. */
const farewell = 2000
const giveUp = 2 * farewell

/** Milliseconds without output after which an unfinished line on a terminal counts as a question. */
const silence = 200

/** Milliseconds without output after which a job that waits for input is not waited for. */
const longSilence = 5000

/** Milliseconds in which a shell tells the exit code of a job that has ended. */
const patience = 200

/**
 * The bytes that are sent to a job.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sent {
  readonly bytes: Uint8Array
  /** True where only a terminal can take them. */
  readonly keys?: boolean
  readonly end?: boolean
}

/**
 * The jobs of a session.
 *
 * @since 0.1.0
 * @category tags
 */
export class Jobs extends Context.Tag("synapse/Jobs")<
  Jobs,
  {
    /** Lists the jobs that run, and the last ones that have ended. */
    readonly list: Effect.Effect<ReadonlyArray<JobStatus>>
    readonly status: (id: number) => Effect.Effect<JobStatus, NoSuchJob>
    /** Returns what a job has printed, which counts as read then. */
    readonly output: (id: number, options?: OutputOptions) => Effect.Effect<string, NoSuchJob>
    /**
     * Waits until jobs have ended, or one of them has come to a condition; returns the one that ended the wait, the last one
     * where it is for all of them. It waits without limit.
     */
    readonly wait: (ids: ReadonlyArray<number>, options?: WaitOptions) => Effect.Effect<Waited, NoSuchJob>
    /** Makes the standard input of a job that the next command starts: the path of a FIFO. */
    readonly open: (start: Start) => Effect.Effect<string, ExecutionFailed>
    /** Sends bytes to the input of a job, or presses keys on its terminal; then ends the input, where that is asked for. */
    readonly send: (id: number, sent: Sent) => Effect.Effect<JobStatus, NoSuchJob | NoInput>
    /** Ends a job with all its processes: asks by a signal, then kills. Returns its state then. */
    readonly stop: (id: number, signal?: NodeJS.Signals) => Effect.Effect<JobStatus, NoSuchJob>
    /** Returns the details of a job: the number of its processes, and the ports that they listen on. */
    readonly look: (id: number) => Effect.Effect<JobDetails, NoSuchJob>
    /** The state of each job that begins or ends. */
    readonly changes: Stream.Stream<JobStatus>
    /** Returns what has begun and ended since the last call: each end once. */
    readonly takeNews: () => ReadonlyArray<JobStatus>
  }
>() {}

/** Makes the jobs of a session. */
const make = Effect.fnUntraced(function* (table: JobTable) {
  const changes = yield* PubSub.sliding<JobStatus>(1024)
  table.onChange = (status) => void changes.unsafeOffer(status)
  const find = (id: number) =>
    Effect.suspend(() => {
      const job = table.get(id)
      return job === undefined ? new NoSuchJob({ id, known: table.list.map((one) => one.id) }) : Effect.succeed(job)
    })
  const pause = Effect.sleep(waitEvery)

  /** Tests whether a job has ended; waits a moment for its exit code, which a shell that is busy tells later. */
  const settle = (job: Job): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      job.look()
      if (job.state !== "ending") return Effect.succeed(!job.isRunning)
      table.ask()
      const told = Effect.repeat(pause, { until: () => job.state !== "ending" })
      return Effect.as(Effect.timeoutOption(told, patience), true)
    })

  const pidsOf = (job: Job): ReadonlyArray<number> => job.find().map(({ pid }) => pid)

  const portsOf = (job: Job): ReadonlyArray<number> => Listeners.portsOf(Listeners.heldBy(pidsOf(job)))

  const textOf = ({ input, log }: Job, from: ReadonlyArray<StreamName>, all: boolean): string => {
    const text = log.text(from, all)
    return input?.start.terminal === undefined ? text : UntrustedText.withoutSequences(text)
  }

  /** Returns the condition that has come true. Output is searched only where some has come since the last look. */
  const conditionOf = (
    job: Job,
    { find: search, idle, port }: WaitOptions,
    searched: Map<Job, number>
  ): Omit<Waited, "job"> | undefined => {
    const { heardAt } = job.log
    if (search !== undefined && searched.get(job) !== heardAt) {
      searched.set(job, heardAt)
      const found = search(textOf(job, streams, true))
      if (found !== undefined) return { why: "found", found }
    }
    if (port !== undefined && portsOf(job).includes(port)) return { why: "port" }
    return idle !== undefined && performance.now() - job.log.heardAt >= idle ? { why: "idle" } : undefined
  }

  const isWaiting = ({ input, log }: Job, pids: ReadonlyArray<number>): boolean => {
    const isAsking = performance.now() - log.heardAt > silence && log.isInLine
    return pids.some((pid) => {
      if (input?.isOf(pid) === true) return ProcessTable.waitOf(pid) === "read"
      if (ProcessTable.inputOf(pid)?.startsWith("/dev/pts/") !== true) return false
      const waits = ProcessTable.waitOf(pid)
      return waits === "read" || (waits === "select" && isAsking && ProcessTable.isInForeground(pid))
    })
  }

  const waitFor = (jobs: ReadonlyArray<Job>, options: WaitOptions): Effect.Effect<Waited> =>
    Effect.gen(function* () {
      const searched = new Map<Job, number>()
      const { find: search, idle, port } = options
      const isForEnd = search === undefined && idle === undefined && port === undefined
      const looked = new Map<Job, number>()
      const begun = performance.now()
      for (;;) {
        let left = jobs.length
        for (const job of jobs) {
          const began = performance.now()
          // What it has printed before its end counts too.
          const met = conditionOf(job, options, searched)
          // A pattern can be slow: others have the most of the time.
          const took = performance.now() - began
          if (took > waitEvery && met === undefined) yield* Effect.sleep(4 * took)
          const isOver = yield* settle(job)
          if (met !== undefined && (met.why === "found" || !isOver)) return { job: job.status, ...met }
          const silentFor = performance.now() - Math.max(looked.get(job) ?? begun, job.log.heardAt)
          if (!isOver && isForEnd && job.input?.isOpen === true && silentFor > longSilence) {
            looked.set(job, performance.now())
            // What only `job:send` can give it, would be waited for in vain.
            if (isWaiting(job, pidsOf(job))) return { job: job.status, why: "input" }
          }
          if (!isOver) continue
          table.seen(job)
          left--
          if (left === 0 || options.any === true) return { job: job.status, why: "ended" }
        }
        yield* port === undefined ? pause : Effect.sleep(portEvery)
      }
    })

  const stop = (job: Job, signal: NodeJS.Signals): Effect.Effect<JobStatus> =>
    Effect.gen(function* () {
      const began = performance.now()
      const asked = new Set<number>()
      while (!(yield* settle(job)) && performance.now() - began < giveUp) {
        const isLate = performance.now() - began >= farewell
        const left = job.find()
        if (left.length === 0) job.release()
        for (const { pid } of left) {
          if (!isLate && asked.has(pid)) continue
          asked.add(pid)
          ProcessTable.send(pid, isLate ? "SIGKILL" : signal)
          // One that is stopped takes no other signal.
          ProcessTable.send(pid, "SIGCONT")
        }
        yield* pause
      }
      table.seen(job)
      return job.status
    })

  return Jobs.of({
    wait: (ids, options = {}) => Effect.flatMap(Effect.forEach(ids, find), (jobs) => waitFor(jobs, options)),
    stop: (id, signal = "SIGTERM") => Effect.flatMap(find(id), (job) => stop(job, signal)),
    look: (id) =>
      Effect.map(find(id), (job) => {
        const { status } = job
        const pids = job.isRunning ? pidsOf(job) : []
        const terminal = job.input?.start.terminal
        return {
          ...status,
          state: isWaiting(job, pids) ? "waiting for input" : status.state,
          ...(terminal === undefined ? {} : { terminal }),
          processes: pids.length,
          ports: Listeners.portsOf(Listeners.heldBy(pids))
        }
      }),
    open: (start) =>
      Effect.map(
        Effect.tryPromise({
          try: () => table.open(start),
          catch: (error) => new ExecutionFailed({ kind: "io", reason: (error as Error).message })
        }),
        ({ path }) => path
      ),
    send: (id, { bytes, end = false, keys = false }) =>
      Effect.flatMap(find(id), (job) => {
        const { input, status } = job
        if (!job.isRunning || input === undefined || !input.isOpen) return new NoInput({ id, why: "none" })
        if (keys && input.start.terminal === undefined) return new NoInput({ id, why: "pipe" })
        if (!input.write(bytes)) return new NoInput({ id, why: "full" })
        if (end) input.end()
        return Effect.succeed(status)
      }),
    list: Effect.sync(() => table.list.map(({ status }) => status)),
    status: (id) => Effect.map(find(id), ({ status }) => status),
    output: (id, { all = false, raw = false, stream } = {}) =>
      Effect.map(find(id), (job) => {
        const from = stream === undefined ? streams : [stream]
        const text = raw ? job.log.text(from, all) : textOf(job, from, all)
        job.log.markRead(from)
        return text
      }),
    // Streams are loaded by their first use.
    get changes() {
      return Stream.fromPubSub(changes)
    },
    takeNews: () => table.takeNews()
  })
})

/**
 * A layer of the jobs of a session.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Jobs, never, SessionJobs> = Layer.effect(Jobs, Effect.flatMap(SessionJobs, make))
