/** Runs a person's command line through the toolset, like a model's, on the session's terminal. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as Advice from "../../domain/Advice.js"
import * as CallContext from "../../domain/CallContext.js"
import type * as CommandListener from "../../domain/CommandListener.js"
import * as Diagnostic from "../../domain/Diagnostic.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Timeout from "../../domain/Timeout.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as Columns from "../../terminal/Columns.js"
import { SafeOutput } from "../../terminal/SafeOutput.js"
import { Toolset } from "../../toolset/Toolset.js"
import * as PersonWords from "./PersonWords.js"
import { type Services, ShellApp } from "./ShellApp.js"

const id = "shell"

/** Runs a command line. Returns its exit code, which is also the next command's `$?`. */
export const run = (text: string): Effect.Effect<number, never, Services> =>
  Effect.gen(function* () {
    const app = yield* ShellApp
    const { interruption, renderer, screen, tasks, terminal } = app
    const toolset = yield* Toolset
    const sandbox = yield* SandboxManager
    const runtime = yield* Effect.runtime<never>()
    const output = new SafeOutput(terminal.isLive)
    let hint: string | undefined
    let isOver = false
    // Live lines of background tasks would be drawn over the command's output.
    const alone = yield* Effect.fork(app.whole(Effect.never))
    const listener: CommandListener.CommandListener = {
      takesAll: true,
      audience: Advice.person,
      onHint: (text) => {
        hint = text
      },
      // Only output that no shell has written. The shell's output is already on the terminal.
      onOutput: (stream, chunk) => terminal.write(output.take(stream, chunk)),
      onSubAgent: (event) => {
        // A sub-agent in the background continues after the command.
        if (!isOver) screen.share()
        Runtime.runFork(runtime)(Effect.zipRight(Fiber.interrupt(alone), tasks.take(event)))
      }
    }
    const timeout = app.timeout ?? Timeout.longest
    const call = { id, name: "Bash", arguments: JSON.stringify({ command: text, timeout }) }
    const handled = CallContext.locally(toolset.handle(call), { listener, terminal: "command" })
    const [result, interrupted] = yield* interruption.during(
      screen.use(handled, interruption.press),
      toolset.cancel(id)
    )
    isOver = true
    yield* Fiber.interrupt(alone)
    const isInterrupted = interrupted !== undefined
    const { error, exitCode = ExitCode.failure } = result.extras
    // A person who pressed Ctrl-C knows how the command ended.
    const told = PersonWords.told(result, hint === undefined ? [] : [hint], Diagnostic.shell, isInterrupted)
    yield* renderer.suspended(
      Effect.gen(function* () {
        yield* Effect.promise(async () => terminal.write(output.end() + screen.endOfLine(told.length > 0)))
        if (interrupted === "key") yield* Effect.promise(async () => terminal.write("^C\r\n"))
        for (const each of told) yield* notice(app, each)
      })
    )
    // A command that did not run has set no status in the shell.
    if (error !== undefined || isInterrupted) yield* sandbox.setStatus(exitCode)
    return exitCode
  })

/** Prints a message of the program. It may hold names from untrusted sources. */
const notice = ({ terminal }: ShellApp["Type"], text: string) =>
  Effect.promise(async () => {
    const shown = new SafeOutput(false)
    const line = `${shown.take("stderr", Buffer.from(`synapse: ${text}`))}${shown.end()}`
    await terminal.write(Columns.wrap(line, terminal.size().columns))
  })
