/**
 * `bash <command>`, which models write out of habit. If the command's name is written literally, it runs in the current
 * session without the word `bash`. Everything else (`bash -c …`, `bash script.sh`, `bash $script`) goes to bash.
 */
import * as Effect from "effect/Effect"
import * as CommandLine from "../../bash/CommandLine.js"
import { isAssignment, isRedirection } from "../../bash/Token.js"
import type { LineHandler } from "../../command/CommandHandler.js"
import * as Advice from "../../domain/Advice.js"
import * as CallContext from "../../domain/CallContext.js"
import { InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"

export const help = `bash - run a command in this session

USAGE
  bash <command>

ARGUMENTS
  <command>  What runs, as it is written: the word "bash" is taken away, and the rest of the line runs in the
             session you are in, with its directory, variables and functions. "bash <command>" and "<command>" are
             the same; there is no need to write "bash".

OPTIONS
  -h         The usage line.
  --help     This text. Only where it is the one and only argument: "bash ls --help" is the help of ls.

A BASH OF ITS OWN
  These start a new bash that ends with the command and leaves nothing behind in the session:
  bash -c '<command>'      any option of bash first (-c, -x, -e, --version, -s ...)
  bash script.sh [args]    a file: one that exists, or a word with a slash in it, or with the ending .sh
  bash $file, bash 'a b'   a first word that is quoted, or that bash expands ($, *, ~, {a,b}, ...)
  bash < file, bash <<EOF  commands from a redirection

EXIT CODE
  The command's own. 1 without a command.
`

const usage = "bash <command>"

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
        yield* CallContext.tell(result)
        return result
      }
      const first = line.tail[0]
      if (first === undefined) {
        return yield* new InvalidUsage({
          reason: `Usage: ${usage}\nThe command is missing.`,
          advice: [Advice.line`${Advice.run("bash --help")} shows more.`]
        })
      }
      const name = nameIn(line)
      const meansBash = name === undefined || (yield* isScript(name))
      const meant = meansBash ? line : CommandLine.parse(withoutPrefix(line))
      return yield* sandbox.execute(meant.text, { ...options, line: meant })
    })
  }
})

const helpFor = (line: CommandLine.CommandLine): string | undefined => {
  const [only, more] = line.tail
  if (only?._tag !== "Word" || more !== undefined) return undefined
  return only.value === "--help" ? help : only.value === "-h" ? `Usage: ${usage}\n` : undefined
}

/**
 * Returns the name of the command after `bash` and any assignments. If there are only assignments, it returns the
 * first. Undefined if bash may treat the word as an option or a script: it starts with a dash, looks like a path, is
 * quoted or expanded.
 */
const nameIn = (line: CommandLine.CommandLine): string | undefined => {
  let assigned: string | undefined
  for (const token of line.tail) {
    if (token._tag !== "Word") return token._tag === "Operator" && isRedirection(token.value) ? undefined : assigned
    if (!token.closed) return undefined
    if (isAssignment(line.text, token)) {
      assigned ??= token.value
      continue
    }
    // An extended glob such as `@(a|b)`.
    const isPattern = line.text[token.end] === "("
    const isPlain = !token.expands && !token.quoted && !isPattern && !/^[-+]|\/|\.(?:sh|bash)$/.test(token.value)
    return isPlain ? token.value : undefined
  }
  return assigned
}

const withoutPrefix = (line: CommandLine.CommandLine): string =>
  line.text.slice(0, line.command?.start).trimStart() + line.rest
