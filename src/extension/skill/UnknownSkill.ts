/**
 * Makes the errors for a skill, and for a tool of a skill, that does not exist.
 *
 * @since 0.1.0
 */
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import type { CommandNotFound } from "../../domain/CommandError.js"
import * as Similar from "../../domain/Similar.js"
import * as SkillScan from "./SkillScan.js"
import type { Skill } from "./SkillStore.js"

/**
 * Makes the error for a skill that does not exist, which names the nearest.
 *
 * @param command the command that named it
 * @since 0.1.0
 * @category constructors
 */
export const make = (name: string, skills: ReadonlyArray<Skill>, command = `skill:${name}`): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "skill",
    name,
    known: skills.filter(SkillScan.isUsable).map((skill) => skill.name),
    advice: [adviceOn(name, command)]
  })

/** The commands on all skills. */
const own = ["list", "info", "load"]

const adviceOn = (name: string, command: string): Advice.Advice => {
  const [meant] = command === `skill:${name}` ? Similar.likely(name, own) : []
  return meant === undefined
    ? Advice.line`${Advice.run("skill:list")} lists all skills.`
    : Advice.line`Did you mean ${Advice.typed(`skill:${meant}`)}?`
}

/**
 * Makes the error for a tool that a skill does not have, which names the nearest.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tool = (skill: Skill, name: string, command: string): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "skill tool",
    kinds: `tools of ${skill.name}`,
    name,
    known: skill.tools.map((tool) => tool.name),
    toWord: (name) => `skill:${skill.name}:${name}`,
    advice: [Advice.line`${Advice.run(`skill:load ${skill.name}`)} prints its instructions.`]
  })
