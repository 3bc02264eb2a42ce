/**
 * Writes the description of the tool `Bash`, which a model reads with every request: only what is so here, and short.
 *
 * @since 0.1.0
 */
import type { Described } from "../command/CommandHandler.js"
import * as TextCut from "../domain/TextCut.js"
import { type Conditions, Confinement } from "../sandbox/Conditions.js"

/**
 * Writes the description.
 *
 * @param handlers the commands that are not the shell's own
 * @param conditions the conditions that commands run under; undefined where they are not known
 * @since 0.1.0
 * @category rendering
 */
export const make = (handlers: ReadonlyArray<Described>, conditions?: Conditions): string =>
  `${[
    ...shell,
    conditions === undefined ? [] : confined(conditions.confinement),
    `A command is ended after ${conditions === undefined ? "its timeout" : `${conditions.timeout} ms, or its own timeout`}. Put what is to go on running in the background, with its output in a file: server >server.log 2>&1 &`,
    ...results
  ]
    .flat()
    .map((fact, at) => (at === 0 ? `${fact}\n` : `- ${fact}`))
    .join("\n")}${
    handlers.length === 0
      ? ""
      : `\n\nCommands that only this shell has; they work anywhere in a line, in pipes, loops and scripts:\n${handlers.map(line).join("\n")}`
  }`

const line = ({ summary, usage }: Described): string => `- ${usage}: ${summary}`

const shell = [
  "Runs a command in a persistent bash and returns its stdout and stderr, in the order they came where that can be known.",
  "The shell stays: the directory, variables, functions and aliases of one command are there for the next. restart=true starts a new shell first.",
  "Commands run one at a time, in the order of the calls.",
  "No command can ask anything: there is no terminal, and stdin is empty. Give all input with the command: options such as -y, a pipe, a here-document."
]

const results = [
  "Long output is cut in the middle; a line says how much is missing and which file holds all of it.",
  "A failed command is answered with its output, its exit code, and what that means where it is known."
]

const confined = Confinement.$match({
  Open: () => "There is no sandbox: commands have all rights of the user who runs them.",
  Confined: ({ writable }) =>
    `A sandbox holds every command: it writes only ${written(writable)}, can't read secrets such as ~/.ssh or .env files, and has no network but localhost. A denial names its rule.`,
  Impossible: ({ reason }) => `No command can run at present: ${bounded(reason)}`
})

/** The most directories that are named, and the most characters of all together. */
const mostRoots = 6
const longestRoots = 300
const longestReason = 300

const written = (roots: ReadonlyArray<string>): string => {
  const named: Array<string> = []
  for (const root of roots) {
    const shown = onOneLine(root)
    if (named.length < mostRoots && named.join(", ").length + shown.length <= longestRoots) named.push(shown)
  }
  const left = roots.length - named.length
  if (named.length === 0)
    return left === 0 ? "nowhere" : `in ${left === 1 ? "one directory" : `${left} directories`}, with long names`
  return `under ${named.join(", ")}${left === 0 ? "" : ` and ${left} more`}`
}

const bounded = (text: string): string => {
  const shown = onOneLine(text.split("\n", 1)[0] ?? "")
  return shown.length > longestReason ? `${TextCut.startOf(shown, longestReason)}…` : shown
}

/** Escapes control characters, so that a name stays on one line. */
const onOneLine = (text: string): string =>
  text.replace(/[\x00-\x1f\x7f]/g, (char) => JSON.stringify(char).slice(1, -1))
