/**
 * `bash <command>`: models write it out of habit. The command runs in the current session, without the word `bash`;
 * what can only mean another bash (`bash -c …`, `bash script.sh`) is left to bash.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { CommandLine } from "../../bash/CommandLine.js"
import type { Word } from "../../bash/Token.js"
import type { LineHandler } from "../../command/CommandHandler.js"
import { InvalidUsage } from "../../domain/CommandError.js"
import * as CommandListener from "../../domain/CommandListener.js"
import * as CommandResult from "../../domain/CommandResult.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import { help } from "./Bash.help.js"

const usage = "bash <command>"

/**
 * Makes the handler of `bash`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<LineHandler, never, SandboxManager> = Effect.gen(function* () {
  const sandbox = yield* SandboxManager

  /** Tests whether bash would find a script of that name in the session's directory. */
  const isScript = (name: string) => Effect.flatMap(sandbox.cwd, (directory) => sandbox.isFile(`${directory}/${name}`))

  return {
    name: "bash",
    summary: "Runs a command in this session; the same as the command without the word bash.",
    usage,
    runLine: Effect.fnUntraced(function* (line, options) {
      const asked = helpFor(line)
      if (asked !== undefined) {
        const result = CommandResult.make({ stdout: asked })
        yield* CommandListener.tell(result)
        return result
      }
      const first = line.tail[0]
      if (first === undefined) {
        return yield* new InvalidUsage({
          reason: `Usage: ${usage}\nThe command is missing. Bash(command="bash --help") shows more.`
        })
      }
      const meansBash = first._tag !== "Word" || isForBash(line, first) || (yield* isScript(first.value))
      return yield* sandbox.execute(meansBash ? line.text : withoutPrefix(line), options)
    })
  }
})

/** Returns the help where the only argument asks for it; undefined otherwise. */
const helpFor = (line: CommandLine): string | undefined => {
  const [only, more] = line.tail
  if (only?._tag !== "Word" || more !== undefined) return undefined
  return only.value === "--help" ? help : only.value === "-h" ? `Usage: ${usage}\n` : undefined
}

const isForBash = (line: CommandLine, word: Word): boolean => {
  const written = line.text.slice(word.start, word.end)
  return /^[-+]/.test(word.value) || written.includes("/") || /\.(?:sh|bash)$/.test(word.value)
}

const withoutPrefix = (line: CommandLine): string => line.text.slice(0, line.command?.start).trimStart() + line.rest
