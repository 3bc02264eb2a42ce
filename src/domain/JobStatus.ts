/**
 * The state of a job. A job is what a command leaves running when its call ends.
 *
 * @since 0.1.0
 */
import * as Os from "node:os"

/**
 * The size of a terminal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Terminal {
  readonly columns: number
  readonly rows: number
}

/**
 * The state of a job. Its texts are single lines without control characters.
 *
 * @since 0.1.0
 * @category models
 */
export interface JobStatus {
  /** The number that `job:output`, `job:wait` and `job:stop` take. */
  readonly id: number
  /** The command line that started it, shortened. */
  readonly name: string
  /**
   * `exited`: with a known exit code. `ended`: with an unknown one. `ending`: with one that the busy shell tells once its
   * line has ended. `lost`: it was ended with its shell or its sandbox.
   */
  readonly state: "running" | "ending" | "exited" | "ended" | "lost"
  readonly exitCode?: number
  /** When the call that started it ended, in milliseconds since 1970. */
  readonly since: number
  /** When its last process ended, in milliseconds since 1970; undefined while the job runs. */
  readonly until?: number | undefined
  /** The number of printed lines that nobody has read. */
  readonly unread: number
  /** The last line that it has printed since that call ended, shortened, or an empty text. */
  readonly last: string
  /**
   * The input that `job:send` writes to: `pipe` is an open standard input. Undefined if `job:send` can't write to the
   * job.
   */
  readonly input?: "pipe" | "terminal"
}

const signalOf = (code: number): string | undefined =>
  Object.entries(Os.constants.signals).find(([, number]) => number === code - 128)?.[0]

/**
 * Words the state of a job: `running`, `exited 1`, `exited 137 (SIGKILL)`.
 *
 * @since 0.1.0
 * @category destructors
 */
export const stateOf = ({ exitCode, state }: Pick<JobStatus, "exitCode"> & { readonly state: string }): string => {
  if (state === "lost") return "ended with its shell"
  if (state === "ending") return "ended, exit code told with the result"
  if (exitCode === undefined) return state === "ended" ? "ended, exit code not known" : state
  const signal = signalOf(exitCode)
  return `exited ${exitCode}${signal === undefined ? "" : ` (${signal})`}`
}

/**
 * Words a job in a sentence: which commands work on it while it runs, or how it ended.
 *
 * @since 0.1.0
 * @category destructors
 */
export const sentence = (job: JobStatus): string => {
  const { id, input, last, name, state, unread } = job
  const named = `job ${id} "${name}"`
  if (state === "running") {
    const sending = [...(input === undefined ? [] : ["send"]), ...(input === "terminal" ? ["screen"] : [])]
    const ways = ["output", ...sending, "wait", "stop"].map((way) => `job:${way} ${id}`)
    return `${named} is running: ${ways.join(", ")}`
  }
  const lines = `${unread} unread line${unread === 1 ? "" : "s"}`
  const how = `${state === "lost" ? "was " : ""}${stateOf(job)}`
  return `${named} ${how}${unread === 0 ? "" : `, ${lines}; last: ${last}`}`
}

/**
 * Words a job in one line to stand beside a command's output.
 *
 * @since 0.1.0
 * @category destructors
 */
export const line = (job: JobStatus): string => `[${sentence(job)}]`
