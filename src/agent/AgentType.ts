/** The built-in types of sub-agents, and the types that markdown files define. */

import type { SubAgentType } from "../extension/SubAgentManager.js"
import type * as FrontMatter from "../extension/skill/FrontMatter.js"

export interface AgentType extends SubAgentType {
  readonly instructions: string
  /** The name of its model; by default, the provider's default model. */
  readonly model: string | undefined
  /** The most turns, capped by the settings. */
  readonly maxTurns: number | undefined
  readonly skills: ReadonlyArray<string>
}

const builtIn = (name: string, description: string, isReadOnly: boolean, instructions: string): AgentType => ({
  name,
  description,
  isReadOnly,
  source: "built in",
  instructions,
  model: undefined,
  maxTurns: undefined,
  skills: [],
  isUsable: true
})

const answering =
  "You are a sub-agent: another agent has given you this task, and reads nothing of what you do but your answer. It holds what was " +
  "asked for, in the form that was asked for: paths, line numbers and facts instead of a report of your steps. Files that hold outputs of your commands go with you: the " +
  "answer holds what matters of them. You can't start sub-agents."

/** Instructions for read-only agents. */
export const reading =
  "You only search and read: the sandbox lets you write nowhere but under $TMPDIR, which is yours alone, empty, and goes with you. " +
  "Use grep, find, git log, git diff and read; don't try to change anything."

export const instructionsOf = ({ instructions, isReadOnly }: AgentType): string =>
  [answering, ...(isReadOnly ? [reading] : []), ...(instructions === "" ? [] : [instructions])].join("\n\n")

/** The built-in types, which files can't replace. */
export const all: ReadonlyArray<AgentType> = [
  builtIn("explore", "A sub-agent that searches and reads; it can't write.", true, ""),
  builtIn("general", "A sub-agent for a task of several steps, with the same rights as you.", false, ""),
  builtIn("skill", "Does a task by a skill's instructions: --skill NAME.", false, "")
]

/** Names that a file can't define. */
const taken = new Set([...all.map(({ name }) => name), "list", "help"])

/** Matches valid names, as in `task:<name>`. */
const nameable = /^[A-Za-z0-9][\w.+-]{0,63}$/

/** The front matter fields that Synapse uses, in lower case without dashes. */
const known = new Set("name description model maxturns tools disallowedtools permissionmode skills readonly".split(" "))
/** The fields that are ignored without a message. */
const silent = new Set("color version author license".split(" "))

/** Claude's tools that can write. */
const writing = /^(?:bash|edit|write|multiedit|notebookedit|\*|all)$/i

/** Model names in Claude's files that no provider knows. */
const aliases = new Set(["inherit", "default", "sonnet", "opus", "haiku", "opusplan"])

/** The most problems of a file that are reported. */
const mostProblems = 5

/** The most skills that a file may name. */
const mostSkills = 20

/** Splits a list of tools and removes their arguments, as in `Bash(git diff, git log)`. */
const listOf = (text: string | undefined): ReadonlyArray<string> =>
  (text ?? "")
    .replace(/\([^()]*\)/g, "")
    .split(/[,\s]+/)
    .map((one) => one.replace(/^["'[]+|["'\]]+$/g, ""))
    .filter((one) => one !== "")

/**
 * Reads a type from a file, which can only narrow the rights of its sub-agents.
 *
 * @param file the file's name without its ending
 */
export const ofFile = (
  file: string,
  source: "project" | "home",
  { fields: given, problem, text }: FrontMatter.FrontMatter
): AgentType => {
  const fields = new Map([...given].map(([key, value]) => [key.toLowerCase().replace(/[-_]/g, ""), value]))
  const problems: Array<string> = problem === undefined ? [] : [problem]
  const named = fields.get("name") ?? file
  const isUsable = nameable.test(named) && !taken.has(named)
  if (taken.has(named)) problems.push(`it can't be used: ${named} is a name of Synapse's own`)
  else if (!isUsable) problems.push("it can't be used: its name is not made of letters, digits and _ . + - alone")
  if (problem === undefined && !fields.get("description")) problems.push("it has no description")

  const model = fields.get("model")
  const isAlias = model !== undefined && aliases.has(model.toLowerCase())
  if (isAlias && model.toLowerCase() !== "inherit")
    problems.push(`model ${model}: the default model is used, for this is no provider's name of one`)

  const turns = fields.get("maxturns")
  const maxTurns = turns !== undefined && /^[1-9]\d{0,8}$/.test(turns) ? Number(turns) : undefined
  if (turns !== undefined && maxTurns === undefined)
    problems.push("maxTurns is no whole number from 1, and was ignored")

  const tools = fields.has("tools") ? listOf(fields.get("tools")) : undefined
  const denied = listOf(fields.get("disallowedtools"))
  // A file may have both `readonly` and `read-only`; the stricter one wins.
  const flags = [...given].flatMap(([key, value]) =>
    key.toLowerCase().replace(/[-_]/g, "") === "readonly" ? [value.toLowerCase()] : []
  )
  const isReadOnly =
    flags.some((flag) => flag !== "false" && flag !== "no") ||
    fields.get("permissionmode")?.toLowerCase() === "plan" ||
    (tools !== undefined && !tools.some((tool) => writing.test(tool))) ||
    ["bash", "edit", "write"].every((tool) => denied.some((one) => one.toLowerCase() === tool))
  if (isReadOnly && tools?.some((tool) => tool.startsWith("mcp")) === true)
    problems.push("it has no MCP tools, since it may not write")

  const ignored = [...fields.keys()].filter((key) => !known.has(key) && !silent.has(key))
  if (ignored.length > 0) problems.push(`ignored: ${ignored.slice(0, 10).join(", ")}`)
  return {
    name: named,
    description: fields.get("description") ?? "",
    isReadOnly,
    source,
    instructions: text.trim(),
    model: isAlias ? undefined : model || undefined,
    maxTurns,
    skills: listOf(fields.get("skills")).slice(0, mostSkills),
    isUsable,
    ...(problems.length === 0 ? undefined : { problem: problems.slice(0, mostProblems).join("; ") })
  }
}
