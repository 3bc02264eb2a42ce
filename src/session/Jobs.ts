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
import type { JobStatus } from "../domain/JobStatus.js"
import type { StreamName } from "../domain/KeptOutput.js"
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
    return this.known.length === 0
      ? `there is no job ${this.id}, and no other one`
      : `there is no job ${this.id}; there are ${this.known.join(", ")}`
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
  readonly why: "ended" | "found" | "port" | "idle"
  readonly found?: string
}

/**
 * The details of a job.
 *
 * @since 0.1.0
 * @category models
 */
export interface JobDetails extends JobStatus {
  readonly processes: number
  readonly ports: ReadonlyArray<number>
}

/** Milliseconds between two looks at a job that is waited for; for its ports, which take some to read. */
const waitEvery = 20
const portEvery = 100

/** Milliseconds that a job has to end by itself, and after which it is left alone: what another user owns can't be ended. */
const farewell = 2000
const giveUp = 2 * farewell

/** Milliseconds in which a shell tells the exit code of a job that has ended. */
const patience = 200

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

  const portsOf = (job: Job): ReadonlyArray<number> =>
    Listeners.portsOf(Listeners.heldBy(job.find().map(({ pid }) => pid)))

  /** Returns the condition that has come true. Output is searched only where some has come since the last look. */
  const conditionOf = (
    job: Job,
    { find: search, idle, port }: WaitOptions,
    searched: Map<Job, number>
  ): Omit<Waited, "job"> | undefined => {
    const { heardAt } = job.log
    if (search !== undefined && searched.get(job) !== heardAt) {
      searched.set(job, heardAt)
      const found = search(job.log.text(streams, true))
      if (found !== undefined) return { why: "found", found }
    }
    if (port !== undefined && portsOf(job).includes(port)) return { why: "port" }
    return idle !== undefined && performance.now() - job.log.heardAt >= idle ? { why: "idle" } : undefined
  }

  const waitFor = (jobs: ReadonlyArray<Job>, options: WaitOptions): Effect.Effect<Waited> =>
    Effect.gen(function* () {
      const searched = new Map<Job, number>()
      for (;;) {
        let left = jobs.length
        for (const job of jobs) {
          // What it has printed before its end counts too.
          const met = conditionOf(job, options, searched)
          const isOver = yield* settle(job)
          if (met !== undefined && (met.why === "found" || !isOver)) return { job: job.status, ...met }
          if (!isOver) continue
          table.seen(job)
          left--
          if (left === 0 || options.any === true) return { job: job.status, why: "ended" }
        }
        yield* options.port === undefined ? pause : Effect.sleep(portEvery)
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
        const { length } = job.isRunning ? job.find() : []
        return { ...job.status, processes: length, ports: job.isRunning ? portsOf(job) : [] }
      }),
    list: Effect.sync(() => table.list.map(({ status }) => status)),
    status: (id) => Effect.map(find(id), ({ status }) => status),
    output: (id, { all = false, stream } = {}) =>
      Effect.map(find(id), ({ log }) => {
        const from = stream === undefined ? streams : [stream]
        const text = log.text(from, all)
        log.markRead(from)
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
