/**
 * Runs a command line of a person through the toolset, as a model's would be, and shows its output as it comes.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as CommandListener from "../../domain/CommandListener.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as Timeout from "../../domain/Timeout.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as WordWrap from "../../terminal/WordWrap.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"
import { Toolset } from "../../toolset/Toolset.js"
import * as Interruption from "./Interruption.js"
import * as PersonWords from "./PersonWords.js"
import * as PseudoTerminal from "./PseudoTerminal.js"
import { SafeOutput } from "./SafeOutput.js"
import * as ShellHouse from "./ShellHouse.js"

const id = "shell"

/** Tests whether the command itself said nothing of its failure. */
const isOurs = ({ extras }: ToolReturn): boolean => extras.error !== undefined || extras.blocked === true

/**
 * Runs a command line. Returns its exit code, which is also `$?` of the next one.
 *
 * @since 0.1.0
 */
export const run = (
  text: string,
  house: ShellHouse.ShellHouse,
  interruption: Interruption.Interruption
): Effect.Effect<number> =>
  Effect.gen(function* () {
    const { renderer, tasks, terminal } = house
    const toolset = yield* ShellHouse.service(house, Toolset)
    const sandbox = yield* ShellHouse.service(house, SandboxManager)
    const runtime = yield* Effect.runtime<never>()
    const output = new SafeOutput(terminal.isLive)
    /** True once a sub-agent is shown live, be it another line's, so that output goes above it, by whole lines. */
    let isLive = tasks.isAny
    let line = ""
    let hint: string | undefined
    const above = (text: string): void | Promise<void> => {
      const end = text.lastIndexOf("\n") + 1
      const whole = line + text.slice(0, end)
      line = end === 0 ? line + text : text.slice(end)
      if (end > 0) return Runtime.runPromise(runtime)(renderer.print(whole.slice(0, -1)))
    }
    /** Both streams may be written at the same time. */
    let written: Promise<void> = Promise.resolve()
    const show = (text: string): Promise<void> | undefined => {
      if (text !== "") written = written.then(() => (isLive ? above(text) : terminal.write(text)))
      return text === "" ? undefined : written
    }
    const listener: CommandListener.CommandListener = {
      takesAll: true,
      audience: PersonWords.audience,
      onHint: (text) => {
        hint = text
      },
      onOutput: (stream, chunk) => show(output.take(stream, chunk)),
      onSubAgent: (event) => {
        isLive = true
        Runtime.runFork(runtime)(tasks.take(event))
      }
    }
    const timeout = house.timeout ?? Timeout.longest
    const call = { id, name: "Bash", arguments: JSON.stringify({ command: text, timeout }) }
    const [result, interrupted] = yield* interruption.during(
      Effect.locally(toolset.handle(call), CommandListener.current, listener),
      toolset.cancel(id),
      () => void show(`^Z\n${Interruption.unstopped}\n`)
    )
    const isInterrupted = interrupted !== undefined
    const { error, exitCode = ExitCode.failure, notices = [] } = result.extras
    const isTold = !isOurs(result) || isInterrupted || PersonWords.answersOf(result).length > 0
    const help = hint ?? house.terminalHint.of(text, result)
    const told = [
      ...(isTold ? [] : [PersonWords.reasonOf(result, "/allow", house.directory)]),
      ...(help === undefined || isInterrupted ? [] : [help]),
      ...notices
    ]
    yield* Effect.promise(() => written)
    // Live lines of what runs in the background would be drawn over it.
    yield* renderer.suspended(
      Effect.gen(function* () {
        yield* Effect.promise(async () => terminal.write(line + output.end()))
        if (interrupted === "key")
          yield* Effect.promise(async () => terminal.write(`${Interruption.mark(terminal.isLive)}\n`))
        for (const each of told) yield* notice(house, PersonWords.answer(each))
      })
    )
    // What did not run has set no status in the shell.
    if (error !== undefined || isInterrupted) yield* sandbox.setStatus(exitCode)
    return exitCode
  })

/** Prints a text of the program's own, which may hold names that others gave. */
const notice = ({ terminal }: ShellHouse.ShellHouse, text: string) =>
  Effect.promise(async () => {
    const shown = new SafeOutput(false)
    const line = `${shown.take("stderr", Buffer.from(`synapse: ${text}`))}${shown.end()}`
    await terminal.write(WordWrap.wrap(line, terminal.size().columns))
  })

/**
 * Runs a command line in a pseudo-terminal of the sandbox. Returns its exit code, which is also `$?` of the next one.
 *
 * @since 0.1.0
 */
export const inTerminal = (text: string, house: ShellHouse.ShellHouse): Effect.Effect<number> =>
  Effect.gen(function* () {
    const sandbox = yield* ShellHouse.service(house, SandboxManager)
    const backend = yield* sandbox.getSandbox(house.directory)
    const { exitCode } = yield* house.renderer.suspended(
      PseudoTerminal.run(text, backend, house.terminal, house.keyboard)
    )
    return exitCode
  }).pipe(Effect.catchAll((error) => Effect.as(notice(house, error.message), error.exitCode)))
