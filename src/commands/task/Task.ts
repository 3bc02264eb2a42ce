/** `task:<type>`: a sub-agent does a task, and its answer is printed. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler, Described } from "../../command/CommandHandler.js"
import { knownFrom } from "../../command/CommandRegistry.js"
import * as Parameter from "../../command/Parameter.js"
import * as Collect from "../../domain/Collect.js"
import type { CommandError, ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import { SubAgentManager, type SubAgentType } from "../../extension/SubAgentManager.js"

/** The most bytes of standard input, and the most characters of a prompt. */
const most = 512 * 1024

const kibibytes = `${most / 1024} KiB`

/** Replaces lone surrogates, which stand for bytes that are not UTF-8 (`ShellText`). No request can hold them. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd")

const promptOf = Effect.fnUntraced(function* (
  name: string,
  given: string | undefined,
  stdin: CommandCall["stdin"]
): Effect.fn.Return<string, InvalidUsage | ExecutionFailed> {
  if (given !== undefined && given.trim() === "") return yield* misuse(name, "--prompt is empty.")
  if (given !== undefined && given.length > most) return yield* misuse(name, tooLong("the prompt"))
  const bytes = stdin === undefined ? Buffer.alloc(0) : yield* Collect.bytes(stdin, most)
  if (bytes === undefined) return yield* misuse(name, tooLong("standard input"))
  const input = bytes.toString()
  const isEmpty = input.trim() === ""
  if (given === undefined && isEmpty) return yield* misuse(name, "--prompt is missing, and standard input is empty.")
  if (given === undefined || isEmpty) return wellFormed(given ?? input)
  return wellFormed(`${given}\n\n<stdin>\n${input.replace(/\n?$/, "\n")}</stdin>`)
})

const tooLong = (what: string): string =>
  `${what} is longer than ${kibibytes}: put it into a file, and tell its path in the prompt.`

export const help = `task - sub-agents: other agents that do a task of their own, and answer with a text

USAGE
  task:<type> -d <words> -p <prompt> [--skill NAME] [--model NAME] [--max-turns N]
  task:list

TYPES
  task:general   Does a task of several steps, with all that you can do yourself.
  task:explore   Searches and reads. Its sandbox lets it write nowhere but to temporary files of its own.
  task:skill     Does a task by a skill's instructions: --skill NAME.
  Others are markdown files with front matter (name, description; optionally model, maxTurns, tools, skills, readOnly):
  .claude/agents/*.md in the working directory, agents/*.md in Synapse's home. task:list shows all.

OPTIONS
  -d, --description  What the task is, in a few words, for those who watch. Required.
  -p, --prompt       The task. The sub-agent knows nothing of your conversation: tell it all that it needs, and what
                     its answer should hold. A single word after the options is taken as the prompt, too.
  --skill NAME       A skill whose instructions it begins with; may be given more than once.
  --model NAME       A model other than the type's: name, or provider/name.
  --max-turns N      The most turns that it may take, within SYNAPSE_MAX_TOOL_ITERATIONS.

INPUT
  Standard input is the prompt, or comes after the prompt of -p, as its context: 512 KiB at most. In a loop that reads
  its own input ("while read"), call it with </dev/null, or it takes all of that.

WHAT IT DOES
  It has a shell and a list of tasks of its own, starts in the current directory, and has no more rights than you. Its
  answer goes to standard output. It starts no sub-agents itself. At most SYNAPSE_MAX_PARALLEL_TASKS (5) run at a time;
  others wait.

TIME
  A call that is task:<type> alone takes the time that it needs, or the call's timeout=<ms>. A line that holds more than
  it, as a pipe or a loop, is ended after 30 minutes, or its call's timeout.

EXAMPLES
  task:explore -d 'Find the parser' -p 'Which files parse the configuration? Answer with paths and line numbers.'
  git diff | task:general -d 'Review' -p 'Review this diff. List only defects, each with file and line.'
  for f in src/*.ts; do task:explore -d "Check $f" -p "Is $f tested? One line." & done; wait

EXIT CODE
  0 done; 1 wrong call, a limit reached (standard output has what was said so far) or a failure; 126 within a sub-agent;
  127 unknown type
`

const described: Described = {
  name: "task:*",
  summary: "Sub-agents: other agents that do a task of their own; task:list shows their types.",
  usage: "task:<type> -d <words> -p <prompt>"
}

const list: Described = { name: "task:list", summary: "Lists the types of sub-agents.", usage: "task:list" }

const config = {
  words: Parameter.repeated(Parameter.operand("prompt")),
  description: Parameter.option("description").pipe(Parameter.withAlias("d")),
  prompt: Parameter.option("prompt").pipe(Parameter.withAlias("p"), Parameter.optional),
  skills: Parameter.repeated(Parameter.option("skill")),
  model: Parameter.option("model").pipe(Parameter.optional),
  maxTurns: Parameter.count("max-turns", 1).pipe(Parameter.optional)
}

interface Asked extends CommandGrammar.Params<typeof config> {}

/** Returns the usage of a type. For `task:skill`, the skill is required. */
const usageOf = (name: string): string =>
  `${name} -d <words> -p <prompt>${name === "task:skill" ? " --skill NAME" : " [--skill NAME]"} [--model NAME] [--max-turns N]`

const read = CommandGrammar.reader(config)

/** The most characters of a description, of a type's line in the list, and of a problem in it. */
const longestDescription = 200
const longestListed = 200
const longestProblem = 300

const noProvider = "They need a model's provider, and none was set up when this session began."

export const make: Effect.Effect<CommandHandler, never, SubAgentManager> = Effect.gen(function* () {
  const manager = yield* SubAgentManager

  const run = Effect.fnUntraced(function* (asked: Asked, { cwd, name, stdin }: CommandCall) {
    const { description, maxTurns, model, prompt, skills, words } = asked
    const [word, ...more] = words
    if (more.length > 0 || (word !== undefined && Option.isSome(prompt)))
      return yield* misuse(
        name,
        `${UntrustedText.quoted(more[0] ?? word ?? "", 60)} is one word too many: quote the prompt.`
      )
    if (description.trim() === "") return yield* misuse(name, "--description is empty.")
    if (name === "task:skill" && skills.length === 0)
      return yield* misuse(name, "--skill is missing; skill:list shows the skills.")
    const answer = yield* manager.execute(name.slice("task:".length), {
      prompt: yield* promptOf(
        name,
        Option.getOrElse(prompt, () => word),
        stdin
      ),
      description: UntrustedText.line(description, longestDescription),
      model: Option.getOrUndefined(model),
      maxTurns: Option.getOrUndefined(maxTurns),
      skills,
      cwd
    })
    return CommandResult.make({ stdout: inLines(answer) })
  })

  const listed = Effect.map(manager.look, (types) =>
    types.length === 0
      ? CommandResult.make({ stderr: "There are no sub-agents here.\n" })
      : CommandResult.make({
          stdout: types.map((type) => `${line(type)}\n`).join(""),
          stderr: manager.isOffered ? "" : `${noProvider}\n`
        })
  )

  return {
    ...described,
    isUnlisted: !manager.isOffered,
    known: knownFrom(manager.types, (types) => (manager.isOffered ? [list, ...types.flatMap(commandsOf)] : [])),
    look: Effect.as(manager.look, []),
    run: (call): Effect.Effect<CommandResult.CommandResult, CommandError> => {
      const { args, name } = call
      if (name === "task:" || name === "task:list" || name === "task:help") {
        if (name === "task:help" || args[0] === "--help" || args[0] === "-h") return print(help)
        return args.length > 0 && name === "task:list" ? CommandGrammar.misuse(list, "it takes no operand.") : listed
      }
      const answer = CommandGrammar.helpFor({ help, usage: usageOf(name) }, args)
      if (answer !== undefined) return print(answer)
      const parsed = Either.mapLeft(read(args), (reason) => misuse(name, reason))
      return Effect.flatMap(parsed, (asked) => Effect.catchTag(run(asked, call), "ExecutionFailed", partial)).pipe(
        // An unknown type is reported before its wrong parameters.
        Effect.tapErrorTag("InvalidUsage", () => manager.check(name.slice("task:".length)))
      )
    }
  }
})

const print = (stdout: string) => Effect.succeed(CommandResult.make({ stdout }))

const inLines = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)

/** Makes the error for invalid parameters, in words that the specification requires. */
const misuse = (name: string, reason: string): InvalidUsage =>
  CommandGrammar.misuse({ name, usage: usageOf(name) }, `Invalid parameters: ${reason}`)

/** Keeps what a task said before it failed, because a pipe would lose it with the error. */
const partial = (
  error: Extract<CommandError, { readonly _tag: "ExecutionFailed" }>
): Effect.Effect<CommandResult.CommandResult, CommandError> =>
  error.stdout === ""
    ? error
    : Effect.succeed(
        CommandResult.make({
          stdout: inLines(error.stdout),
          stderr: `${error.reason}\n`,
          exitCode: error.exitCode,
          category: error.category,
          advice: error.advice
        })
      )

const line = ({ description, isReadOnly, name, problem, source }: SubAgentType): string => {
  const about = [
    ...(isReadOnly ? ["read-only"] : []),
    ...(source === "built in" ? [] : [`the ${source === "home" ? "user" : "project"}'s`])
  ]
  const marks = about.length === 0 ? "" : ` (${about.join(", ")})`
  const flaw = problem === undefined ? "" : ` [${UntrustedText.line(problem, longestProblem)}]`
  return `task:${UntrustedText.line(name, longestListed)}${marks}: ${UntrustedText.line(description, longestListed)}${flaw}`
}

/** Descriptions written by a file's author are quoted. */
const commandsOf = ({ description, isUsable, name, source }: SubAgentType): ReadonlyArray<Described> => {
  if (!isUsable) return []
  const summary = source === "built in" ? description : UntrustedText.quoted(description, longestListed)
  return [{ name: `task:${name}`, summary, usage: usageOf(`task:${name}`) }]
}
