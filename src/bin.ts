/** The program `synapse`: runs the command line, and decides how the process ends. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as AppSandbox from "./AppSandbox.js"
import type { App, MakeApp } from "./cli/Invocation.js"
import * as Program from "./cli/Program.js"
import * as Attempt from "./domain/Attempt.js"
import * as ExitCode from "./domain/ExitCode.js"
import * as Timeout from "./domain/Timeout.js"
import * as Version from "./domain/Version.js"
import type { Options } from "./Synapse.js"

/**
 * The signals that end the program; it ends its commands first. SIGUSR1 is listed because node would otherwise open a
 * debugger port.
 *
 * Signals for node's own faults are left out because no code can run after them. SIGPROF is left out because node's
 * profiler uses it. The shell's supervisor and the next start clean up after those signals and SIGKILL.
 */
const signals = [
  ...(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM"] as const),
  ...(["SIGABRT", "SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT"] as const)
]

type Given = Parameters<MakeApp>

const optionsOf = ([, sandbox, permission]: Given): Pick<Options, "permission" | "sandbox"> =>
  permission === undefined ? { sandbox } : { sandbox, permission }

const synapse = Effect.promise(() => import("./Synapse.js"))

const app: Context.Tag.Service<App> = {
  layer: (...given) => Layer.unwrapEffect(Effect.map(synapse, ({ layer }) => layer(given[0], optionsOf(given)))),
  reading: (...given) =>
    Layer.unwrapEffect(Effect.map(synapse, ({ layerReading }) => layerReading(given[0], optionsOf(given)))),
  shell: (...given) => AppSandbox.layerShell(given[0], optionsOf(given))
}

const program = Effect.suspend(() => Program.main(process.argv.slice(2), app))

/** Writes lines to stderr synchronously, and ignores errors. */
const say = (...lines: ReadonlyArray<string>): void => {
  // An error thrown here would be reported here again, endlessly.
  Attempt.ignore(() => Fs.writeSync(2, `${lines.join("\n")}\n`))
}

const reportDefect = (cause: Cause.Cause<never>): void => {
  say(
    `synapse: internal error: ${Cause.pretty(cause)}`,
    `synapse ${Version.current}, node ${process.version}, ${process.platform} ${process.arch}`,
    "This is a bug in synapse. Please report it, with these lines and the command that led here, where you got synapse from."
  )
}

/** Exits once all output is written. After a signal, it waits at most a second. */
const leave = (code: number, stopped: boolean): void => {
  const exit = () => process.exit(code)
  // Accessing process.stdout creates it, which takes 1 to 2 ms, and most runs have nothing left to write.
  if (!process.getActiveResourcesInfo().some((name) => name.endsWith("WriteWrap"))) return exit()
  if (stopped) setTimeout(exit, 1000)
  process.stdout.write("", () => process.stderr.write("", exit))
}

/**
 * Runs the program. It does not use `NodeRuntime.runMain`, which treats SIGINT and SIGTERM alike, ignores a second
 * signal and a closed terminal, and cuts off unwritten output.
 */
const main = (): void => {
  // Waiting fibers do not keep node running.
  const keepAlive = setInterval(() => {}, Timeout.longest)
  // Libraries print there what servers said, which is untrusted text.
  console.warn = () => {}
  const fiber = Effect.runFork(program)
  let stoppedWith: number | undefined
  let isOver = false

  const stop = (code: number): void => {
    stoppedWith ??= code
    fiber.unsafeInterruptAsFork(fiber.id())
  }
  for (const name of signals) {
    const number: number | undefined = Os.constants.signals[name]
    if (number === undefined) continue
    const code = 128 + number
    process.on(name, () => {
      if (stoppedWith === undefined && !isOver) stop(code)
      else process.exit(stoppedWith ?? code)
    })
  }

  process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
    // Nobody reads the output any more: end quietly, as programs in a pipe do. Each further write reports this error
    // again.
    if (error.code === "EPIPE") return stop(ExitCode.brokenPipe)
    const isOutputError = error.syscall === "write"
    if (stoppedWith === undefined || !isOutputError) {
      if (isOutputError) say(`synapse: the output can't be written: ${error.message.replace(/, write$/, "")}`)
      else reportDefect(Cause.die(error))
    }
    stop(ExitCode.failure)
  })

  fiber.addObserver((exit) => {
    clearInterval(keepAlive)
    isOver = true
    if (Exit.isSuccess(exit)) return leave(stoppedWith ?? exit.value, stoppedWith !== undefined)
    if (Cause.isInterruptedOnly(exit.cause)) return leave(stoppedWith ?? ExitCode.interrupted, true)
    reportDefect(exit.cause)
    leave(ExitCode.failure, false)
  })
}

main()
