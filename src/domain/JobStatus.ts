/**
 * What is known of a job: whatever of a command still runs when its call has ended.
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
 * The state of a job. Its texts have one line, and no character that a terminal obeys.
 *
 * @since 0.1.0
 * @category models
 */
export interface JobStatus {
  /** The number by which `job:output`, `job:wait` and `job:stop` know it. */
  readonly id: number
  /** The line that started it, cut. */
  readonly name: string
  /** `exited`: the exit code is known. `ended`: it is not. `lost`: it was ended with its shell or its sandbox. */
  readonly state: "running" | "exited" | "ended" | "lost"
  readonly exitCode?: number
  /** When its call ended, in milliseconds since 1970. */
  readonly since: number
  /** The number of lines that it has printed and nobody has read. */
  readonly unread: number
  /** The last line that it has printed, cut; empty where there is none. */
  readonly last: string
  /** The input that `job:send` writes to: `pipe` for an open standard input. Undefined for a job that `job:send` can't write to. */
  readonly input?: "pipe" | "terminal"
}

/** Returns the name of the signal that an exit code of a shell may tell of. */
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
  if (exitCode === undefined) return state === "ended" ? "ended, exit code not known" : state
  const signal = signalOf(exitCode)
  return `exited ${exitCode}${signal === undefined ? "" : ` (${signal})`}`
}

/**
 * Words a job in a sentence: how to go on with it while it runs, then how it has ended.
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
 * Words a job in a line beside a command's output.
 *
 * @since 0.1.0
 * @category destructors
 */
export const line = (job: JobStatus): string => `[${sentence(job)}]`
