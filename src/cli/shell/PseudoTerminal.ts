/**
 * Runs a program that needs a terminal, in a pseudo-terminal within the sandbox: the person's keys go in as bytes, and
 * what the program writes comes out. The descriptor of the person's own terminal never reaches the sandbox, for who has
 * it can type into it.
 *
 * @since 0.1.0
 */
import { StringDecoder } from "node:string_decoder"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Quote from "../../bash/Quote.js"
import type { CommandError } from "../../domain/CommandError.js"
import * as CommandInput from "../../domain/CommandInput.js"
import * as CommandListener from "../../domain/CommandListener.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import * as Timeout from "../../domain/Timeout.js"
import type { SandboxBackend } from "../../sandbox/SandboxBackend.js"
import type { Keyboard } from "../../terminal/Keyboard.js"
import type { Terminal } from "../../terminal/Terminal.js"
import * as Resizing from "./Resizing.js"
import * as TerminalEnvironment from "./TerminalEnvironment.js"
import { TerminalModes } from "./TerminalModes.js"

/** Runs its words in a pseudo-terminal: `script` of util-linux, whose own input and output may be pipes. */
const inTerminal = (text: string, size: string): string => {
  const inner = [TerminalEnvironment.script(), Resizing.script(size), text].join("\n")
  return [
    "if ! type -P script >/dev/null; then",
    "  echo 'synapse: this needs the program script, of util-linux' >&2; (exit 127)",
    "else",
    `  SHELL=$BASH command script -qfec ${Quote.word(inner)} /dev/null`,
    "fi"
  ].join("\n")
}

/**
 * Runs a command line in a pseudo-terminal of the sandbox, and puts the terminal back when it has ended.
 *
 * @since 0.1.0
 */
export const run = (
  text: string,
  backend: SandboxBackend,
  terminal: Context.Tag.Service<Terminal>,
  keyboard: Context.Tag.Service<Keyboard>
): Effect.Effect<CommandResult, CommandError> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const ended = yield* Deferred.make<undefined>()
    const modes = new TerminalModes()
    const decoder = new StringDecoder("utf8")
    // A key that is pressed after the end is for the next entry.
    const pull = () => Runtime.runPromise(runtime)(Effect.raceFirst(keyboard.read, Deferred.await(ended)))
    const listener: CommandListener.CommandListener = {
      takesAll: true,
      onOutput: (_, chunk) => {
        modes.take(chunk)
        return terminal.write(decoder.write(Buffer.from(chunk)))
      }
    }
    const line = inTerminal(text, Resizing.words(terminal))
    return yield* backend.execute(line, { timeout: Timeout.longest }).pipe(
      keyboard.attended,
      Effect.locally(CommandInput.ofLine, pull),
      Effect.locally(CommandListener.current, listener),
      Effect.ensuring(
        Effect.promise(async () => {
          Deferred.unsafeDone(ended, Exit.succeed(undefined))
          await terminal.write(modes.reset())
        })
      )
    )
  })
