/**
 * Completions for shells. A short script for each shell asks the program, which answers from its table of subcommands.
 */
import type { FileSystem } from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Form } from "../command/Parameter.js"
import * as SynapseClient from "../serve/SynapseClient.js"
import { type App, succeed, WrongUsage } from "./Invocation.js"
import { Stdio } from "./Stdio.js"
import * as Subcommands from "./Subcommands.js"

/** A possible next word, with its description. */
interface Candidate {
  readonly word: string
  readonly about?: string | undefined
}

/** Lines that tell the shell to complete paths itself. */
const files: ReadonlyArray<Candidate> = [{ word: ":files" }]
const directories: ReadonlyArray<Candidate> = [{ word: ":directories" }]

const scripts: Readonly<Record<string, string>> = {
  bash: `_synapse() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default ;;
      :directories) compopt -o dirnames ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${1/#\\~/$HOME}" --complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _synapse synapse`,
  zsh: `#compdef synapse
_synapse() {
  local line
  local -a found
  while IFS= read -r line; do
    case $line in
      :files) compset -P '--*='; _files ;;
      :directories) compset -P '--*='; _files -/ ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <("\${(Q)words[1]/#\\~/$HOME}" --complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#found )) && _describe -t values synapse found
}
if [ "$funcstack[1]" = _synapse ]; then _synapse "$@"; else
  (( $+functions[compdef] )) || { autoload -Uz compinit; compinit; }
  compdef _synapse synapse
fi`,
  fish: `function __synapse_candidates
  set -l words (commandline -opc)
  for line in (command $words[1] --complete $words[2..-1] (commandline -ct) 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :directories
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c synapse -f -a '(__synapse_candidates)'`
}

/** The name of bash completions that start no program. */
const fixed = "sh"

const loadFixed = Effect.promise(() => import("./FixedCompletions.js"))

export const shells: ReadonlyArray<string> = Object.keys(scripts)

const ofProgram: ReadonlyArray<Candidate> = [
  { word: "--completions", about: "Print a script of completions for a shell." },
  { word: "--help", about: "Show the help." },
  { word: "--version", about: "Show the version." }
]

/** Prints the script of a shell. */
export const run = (words: ReadonlyArray<string>): Effect.Effect<number, WrongUsage, Stdio> => {
  const shell = words.join("=").slice("--completions=".length)
  if (shell === fixed) return Effect.flatMap(loadFixed, ({ run }) => run)
  const script = scripts[shell]
  return script === undefined
    ? new WrongUsage({ message: `--completions must be one of ${[...shells, fixed].join(", ")}.` })
    : succeed(script)
}

type Names = Effect.Effect<ReadonlyArray<string>, unknown, App | FileSystem | Stdio>

/** Runs a subcommand that lists something, and extracts the names from its JSON. */
const listed = (line: string, key: string): Names =>
  Effect.gen(function* () {
    const stdio = yield* Stdio
    const words = line.split(" ")
    let printed = ""
    const write = (stream: string, chunk: Uint8Array | string) => {
      if (stream === "stdout") printed += Buffer.from(chunk).toString()
    }
    const action = yield* Subcommands.find(words)?.read(words.slice(2)) ?? Either.left("")
    yield* Effect.provideService(action, Stdio, { ...stdio, write })
    const names = printed.matchAll(new RegExp(`"${key}":"([\\w.-]+)"`, "g"))
    return Array.from(names, ([, name = ""]) => name)
  })

const sessions: Names = Effect.suspend(() =>
  Effect.map(SynapseClient.make({ program: process.argv[1] ?? "" }).list, (open) => open.map(({ name }) => name))
)
const servers = listed("mcp list --json", "name")
const skills = listed("skill list --json", "name")
const conversations = listed("agent list --json", "id")

/** The source of a parameter's names, by subcommand and form. */
const sources: ReadonlyArray<readonly [parameter: RegExp, names: Names]> = [
  [/^exec --session$|^daemon stop /, sessions],
  [/^mcp (?:remove|login|logout) /, servers],
  [/^skill remove /, skills],
  [/^agent --resume$/, conversations],
  [/^mcp (?:un)?install /, Effect.succeed(Subcommands.clients)]
]

const toCandidates = (names: ReadonlyArray<string>): ReadonlyArray<Candidate> => names.map((word) => ({ word }))

const valuesOf = ({ name }: Subcommands.Subcommand, form: Form) =>
  Effect.gen(function* () {
    const { placeholder } = form
    if (placeholder.includes(" | ")) return toCandidates(placeholder.split(" | "))
    const what = placeholder === "text" ? form.name : placeholder
    if (/^[[<]*(?:path|pattern|file)\b/.test(what)) return files
    if (/^<?dir/.test(what)) return directories
    const [, names = Effect.succeed([])] = sources.find(([parameter]) => parameter.test(`${name} ${form.name}`)) ?? []
    return toCandidates(yield* Effect.catchAllCause(names, () => Effect.succeed([])))
  })

const subcommandsIn = (group: string): ReadonlyArray<Candidate> => {
  const names = Subcommands.all.map(({ name }) => name)
  const inGroup = names.filter((name) => group === "" || name.startsWith(`${group} `))
  const words = new Set(inGroup.map((name) => name.split(" ")[group === "" ? 0 : 1] ?? ""))
  return Array.from(words, (word) => {
    const name = `${group} ${word}`.trim()
    return { word, about: Subcommands.groups[name] ?? Subcommands.all.find((one) => one.name === name)?.summary }
  })
}

/** Finds what may follow the words of a subcommand. */
const within = (subcommand: Subcommands.Subcommand, before: ReadonlyArray<string>, current: string) =>
  Effect.gen(function* () {
    const forms = Object.values(subcommand.config).map(({ form }) => form)
    const find = (word: string | undefined) =>
      forms.find(({ aliases, kind, name }) => {
        if (kind === "operand" || word === undefined) return false
        return name === word || aliases.some((alias) => alias === word)
      })
    const end = before.indexOf("--")
    if (end >= 0 && subcommand.hasWordsBehind) return files
    const isValue = (at: number) => at > 0 && find(before[at - 1])?.kind === "option"
    const options = before.slice(0, end < 0 ? before.length : end)
    const last = find(options.at(-1))
    if (end < 0 && last?.kind === "option" && !isValue(before.length - 1)) return yield* valuesOf(subcommand, last)
    const [, name, assigned] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? []
    const option = find(name)
    if (end < 0 && option?.kind === "option" && assigned !== undefined) {
      const values = yield* valuesOf(subcommand, option)
      return values.map(({ word }): Candidate => ({ word: word.startsWith(":") ? word : `${name}=${word}` }))
    }
    if (end < 0 && current.startsWith("-")) {
      const isGiven = (form: Form) => options.some((word) => word.replace(/=.*/s, "") === form.name)
      return [
        ...forms.filter((form) => form.kind !== "operand" && (form.isRepeated || !isGiven(form))),
        { name: "--help", description: "Show the help." }
      ].map(({ description, name }) => ({ word: name, about: description }))
    }
    const given = before.filter((word, at) => (end >= 0 && at > end) || (!word.startsWith("-") && !isValue(at)))
    const operands = forms.filter(({ kind }) => kind === "operand")
    const operand = operands[given.length] ?? operands.filter(({ isRepeated }) => isRepeated).at(-1)
    return operand === undefined || subcommand.text !== undefined ? [] : yield* valuesOf(subcommand, operand)
  })

/** Joins words that bash has split at `=`: `--session`, `=`, `wo`. Bash then completes the last part alone. */
const joined = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.flatMap((word, at) => {
    const isSplit = words[at - 1]?.startsWith("--") === true && word === "="
    if (!isSplit) return [word]
    return at === words.length - 1 ? [""] : []
  })

const candidates = (words: ReadonlyArray<string>) => {
  const [current = "", ...rest] = joined(words).toReversed()
  const before = rest.toReversed()
  const [name = ""] = before
  if (before.length === 0) return Effect.succeed(current.startsWith("-") ? ofProgram : subcommandsIn(""))
  if (name === "--completions") return Effect.succeed(toCandidates([...shells, fixed]))
  const subcommand = Subcommands.find(before)
  const inGroup = before.length === 1 && !current.startsWith("-") ? subcommandsIn(name) : []
  if (subcommand === undefined) return Effect.succeed(inGroup)
  const own = before.slice(subcommand.name.split(" ").length)
  return Effect.map(within(subcommand, own, current), (found) => [...inGroup, ...found])
}

/** Prints the candidates for the last word, one line each: the word, a tab, and its description. */
export const complete = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const current = joined(words).at(-1) ?? ""
    const found = yield* candidates(words)
    const lines = found
      .filter(({ word }) => word.startsWith(":") || word.startsWith(current))
      .map(({ about = "", word }) => (word.startsWith(":") ? word : `${word}\t${about.replace(/[.:] .*|\.$/s, "")}`))
    return yield* succeed(lines.join("\n"))
  })
