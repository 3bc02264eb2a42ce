/**
 * Makes the errors for a skill, and for a tool of a skill, that does not exist.
 *
 * @since 0.1.0
 */
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import { CommandNotFound } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import type { Skill } from "./SkillStore.js"

/** The most names that are listed. */
const mostNames = 10
const longestName = 100

/**
 * Makes the error for a skill that does not exist, which names the nearest.
 *
 * @param command the command that named it
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  name: string,
  skills: ReadonlyArray<Skill>,
  command: string = `skill:${name}`
): CommandNotFound => {
  if (skills.length === 0 && command.split(":")[1] === name)
    return UnknownCommand.skill(ForeignText.line(command, longestName), [])
  return new CommandNotFound({
    command,
    reason: [
      `Unknown skill: ${ForeignText.line(name, longestName) || "(no name)"}.`,
      ...listed(
        "skill",
        name,
        skills.map((skill) => skill.name)
      )
    ].join(" "),
    advice: [Advice.line`${Advice.run("skill:list")} lists all skills.`]
  })
}

/**
 * Makes the error for a tool that a skill does not have, which names the nearest.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tool = (skill: Skill, name: string, command: string): CommandNotFound =>
  new CommandNotFound({
    command,
    reason: [
      `Unknown tool of the skill ${skill.name}: ${ForeignText.line(name, longestName) || "(no name)"}.`,
      ...listed(
        "tool",
        name,
        skill.tools.map((tool) => tool.name),
        `skill:${skill.name}:`
      )
    ].join(" "),
    advice: [Advice.line`${Advice.run(`skill:load ${skill.name}`)} prints its instructions.`]
  })

/** Names the ones that are nearest to what was written, or some of those that there are. */
const listed = (kind: string, written: string, names: ReadonlyArray<string>, prefix = ""): ReadonlyArray<string> => {
  if (names.length === 0) return [`There are no ${kind}s.`]
  const low = written.toLowerCase()
  const alike = names.filter(
    (name) => Similar.isNear(written)(name) || (low.length > 2 && name.toLowerCase().includes(low))
  )
  const shown = (alike.length === 0 ? names : alike)
    .slice(0, mostNames)
    .map((name) => `${prefix}${ForeignText.line(name, longestName)}`)
  if (alike.length > 0) return [`Perhaps: ${shown.join(", ")}.`]
  const left = names.length - shown.length
  return [`The ${kind}s are: ${shown.join(", ")}${left === 0 ? "" : ` and ${left} more`}.`]
}
