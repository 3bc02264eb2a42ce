/** Keeps the jobs of a session: checks whether each still runs, and records its output. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { JobStatus } from "../domain/JobStatus.js"
import type { StreamName } from "../domain/KeptOutput.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as Newlines from "../files/Newlines.js"
import { JobInput, type Start } from "./JobInput.js"
import * as ProcessTable from "./ProcessTable.js"

/** The most bytes of a job's log. Older ones are dropped. */
const longestLog = 1024 ** 2

/** Memory overhead per part of a log, in bytes. */
const overhead = 128

/** A shorter part is merged with the next one of its stream. */
const shortPart = 4096

const newline = 0x0a

/** If the log's first line is cut and its rest is at most this long, in bytes, the rest is dropped too. */
const longestHalf = 4096

interface Part {
  readonly stream: StreamName
  bytes: Buffer
  /** The number of bytes logged before this part. */
  readonly start: number
}

export const streams: ReadonlyArray<StreamName> = ["stdout", "stderr"]

/** The recorded output of a job, and how far it was read. */
export class JobLog {
  private parts: Array<Part> = []
  private size = 0
  private total = 0
  /** The number of bytes that its call's result shows. */
  private shown = 0
  private readonly read = { stdout: 0, stderr: 0 }
  /** When the last output came, by `performance.now()`. */
  heardAt = performance.now()

  /** Appends a copy of the chunk. */
  push(stream: StreamName, chunk: Buffer): void {
    this.heardAt = performance.now()
    const part = this.parts.at(-1)
    if (part?.stream === stream && part.bytes.length < shortPart) part.bytes = Buffer.concat([part.bytes, chunk])
    else {
      this.parts.push({ stream, bytes: Buffer.from(chunk), start: this.total })
      this.size += overhead
    }
    this.size += chunk.length
    this.total += chunk.length
    while (this.size > longestLog && this.parts.length > 1) {
      this.size -= (this.parts.shift()?.bytes.length ?? 0) + overhead
    }
  }

  /** Returns the streams' unread output, or with `all` everything. A first line says how many bytes were dropped. */
  text(from: ReadonlyArray<StreamName>, all: boolean): string {
    const since = all ? 0 : Math.min(...from.map((stream) => this.read[stream]))
    const dropped = (this.parts[0]?.start ?? 0) - since
    const parts = this.parts.flatMap((part) => {
      const unread = all ? 0 : Math.max(0, this.read[part.stream] - part.start)
      return from.includes(part.stream) && unread < part.bytes.length ? part.bytes.subarray(unread) : []
    })
    const bytes = Buffer.concat(parts)
    if (dropped <= 0) return bytes.toString()
    // Start at a whole line if one begins soon.
    const end = bytes.indexOf(newline)
    const half = end < longestHalf ? end + 1 : 0
    return `[… ${dropped + half} bytes dropped …]\n${bytes.toString("utf8", half)}`
  }

  /** Records the output in its call's result, which counts as read. */
  show(printed: Readonly<Record<StreamName, string>>): void {
    for (const stream of streams) if (printed[stream] !== "") this.push(stream, Buffer.from(printed[stream]))
    this.shown = this.total
    this.markRead(streams)
  }

  markRead(of: ReadonlyArray<StreamName>): void {
    for (const stream of of) this.read[stream] = this.total
  }

  /** True if the last line has no newline yet. */
  get isInLine(): boolean {
    return (this.parts.at(-1)?.bytes.at(-1) ?? newline) !== newline
  }

  /** The number of unread lines, and the last line after its call's result. */
  get rest(): { readonly unread: number; readonly last: string } {
    let unread = 0
    for (const { bytes, start, stream } of this.parts) {
      const rest = bytes.subarray(Math.max(0, this.read[stream] - start))
      unread += Newlines.lines(rest)
    }
    const part = this.parts.at(-1)
    const own = part?.bytes.subarray(Math.max(0, this.shown - part.start)).toString() ?? ""
    const end = UntrustedText.withoutSequences(own.slice(-4000))
    const lines = end.trimEnd().slice(-2000).split("\n")
    return { unread, last: UntrustedText.line(lines.at(-1) ?? "", 120) }
  }
}

/** The processes that a command has left running. */
export interface Leftover {
  readonly text: string
  /** The output in the command's own result, which counts as read. */
  readonly printed: Readonly<Record<StreamName, string>>
  /** The shell's child whose exit code becomes the job's, by its pid within the shell's namespace. */
  readonly child: number | undefined
  readonly find: () => ReadonlyArray<ProcessTable.Process>
  /** Reads their output, and calls `ended` when no more can come. Undefined if none of them holds an output pipe. */
  readonly hear: ((take: (stream: StreamName, chunk: Buffer) => void, ended: () => void) => void) | undefined
}

export class Job {
  readonly log = new JobLog()
  readonly since = Date.now()
  private until: number | undefined
  state: JobStatus["state"] = "running"
  exitCode: number | undefined
  /** The child whose exit code becomes the job's; undefined once the code is known or can't be known. */
  child: number | undefined
  private known: ReadonlyArray<ProcessTable.Process> = []
  private isHeard: boolean
  private isAsked = false

  constructor(
    readonly id: number,
    readonly name: string,
    readonly left: Leftover,
    readonly input: JobInput | undefined,
    private readonly tell: (job: Job) => void
  ) {
    this.child = left.child
    this.log.show(left.printed)
    this.isHeard = left.hear !== undefined
    left.hear?.(
      (stream, chunk) => this.log.push(stream, chunk),
      () => {
        this.isHeard = false
        this.look()
      }
    )
    this.find()
  }

  get isRunning(): boolean {
    return this.state === "running" || this.state === "ending"
  }

  find(): ReadonlyArray<ProcessTable.Process> {
    this.known = this.left.find()
    return this.known
  }

  /** Marks the job as ended if none of its processes runs. Its end is announced when its exit code is settled. */
  look(): void {
    if (this.state !== "running" || this.isHeard) return
    if (this.known.some(({ pid, started }) => ProcessTable.stat(pid)?.started === started)) return
    if (this.find().length > 0) return
    this.state = "ending"
    this.until = Date.now()
    if (this.child === undefined) this.settle()
  }

  /** Returns the child whose exit code alone is missing for the end. Returns it once, since the answer may be empty. */
  takeUntold(): number | undefined {
    if (this.isAsked || this.state !== "ending") return undefined
    this.isAsked = true
    return this.child
  }

  /** Takes the exit code; undefined if the shell does not know it or is gone. */
  learn(code: number | undefined): void {
    this.exitCode = code
    this.child = undefined
    if (this.state === "ending") this.settle()
  }

  /** Counts the job as ended once no process is left, even if another process still holds its output. */
  release(): void {
    this.isHeard = false
    this.look()
  }

  /** Marks the job as lost because it was ended together with its shell. */
  lose(): void {
    if (!this.isRunning) return
    this.child = undefined
    this.end("lost")
  }

  private settle(): void {
    this.end(this.exitCode === undefined ? "ended" : "exited")
  }

  private end(state: JobStatus["state"]): void {
    this.state = state
    this.until ??= Date.now()
    this.input?.close()
    this.tell(this)
  }

  get status(): JobStatus {
    const { exitCode, id, input, log, name, since, state, until } = this
    const code = exitCode === undefined || this.isRunning ? {} : { exitCode }
    const open = input?.isOpen ? ({ input: input.start.terminal === undefined ? "pipe" : "terminal" } as const) : {}
    return { id, name, state, ...code, since, until, ...log.rest, ...open }
  }
}

/** Milliseconds between two checks of the running jobs. */
const lookEvery = 100

/** The most ended jobs that are remembered, and the most jobs that wait to be reported. */
const mostEnded = 64
const mostNews = 4096

const longestName = 60

/** The most job inputs that wait for their job. */
const mostStarting = 8

/** All jobs of a session, as the session sees them. */
export class JobTable {
  private readonly jobs = new Map<number, Job>()
  /** The states to report by id, also of jobs that are no longer remembered. */
  private readonly news = new Map<number, JobStatus>()
  private count = 0
  private timer: NodeJS.Timeout | undefined
  /** The inputs made by `job:start` whose jobs are not in the table yet. */
  private starting: ReadonlyArray<JobInput> = []
  private started = 0
  /** Makes an idle shell report exit codes. Returns false if the shell is busy. */
  ask: () => boolean = () => false

  /** Returns the directory that this process shares with the shell. */
  directory: () => string | undefined = () => undefined

  /** Called for each job that starts or ends. */
  onChange: (status: JobStatus) => void = () => {}

  /** Adds a job for the processes that a command has left. */
  adopt(left: Leftover): void {
    const input = this.takeInput(left)
    const line = input?.start.name ?? left.text.trim().replace(/^\{\n([\s\S]*)\n\} &$|\s*&$/, "$1")
    const name = UntrustedText.line(line, longestName).replaceAll('"', "'")
    const job = new Job(this.count + 1, name, left, input, this.tell)
    this.count++
    this.jobs.set(job.id, job)
    this.tell(job)
    this.timer ??= setInterval(this.look, lookEvery).unref()
  }

  /** Creates the standard input for a job that a command is about to start. Rejects with the system's error. */
  async open(start: Start): Promise<JobInput> {
    const input = await JobInput.make(this.directory() ?? "", `job-${++this.started}`, start)
    for (const old of this.starting.slice(0, 1 - mostStarting)) old.close()
    this.starting = [...this.starting.slice(1 - mostStarting), input]
    return input
  }

  /** True while a command runs that has called `job:start`. */
  get isStarting(): boolean {
    return this.starting.length > 0
  }

  /**
   * Returns the input of the processes that a command has left. If none of them holds one, the job may have ended
   * already, and the last input counts.
   */
  private takeInput(left: Leftover): JobInput | undefined {
    if (!this.isStarting) return undefined
    const pids = left.find().map(({ pid }) => pid)
    const input = this.starting.findLast((one) => pids.some((pid) => one.isOf(pid))) ?? this.starting.at(-1)
    this.starting = this.starting.filter((other) => other !== input)
    return input
  }

  /** Closes the inputs that no job has taken by the end of their command. */
  endStart(): void {
    for (const input of this.starting) input.close()
    this.starting = []
  }

  get running(): number {
    let running = 0
    for (const job of this.jobs.values()) if (job.isRunning) running++
    return running
  }

  get list(): ReadonlyArray<Job> {
    return [...this.jobs.values()]
  }

  get(id: number): Job | undefined {
    return this.jobs.get(id)
  }

  /** The shell's children whose exit codes are still unknown. */
  get children(): ReadonlyArray<number> {
    return this.jobs.size === 0 ? [] : this.list.flatMap(({ child }) => child ?? [])
  }

  /** Returns the children whose exit codes these jobs still need to end. Each is returned once. */
  takeUntold(ids: ReadonlyArray<number>): ReadonlyArray<number> {
    return ids.flatMap((id) => this.jobs.get(id)?.takeUntold() ?? [])
  }

  /** Takes exit codes that the shell has reported. */
  learn(codes: ReadonlyMap<number, number | undefined>): void {
    for (const job of this.list) if (job.child !== undefined && codes.has(job.child)) job.learn(codes.get(job.child))
  }

  /** Gives up the exit codes of the shell's children, because the shell has ended. */
  forget(): void {
    for (const job of this.list) if (job.child !== undefined) job.learn(undefined)
  }

  /** Marks all jobs as lost because they were ended together with their shell. */
  lose(): void {
    for (const job of this.list) job.lose()
  }

  /** Returns the jobs that have started or ended since the last call. */
  readonly takeNews = (): ReadonlyArray<JobStatus> => {
    if (this.jobs.size === 0) return []
    this.look()
    // A job whose exit code is still awaited counts as running, so that its end is reported with the code.
    const taken = [...this.news].map(([id, told]) => {
      const status = this.get(id)?.status ?? told
      return status.state === "ending" ? { ...status, state: "running" as const, until: undefined } : status
    })
    this.news.clear()
    return taken
  }

  /** Drops the news of a job's end, because the caller has just seen it. */
  seen(job: Job): void {
    if (!job.isRunning) this.news.delete(job.id)
  }

  private readonly tell = (job: Job): void => {
    const { status } = job
    this.news.set(job.id, status)
    this.onChange(status)
    const ended = this.list.filter((one) => !one.isRunning)
    for (const { id } of ended.slice(0, -mostEnded)) this.jobs.delete(id)
    for (const id of [...this.news.keys()].slice(0, -mostNews)) this.news.delete(id)
  }

  private readonly look = (): void => {
    let isAny = false
    for (const job of this.list) {
      job.look()
      isAny ||= job.isRunning
    }
    if (this.list.some((job) => job.state === "ending")) this.ask()
    if (isAny) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

/** The job table within the session. Other rooms use the service `Jobs`. */
export class SessionJobs extends Context.Tag("synapse/SessionJobs")<SessionJobs, JobTable>() {}

export const layer: Layer.Layer<SessionJobs> = Layer.sync(SessionJobs, () => new JobTable())

/** The provided job table, or a new one. */
export const provided: Effect.Effect<JobTable> = Effect.map(
  Effect.serviceOption(SessionJobs),
  Option.getOrElse(() => new JobTable())
)
