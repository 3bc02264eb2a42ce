/** `skill:*`: lists skills, prints their instructions, and runs their programs. */
import * as Effect from "effect/Effect"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler, Described, Program } from "../../command/CommandHandler.js"
import { knownFrom } from "../../command/CommandRegistry.js"
import * as Advice from "../../domain/Advice.js"
import { type CommandError, CommandNotFound } from "../../domain/CommandError.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as LocalSkillStore from "../../extension/skill/LocalSkillStore.js"
import * as SkillScan from "../../extension/skill/SkillScan.js"
import { type Skill, type SkillInstructions, SkillStore, type SkillTool } from "../../extension/skill/SkillStore.js"

const longestListed = 200
const longestShownPath = 500
const mostTools = 50

/** Returns a skill on one line of the list. */
export const line = ({ description, name, problem, tools }: Skill): string => {
  const count = tools.length === 0 ? "" : tools.length === 1 ? " (1 tool)" : ` (${tools.length} tools)`
  const about = description === "" && problem !== undefined ? `(${problem})` : description
  return `${UntrustedText.line(name, longestListed)}${count}: ${UntrustedText.line(about, longestListed)}`
}

/** Returns a skill's instructions unchanged, below its directory and the names of its tools. */
export const instructions = ({ skill, text }: SkillInstructions): string =>
  `${lines([
    `Skill ${skill.name}: paths in these instructions are relative to ${UntrustedText.line(skill.directory, longestShownPath)}`,
    ...toolLines(skill)
  ])}\n${text.endsWith("\n") || text === "" ? text : `${text}\n`}`

const toolLines = ({ directory, name, tools }: Skill): ReadonlyArray<string> => {
  if (tools.length === 0) return []
  const shown = tools
    .slice(0, mostTools)
    .map(
      (tool) =>
        `  skill:${name}:${tool.name} runs ${UntrustedText.line(tool.path.slice(directory.length + 1), longestShownPath)}`
    )
  const left = tools.length - shown.length
  return ["Tools:", ...shown, ...(left === 0 ? [] : [`  and ${left} more, in its scripts`])]
}

const lines = (all: ReadonlyArray<string>): string => `${all.join("\n")}\n`

const help = `skill - instructions and programs for special tasks

USAGE
  skill:list                     One line for each skill: its name, its tools, what it is for.
  skill:load <name>              A skill's instructions. Read them before the task that they are for.
  skill:<name>:<tool> [args]     Runs a program of a skill's scripts/, as if it were called by its path: in the current
                                 directory, with these arguments, standard input and exit code. --help goes to it, too.

SKILLS
  Directories with a SKILL.md: .agents/skills/<name> and .claude/skills/<name> in the working directory, skills/<name> in
  Synapse's home, and ~/.claude/skills/<name>. The first of two with the same name counts.

TOOLS
  scripts/extract.py is skill:<name>:extract, and scripts/forms/fill.sh is skill:<name>:forms:fill. Where two files differ
  in their extensions alone, these belong to the names. The first line of a file (#!) tells what runs it, or else its
  extension: .py .js .mjs .cjs .ts .sh .bash .rb .pl .php. A program without either must be executable.
`

const described: Described = {
  name: "skill:*",
  summary: "Skills: instructions and programs for special tasks; skill:list shows them.",
  usage: "skill:list, skill:load <name>, skill:<name>:<tool>"
}

/** The commands whose names have two parts. */
const own: ReadonlyArray<Described> = [
  {
    name: "skill:list",
    summary: "Lists the skills: instructions and programs for special tasks.",
    usage: "skill:list"
  },
  { name: "skill:load", summary: "Prints the instructions of a skill.", usage: "skill:load <name>" }
]

/** The most characters of a description among the known commands. */
const longestSummary = 200

export const make: Effect.Effect<CommandHandler, never, SkillStore> = Effect.gen(function* () {
  const store = yield* SkillStore

  /** Finds the tool that a name of three parts means. */
  const findTool = Effect.fnUntraced(function* (command: string) {
    const { name, tool } = partsOf(command)
    const skill = yield* store.find(name, command)
    const found = toolOf(skill, tool)
    return found === undefined ? yield* LocalSkillStore.unknownTool(skill, tool, command) : { skill, tool: found }
  })

  const program = Effect.fnUntraced(function* (
    command: string,
    args: ReadonlyArray<string>
  ): Effect.fn.Return<Program | undefined, CommandError> {
    if (!isTool(command)) return undefined
    const { skill, tool } = yield* findTool(command)
    return store.program(skill, tool, args)
  })

  const unknown = Effect.fnUntraced(function* (command: string): Effect.fn.Return<never, CommandError> {
    const { name } = partsOf(command)
    const skill = yield* store.find(name, command)
    if (!SkillScan.isUsable(skill)) return yield* LocalSkillStore.unusable(skill, skill.problem ?? "")
    return yield* new CommandNotFound({
      command,
      reason: `Unknown command: ${command}. There is a skill of this name.`,
      advice: [Advice.line`${Advice.run(`skill:load ${skill.name}`)} prints its instructions.`]
    })
  })

  return {
    ...described,
    known: knownFrom(store.known, (skills) => [...own, ...skills.flatMap(commandsOf)]),
    look: Effect.as(store.list, []),
    program: ({ args, name }) => program(name, args),
    run: ({ args, name }): Effect.Effect<CommandResult.CommandResult, CommandError> => {
      const command = own.find((one) => one.name === name)
      if (command === undefined) {
        if (name === "skill:") return Effect.map(store.list, listed)
        // A tool that exists was run by `program`.
        if (isTool(name)) return Effect.zipRight(findTool(name), unknown(name))
        if (name === "skill:help") return print(help)
        return unknown(name)
      }
      if (args.length === 1 && (args[0] === "--help" || args[0] === "-h"))
        return print(`${command.usage}: ${command.summary}\nskill:help tells all about skills.\n`)
      const [skill, extra] = args[0] === "--" ? args.slice(1) : args
      if (name === "skill:list") {
        return skill === undefined
          ? Effect.map(store.list, listed)
          : CommandGrammar.misuse(command, "it takes no operand.")
      }
      if (skill === undefined || extra !== undefined) {
        return CommandGrammar.misuse(
          command,
          skill === undefined ? "the name of a skill is missing." : "it takes one name."
        )
      }
      return Effect.map(store.load(skill, name), loaded)
    }
  }
})

const print = (stdout: string) => Effect.succeed(CommandResult.make({ stdout }))

const loaded = (skill: SkillInstructions) => CommandResult.make({ stdout: instructions(skill) })

const listed = (skills: ReadonlyArray<Skill>): CommandResult.CommandResult =>
  skills.length === 0
    ? CommandResult.make({
        stderr:
          "There are no skills: .agents/skills and .claude/skills here, skills in Synapse's home, and ~/.claude/skills hold none.\n"
      })
    : CommandResult.make({ stdout: skills.map((skill) => `${line(skill)}\n`).join("") })

const isTool = (command: string): boolean => command.split(":").length > 2

const partsOf = (command: string): { readonly name: string; readonly tool: string } => {
  const [, name = "", ...tool] = command.split(":")
  return { name, tool: tool.join(":") }
}

/** Finds a tool by its name, or by its file's path. */
const toolOf = ({ directory, tools }: Skill, name: string): SkillTool | undefined => {
  const wanted = name.replaceAll("/", ":")
  const fileOf = ({ path }: SkillTool) => path.slice(`${directory}/scripts/`.length).replaceAll("/", ":")
  return tools.find((tool) => tool.name === wanted) ?? tools.find((tool) => fileOf(tool) === wanted)
}

/** Returns the calls that a skill offers: loading its instructions, and its tools. */
const commandsOf = (skill: Skill): ReadonlyArray<Described> => {
  if (!SkillScan.isUsable(skill)) return []
  const { description, name, tools } = skill
  const load = `skill:load ${name}`
  return [
    { name: load, summary: UntrustedText.line(description, longestSummary), usage: load },
    ...tools.map((tool) => ({
      name: `skill:${name}:${tool.name}`,
      summary: `A program of the skill ${name}.`,
      usage: `skill:${name}:${tool.name} [args]`
    }))
  ]
}
