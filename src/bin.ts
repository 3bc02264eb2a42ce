/**
 * The program `synapse`: runs the command line, and decides how the process ends.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { MakeHouse } from "./cli/Invocation.js"
import * as ExitCode from "./domain/ExitCode.js"
import * as Timeout from "./domain/Timeout.js"
import * as Version from "./domain/Version.js"

/** 128 + SIGHUP: the terminal was closed. */
const hungUp = 129
/** 128 + SIGPIPE: nobody reads the output any more. */
const brokenPipe = 141

/** Loads Synapse when a subcommand needs it. */
const house: MakeHouse = (settings, sandbox) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./Synapse.js")),
      (Synapse) => Synapse.layer(settings, { sandbox })
    )
  )

const program = Effect.flatMap(
  Effect.promise(() => import("./cli/Program.js")),
  (cli) => cli.run(process.argv.slice(2), house)
)

/** Prints what a bug report needs. */
const reportDefect = (cause: Cause.Cause<never>): void => {
  process.stderr.write(
    [
      `synapse: internal error: ${Cause.pretty(cause)}`,
      `synapse ${Version.current}, node ${process.version}, ${process.platform} ${process.arch}`,
      "This is a bug in synapse. Please report it, with these lines and the command that led here, where you got synapse from.",
      ""
    ].join("\n")
  )
}

/** Exits when all output has been taken; after a signal, it waits no longer than a second. */
const leave = (code: number, stopped: boolean): void => {
  const exit = () => process.exit(code)
  // Accessing process.stdout creates it, which takes a millisecond or two: most runs have nothing left to write.
  if (!process.getActiveResourcesInfo().some((name) => name.endsWith("WriteWrap"))) return exit()
  if (stopped) setTimeout(exit, 1000)
  process.stdout.write("", () => process.stderr.write("", exit))
}

/**
 * Runs the program. It does not use `NodeRuntime.runMain`, which treats SIGINT and SIGTERM alike, ignores a second
 * signal and a closed terminal, and cuts off output that is not yet written.
 */
const main = (): void => {
  // Fibers that wait do not keep node running.
  const keepAlive = setInterval(() => {}, Timeout.longest)
  const fiber = Effect.runFork(program)
  let stoppedWith: number | undefined

  const stop = (code: number): void => {
    stoppedWith ??= code
    fiber.unsafeInterruptAsFork(fiber.id())
  }
  const onSignal = (code: number) => () => (stoppedWith === undefined ? stop(code) : process.exit(stoppedWith))
  process.on("SIGINT", onSignal(ExitCode.interrupted))
  process.on("SIGTERM", onSignal(ExitCode.terminated))
  process.on("SIGHUP", onSignal(hungUp))

  process.on("uncaughtException", (error) => {
    // Nobody reads our output any more: end quietly, as programs in a pipe do. Each further write reports it again.
    if ("code" in error && error.code === "EPIPE") return stop(brokenPipe)
    reportDefect(Cause.die(error))
    stop(ExitCode.failure)
  })

  fiber.addObserver((exit) => {
    clearInterval(keepAlive)
    if (Exit.isSuccess(exit)) return leave(stoppedWith ?? exit.value, stoppedWith !== undefined)
    if (Cause.isInterruptedOnly(exit.cause)) return leave(stoppedWith ?? ExitCode.interrupted, true)
    reportDefect(exit.cause)
    leave(ExitCode.failure, false)
  })
}

main()
