/**
 * The jobs of a session: processes that still run when their command's call has ended, and their output.
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
import * as Protocol from "./internal/Protocol.js"
import type { Start } from "./JobInput.js"
import { type Job, type JobTable, SessionJobs, streams } from "./JobTable.js"
import * as Listeners from "./Listeners.js"
import * as ProcessTable from "./ProcessTable.js"

/**
 * The error for a job id that does not exist.
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
    const { length } = known
    const others =
      length === 0 ? "There are no jobs" : `The ${length === 1 ? "only job is" : "jobs are"} ${known.join(", ")}`
    // A model guesses this id for a job that the same line has started.
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
  /**
   * `none`: its input is missing or closed. `full`: it does not read its input. `pipe`: it has no terminal for keys.
   */
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
 * Selects a part of a job's output; by default, everything new since the last read.
 *
 * @since 0.1.0
 * @category models
 */
export interface OutputOptions {
  readonly all?: boolean
  /** The stream to read; both if undefined. */
  readonly stream?: StreamName | undefined
  /** True to keep escape sequences (cursor, colours) in the output of a job with a terminal. */
  readonly raw?: boolean
}

/**
 * Conditions that end a wait for jobs early. Without any, the wait lasts until the jobs end.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  /** True to wait for the first job that ends, not for all of them. */
  readonly any?: boolean
  /** Searches all output of a job, and returns the match. */
  readonly find?: ((text: string) => string | undefined) | undefined
  /** A port that a job must listen on. */
  readonly port?: number | undefined
  /** Milliseconds during which a job must print nothing. */
  readonly idle?: number | undefined
}

/**
 * The job that ended a wait, and the condition that was met. `found` is the match of `find`.
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
 * The details of a job. It is `waiting for input` if one of its processes sleeps in a read of its input, or waits after
 * an unfinished line on its terminal.
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

/** Milliseconds between two checks of a job that is waited for. Checking its ports takes longer. */
const waitEvery = 20
const portEvery = 100

/** Milliseconds until a stopped job is killed, and until it is left alone: another user's process can't be killed. */
const farewell = 2000
const giveUp = 2 * farewell

/** Milliseconds without output after which an unfinished line on a terminal counts as a question. */
const silence = 200

/** Milliseconds without output after which a wait ends for a job that waits for input. */
const longSilence = 5000

/** Milliseconds that an idle shell has to tell the exit code of a job that has ended. */
const patience = 200

/**
 * Bytes for a job's input.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sent {
  readonly bytes: Uint8Array
  /** True if only a terminal can take them. */
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
    /** Lists the running jobs, and the last ones that have ended. */
    readonly list: Effect.Effect<ReadonlyArray<JobStatus>>
    readonly status: (id: number) => Effect.Effect<JobStatus, NoSuchJob>
    /** Returns a job's output and marks it as read. */
    readonly output: (id: number, options?: OutputOptions) => Effect.Effect<string, NoSuchJob>
    /** Waits without limit until all jobs have ended or one meets a condition. Returns the job that ended the wait. */
    readonly wait: (ids: ReadonlyArray<number>, options?: WaitOptions) => Effect.Effect<Waited, NoSuchJob>
    /** Creates the standard input for a job that the next command starts. Returns the path of a FIFO. */
    readonly open: (start: Start) => Effect.Effect<string, ExecutionFailed>
    /** Writes bytes to a job's input or presses keys on its terminal; then closes the input if asked to. */
    readonly send: (id: number, sent: Sent) => Effect.Effect<JobStatus, NoSuchJob | NoInput>
    /** Ends all processes of a job: sends the signal, later SIGKILL. Returns the job's state afterwards. */
    readonly stop: (id: number, signal?: NodeJS.Signals) => Effect.Effect<JobStatus, NoSuchJob>
    /**
     * Returns bash text by which a shell that is busy with the caller tells the exit codes of ended jobs, in the
     * variable `__synapse_ended`. Undefined if none is missing. Asks once for each job.
     */
    readonly ask: (ids: ReadonlyArray<number>) => string | undefined
    /** Takes the exit codes that the shell has told. */
    readonly learn: (told: string) => void
    /** Returns a job's details, with its number of processes and the ports that they listen on. */
    readonly look: (id: number) => Effect.Effect<JobDetails, NoSuchJob>
    /** The state of each job that starts or ends. */
    readonly changes: Stream.Stream<JobStatus>
    /** Returns the jobs that have started or ended since the last call. Each end is reported once. */
    readonly takeNews: () => ReadonlyArray<JobStatus>
  }
>() {}

const make = Effect.fnUntraced(function* (table: JobTable) {
  const changes = yield* PubSub.sliding<JobStatus>(1024)
  table.onChange = (status) => void changes.unsafeOffer(status)
  const find = (id: number) =>
    Effect.suspend(() => {
      const job = table.get(id)
      return job === undefined ? new NoSuchJob({ id, known: table.list.map((one) => one.id) }) : Effect.succeed(job)
    })
  const pause = Effect.sleep(waitEvery)

  /** Tests whether a job has ended. Waits for its exit code unless the shell is busy, and reports it later. */
  const settle = (job: Job): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      job.look()
      if (job.state !== "ending") return Effect.succeed(!job.isRunning)
      if (!table.ask()) return Effect.succeed(true)
      const told = Effect.repeat(pause, { until: () => job.state !== "ending" })
      return Effect.as(Effect.timeoutOption(told, patience), true)
    })

  const pidsOf = (job: Job): ReadonlyArray<number> => job.find().map(({ pid }) => pid)

  const portsOf = (pids: ReadonlyArray<number>) => Listeners.portsOf(Listeners.heldBy(pids))

  const textOf = ({ input, log }: Job, from: ReadonlyArray<StreamName>, all: boolean): string => {
    const text = log.text(from, all)
    return input?.start.terminal === undefined ? text : UntrustedText.withoutSequences(text)
  }

  /** Returns the condition that a job meets. Searches its output only if some is new since the last search. */
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
    if (port !== undefined && portsOf(pidsOf(job)).includes(port)) return { why: "port" }
    return idle !== undefined && performance.now() - job.log.heardAt >= idle ? { why: "idle" } : undefined
  }

  const isWaiting = ({ input, log }: Job, pids: ReadonlyArray<number>): boolean => {
    const isAsking = performance.now() - log.heardAt > silence && log.isInLine
    return pids.some((pid) => {
      const waits = ProcessTable.waitOf(pid)
      if (waits !== "select") return waits === "terminal" || (waits === "input" && input?.isOf(pid) === true)
      return isAsking && ProcessTable.isOnTerminal(pid) && ProcessTable.isInForeground(pid)
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
          // Checked before the end, since output printed before it counts too.
          const met = conditionOf(job, options, searched)
          // A search pattern can be slow, so the other fibers get most of the time.
          const took = performance.now() - began
          if (took > waitEvery && met === undefined) yield* Effect.sleep(4 * took)
          const isOver = yield* settle(job)
          if (met !== undefined && (met.why === "found" || !isOver)) return { job: job.status, ...met }
          const silentFor = performance.now() - Math.max(looked.get(job) ?? begun, job.log.heardAt)
          if (!isOver && isForEnd && job.input?.isOpen === true && silentFor > longSilence) {
            looked.set(job, performance.now())
            // Only `job:send` can give it input, so waiting on would be in vain.
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
      // The program that makes a terminal ends with what runs there, and passes on its exit code.
      const terminal = job.input?.start.terminal === undefined ? undefined : job.input
      while (!(yield* settle(job)) && performance.now() - began < giveUp) {
        const isLate = performance.now() - began >= farewell
        const left = job.find()
        if (left.length === 0) job.release()
        for (const { pid } of left) {
          if (!isLate && (asked.has(pid) || terminal?.isOf(pid) === true)) continue
          asked.add(pid)
          ProcessTable.send(pid, isLate ? "SIGKILL" : signal)
          // A stopped process takes no other signal.
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
          ports: portsOf(pids)
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
    ask: (ids) => {
      const children = table.takeUntold(ids)
      return children.length === 0 ? undefined : Protocol.takeEnded(children)
    },
    learn: (told) => table.learn(Protocol.codesIn(told)),
    list: Effect.sync(() => table.list.map(({ status }) => status)),
    status: (id) => Effect.map(find(id), ({ status }) => status),
    output: (id, { all = false, raw = false, stream } = {}) =>
      Effect.map(find(id), (job) => {
        const from = stream === undefined ? streams : [stream]
        const text = raw ? job.log.text(from, all) : textOf(job, from, all)
        job.log.markRead(from)
        return text
      }),
    // A getter, so that the streams module is loaded at its first use only.
    get changes() {
      return Stream.fromPubSub(changes)
    },
    takeNews: table.takeNews
  })
})

/**
 * A layer of the jobs of a session.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Jobs, never, SessionJobs> = Layer.effect(Jobs, Effect.flatMap(SessionJobs, make))
