/** `job:list`, `job:output`, `job:wait` and `job:stop`, for what commands left running. */
import * as Os from "node:os"
import * as Vm from "node:vm"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler, RunOptions } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import * as Attempt from "../../domain/Attempt.js"
import { type CommandError, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as JobStatus from "../../domain/JobStatus.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import { Jobs, type NoInput, type NoSuchJob, type Waited } from "../../session/Jobs.js"

const number = Parameter.filterMap(
  (text: string) => (/^%?\d{1,9}$/.test(text) ? Option.some(Number(text.replace("%", ""))) : Option.none()),
  "the number of a job is a whole number"
)
export const id = Parameter.operand("N").pipe(number)
const ids = Parameter.repeated(id)

type Service = typeof Jobs.Service
type Run<A> = (
  jobs: Service,
  params: A,
  call: Call,
  options: RunOptions
) => Effect.Effect<CommandResult.CommandResult, CommandError | NoSuchJob | NoInput>

/** Makes the handler of a job command. The error for an unknown job needs no usage below it. */
export const make = <A>(
  grammar: CommandGrammar.CommandGrammar<A>,
  run: Run<A>
): Effect.Effect<CommandHandler, never, Jobs> =>
  Effect.map(Jobs, (jobs) =>
    CommandGrammar.toHandler(grammar, (params, call, options) =>
      Effect.catchAll(run(jobs, params, call, options), (error) =>
        error._tag === "NoSuchJob" || error._tag === "NoInput"
          ? new InvalidUsage({ reason: `${grammar.name}: ${error.message}.` })
          : Effect.fail(error)
      )
    )
  )

/** The first word of a call by the shell's own function: the exit codes that the shell has told. */
const ended = "--ended="

/** A call by a function of the shell, which can be asked for exit codes. */
type Call = CommandCall & { readonly canBeAsked?: boolean }

/** Lets the shell's own function call a command, with the exit codes that the shell has told. */
const inShell = (made: Effect.Effect<CommandHandler, never, Jobs>): Effect.Effect<CommandHandler, never, Jobs> =>
  Effect.map(Effect.all([made, Jobs]), ([handler, jobs]) => ({
    ...handler,
    run: (call, options) => {
      const [first = "", ...args] = call.args
      if (!first.startsWith(ended)) return handler.run(call, options)
      jobs.learn(first.slice(ended.length))
      const own: Call = { ...call, args, canBeAsked: true }
      return handler.run(own, options)
    }
  }))

/** Returns the text with which the shell itself must tell exit codes first, if it can be asked for them. */
const questionOf = (jobs: Service, ids: ReadonlyArray<number>, call: Call): CommandResult.CommandResult | undefined => {
  const stdout = call.canBeAsked === true ? jobs.ask(ids) : undefined
  return stdout === undefined ? undefined : CommandResult.make({ stdout })
}

export const told = (lines: ReadonlyArray<string>, exitCode = 0) =>
  CommandResult.make({ stdout: lines.map((line) => `${line}\n`).join(""), exitCode })

export const named = ({ id, name }: Pick<JobStatus.JobStatus, "id" | "name">): string => `job ${id} "${name}"`

const listGrammar = CommandGrammar.described({
  name: "job:list",
  summary: "Lists the jobs: what still runs of earlier commands, and what has ended of it.",
  usage: "job:list [--json]",
  more: `
OPTIONS
  --json     One array: id, name, state (running, waiting for input, exited, ending: its exit code is told with the result,
             ended: its exit code is not known, lost: ended with its shell), exitCode, since, until (of one that has
             ended), unread, last, processes, ports.
`,
  config: { json: Parameter.flag("json") }
})

export const list = make(listGrammar, (jobs, { json }) =>
  Effect.flatMap(jobs.list, (all) =>
    Effect.map(
      Effect.forEach(all, ({ id }) => jobs.look(id)),
      (details) => {
        if (json) return told([UntrustedText.jsonLine(details)])
        if (details.length === 0) return told(["There are no jobs."])
        return told(
          details.map((job) => {
            const age = Math.round(((job.until ?? Date.now()) - job.since) / 1000)
            const facts = [
              JobStatus.stateOf(job),
              `${age} s`,
              ...(job.processes > 0 ? [`${job.processes} process${job.processes === 1 ? "" : "es"}`] : []),
              ...(job.ports.length > 0 ? [`listens on ${job.ports.join(", ")}`] : []),
              ...(job.unread > 0 ? [`${job.unread} unread line${job.unread === 1 ? "" : "s"}`] : [])
            ]
            return `${named(job)}: ${facts.join(", ")}`
          })
        )
      }
    )
  )
)

const outputGrammar = CommandGrammar.described({
  name: "job:output",
  summary: "Prints what a job has printed since the last look.",
  usage: "job:output <N> [--all | --tail L | --follow] [--stdout | --stderr]",
  more: `
OPTIONS
  --all      All that is kept: the last MiB. A line says how much was dropped before it.
  --tail L   The last L lines of that.
  --follow   What is new, and all that comes until the job ends, or the timeout of the call.
  --stdout   Of its standard output only.
  --stderr   Of its standard error only.

EXAMPLES
  job:output 3 | grep -i error
`,
  config: {
    id,
    all: Parameter.flag("all"),
    tail: Parameter.count("tail", 1).pipe(Parameter.optional),
    follow: Parameter.flag("follow"),
    stdout: Parameter.flag("stdout"),
    stderr: Parameter.flag("stderr")
  }
})

/** The interval between two reads of a job's output, in milliseconds. */
const followEvery = 50

export const output = make(outputGrammar, (jobs, { all, follow, id, stderr, stdout, tail }, call) => {
  const stream = stdout === stderr ? undefined : stdout ? "stdout" : "stderr"
  const lines = Option.getOrUndefined(tail)
  const read = jobs.output(id, { all: all || lines !== undefined, stream })
  const last = (text: string) =>
    lines === undefined
      ? text
      : text
          .replace(/\n$/, "")
          .split("\n")
          .slice(-lines)
          .join("\n")
          .concat(text === "" ? "" : "\n")
  const step: Effect.Effect<string, NoSuchJob> = Effect.gen(function* () {
    const { state } = yield* jobs.status(id)
    const text = yield* jobs.output(id, { stream })
    if (state !== "running") return text
    if (text !== "") yield* call.write(new TextEncoder().encode(text))
    yield* Effect.sleep(followEvery)
    return yield* step
  })
  return Effect.map(follow ? step : Effect.map(read, last), (stdout) => CommandResult.make({ stdout }))
})

/** The default of `--timeout`, in milliseconds. */
const longestWait = 120_000

const waitGrammar = CommandGrammar.described({
  name: "job:wait",
  summary: "Waits until a job ends, prints a line that matches, listens on a port, or is silent.",
  usage: "job:wait <N>... [--any] [--for REGEX] [--port P] [--idle MS] [--timeout MS]",
  more: `
OPTIONS
  --any          Of several jobs, until the first one ends. Without it, until all have ended.
  --for REGEX    Until one has printed a line that matches, now or before.
  --port P       Until one listens on this TCP port.
  --idle MS      Until one has printed nothing for so many milliseconds.
  --timeout MS   The longest wait; ${longestWait} by default. The job goes on then.

EXIT CODE
  That of the job, or of the first of several that failed; 1 where it is not known. 0 where a condition came true. 124 where
  the time was over, or the job has been waiting for job:send for five seconds.

EXAMPLES
  npm run dev &
  job:wait 1 --for 'Local:' --timeout 20000 && curl -s localhost:5173
`,
  config: {
    ids,
    any: Parameter.flag("any"),
    for: Parameter.option("for").pipe(Parameter.withPlaceholder("REGEX"), Parameter.optional),
    port: Parameter.count("port", 1).pipe(Parameter.optional),
    idle: Parameter.count("idle", 1).pipe(Parameter.optional),
    timeout: Parameter.count("timeout", 1).pipe(Parameter.optional)
  }
})

/** The time limit of one search in milliseconds, since a regular expression can run forever. */
const longestSearch = 100

const search = "(pattern.exec(text) ?? [])[0]"

/** Makes a search for the first matching line. Undefined for an invalid pattern. */
const searchFor = (pattern: string): ((text: string) => string | undefined) | undefined => {
  try {
    const context = Vm.createContext({ pattern: new RegExp(`^.*(?:${pattern}).*$`, "m"), text: "" })
    return (text) => {
      context["text"] = text
      return Attempt.orUndefined(() => Vm.runInContext(search, context, { timeout: longestSearch }))
    }
  } catch {
    return undefined
  }
}

const lastOf = ({ last }: Pick<JobStatus.JobStatus, "last">): string => (last === "" ? "" : `: ${last}`)

const reasonOf = ({ found, job, why }: Waited, port: number | undefined): string => {
  switch (why) {
    case "found":
      return `${named(job)} printed: ${UntrustedText.line(found ?? "", 200)}`
    case "port":
      return `${named(job)} listens on port ${port}`
    case "idle":
      return `${named(job)} is silent${job.unread > 0 ? `, ${job.unread} unread lines; last: ${job.last}` : ""}`
    case "input":
      return `${named(job)} is waiting for input${lastOf(job)}`
    case "ended":
      return JobStatus.sentence(job)
  }
}

export const wait = inShell(
  make(waitGrammar, (jobs, { any, for: pattern, idle, ids, port, timeout }, call, options) => {
    const [first] = ids
    if (first === undefined) return CommandGrammar.misuse(waitGrammar, "<N> is missing.")
    const find = Option.getOrUndefined(Option.map(pattern, searchFor))
    if (Option.isSome(pattern) && find === undefined) {
      return CommandGrammar.misuse(waitGrammar, `--for is no regular expression: ${UntrustedText.word(pattern.value)}.`)
    }
    const limit = Math.min(
      Option.getOrElse(timeout, () => longestWait),
      // Ends before the call itself times out.
      Math.max(1, (options.timeout ?? Number.POSITIVE_INFINITY) - 100)
    )
    const waiting = jobs.wait(ids, {
      any,
      find,
      port: Option.getOrUndefined(port),
      idle: Option.getOrUndefined(idle)
    })
    return Effect.gen(function* () {
      const waited = yield* Effect.timeoutOption(waiting, limit)
      if (Option.isNone(waited)) {
        const found = yield* Effect.forEach(ids, jobs.look)
        return told(
          found.map((job) =>
            job.state === "running" || job.state === "waiting for input"
              ? `${named(job)} still runs after ${limit} ms${job.state === "running" ? "" : `, and is ${job.state}${lastOf(job)}`}`
              : JobStatus.sentence({ ...job, state: job.state })
          ),
          ExitCode.timeout
        )
      }
      const question = questionOf(jobs, ids, call)
      if (question !== undefined) return question
      const states = yield* Effect.forEach(ids, jobs.status)
      if (waited.value.why !== "ended") {
        const code = waited.value.why === "input" ? ExitCode.timeout : ExitCode.success
        return told([reasonOf(waited.value, Option.getOrUndefined(port))], code)
      }
      const over = any ? [waited.value.job] : states
      const code = over.map(({ exitCode = ExitCode.failure }) => exitCode).find((one) => one !== 0) ?? 0
      return told(over.map(JobStatus.sentence), code)
    })
  })
)

const signals = Object.keys(Os.constants.signals)

const stopGrammar = CommandGrammar.described({
  name: "job:stop",
  summary: "Ends a job with all its processes.",
  usage: "job:stop <N>... [--signal S]",
  more: `
  They get SIGTERM, and SIGKILL where they still run two seconds later. How each has ended is printed, with its last lines.

OPTIONS
  --signal S   Another signal in place of SIGTERM: INT, HUP.

EXIT CODE
  0 where all have ended. 1 where one could not be ended, or there is no such job: then nothing is stopped.
`,
  config: {
    ids,
    signal: Parameter.option("signal").pipe(
      Parameter.filterMap((text) => {
        const name = `SIG${text.toUpperCase().replace(/^SIG/, "")}`
        return signals.includes(name) ? Option.some(name as NodeJS.Signals) : Option.none()
      }, "--signal must be the name of a signal"),
      Parameter.withDefault("SIGTERM" as NodeJS.Signals)
    )
  }
})

/** The most lines of output shown for a stopped job. */
const lastLines = 10

export const stop = inShell(
  make(stopGrammar, (jobs, { ids, signal }, call) => {
    if (ids.length === 0) return CommandGrammar.misuse(stopGrammar, "<N> is missing.")
    return Effect.gen(function* () {
      // Check all numbers first, so that a wrong one stops no job.
      yield* Effect.mapError(Effect.forEach(ids, jobs.status, { discard: true }), (error) =>
        ids.length === 1
          ? error
          : new InvalidUsage({ reason: `${stopGrammar.name}: ${error.message}. Nothing was stopped.` })
      )
      const states = yield* Effect.forEach(ids, (id) => jobs.stop(id, signal), { concurrency: "unbounded" })
      const question = questionOf(jobs, ids, call)
      if (question !== undefined) return question
      const lines: Array<string> = []
      for (const job of states) {
        lines.push(`${named(job)} ${job.state === "running" ? "could not be ended" : JobStatus.stateOf(job)}`)
        if (job.unread > 0) {
          const text = yield* jobs.output(job.id)
          lines.push(...text.replace(/\n$/, "").split("\n").slice(-lastLines))
        }
      }
      return told(lines, states.some(({ state }) => state === "running") ? ExitCode.failure : ExitCode.success)
    })
  })
)
