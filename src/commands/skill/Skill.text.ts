/** The texts about skills that a model reads. What a skill's author wrote is shown on one line, and bounded. */
import * as ForeignText from "../../domain/ForeignText.js"
import type { Skill, SkillInstructions } from "../../extension/skill/SkillStore.js"

const longestListed = 200
const longestDescription = 1024
const longestPath = 500
const mostTools = 50

/** Returns a skill on one line, for a list. */
export const line = ({ description, name, problem, tools }: Skill): string => {
  const count = tools.length === 0 ? "" : tools.length === 1 ? " (1 tool)" : ` (${tools.length} tools)`
  const about = description === "" && problem !== undefined ? `(${problem})` : description
  return `${ForeignText.line(name, longestListed)}${count}: ${ForeignText.line(about, longestListed)}`
}

/** Returns all about a skill but for its instructions. */
export const info = (skill: Skill): string => {
  const { compatibility, description, directory, license, name, problem, source, tools } = skill
  const field = (label: string, value: string | undefined) =>
    value === undefined ? [] : [`${label}: ${ForeignText.line(value, longestDescription)}`]
  return lines([
    `${ForeignText.line(name, longestListed)}: ${ForeignText.line(description, longestDescription)}`,
    `Directory: ${ForeignText.line(directory, longestPath)} (${source === "home" ? "the user's" : "the project's"})`,
    ...field("Compatibility", compatibility),
    ...field("License", license),
    ...toolLines(skill, tools.length),
    ...field("Problem", problem)
  ])
}

/**
 * Returns a skill's instructions as they are, below what they need: where its files are, and what its tools are called.
 */
export const instructions = ({ skill, text }: SkillInstructions): string =>
  `${lines([
    `Skill ${skill.name}: paths in these instructions are relative to ${ForeignText.line(skill.directory, longestPath)}`,
    ...toolLines(skill, mostTools)
  ])}\n${text.endsWith("\n") || text === "" ? text : `${text}\n`}`

const toolLines = ({ directory, name, tools }: Skill, most: number): ReadonlyArray<string> => {
  if (tools.length === 0) return []
  const shown = tools
    .slice(0, most)
    .map(
      (tool) =>
        `  skill:${name}:${tool.name} runs ${ForeignText.line(tool.path.slice(directory.length + 1), longestPath)}`
    )
  const left = tools.length - shown.length
  return ["Tools:", ...shown, ...(left === 0 ? [] : [`  and ${left} more: skill:info ${name} lists them all`])]
}

const lines = (all: ReadonlyArray<string>): string => `${all.join("\n")}\n`
