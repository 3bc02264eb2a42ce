/** Makes the errors for a skill, and for a tool of a skill, that does not exist or can't be used. */
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import { type CommandError, type CommandNotFound, ExecutionFailed } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import * as SkillScan from "./SkillScan.js"
import type { Skill } from "./SkillStore.js"

/**
 * Makes the error for a skill that does not exist, which names the nearest.
 *
 * @param command the command that named it
 */
export const make = (name: string, skills: ReadonlyArray<Skill>, command = `skill:${name}`): CommandNotFound =>
  UnknownCommand.make({
    command,
    kind: "skill",
    name,
    known: skills.filter(SkillScan.isUsable).map((skill) => skill.name),
    advice: adviceOn(name, command, skills)
  })

/** The commands on all skills. */
const own = ["list", "info", "load"]

const adviceOn = (name: string, command: string, skills: ReadonlyArray<Skill>): ReadonlyArray<Advice.Advice> => {
  const [meant] = command === `skill:${name}` ? Similar.likely(name, own) : []
  if (meant !== undefined) return [Advice.line`Did you mean ${Advice.typed(`skill:${meant}`)}?`]
  return skills.length === 0 ? [] : [Advice.line`${Advice.run("skill:list")} tells what each is for.`]
}

/** Makes the error for a skill that is there, and can't be used. */
export const unusable = ({ name }: Skill, why: string): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason: `${name}: ${ForeignText.line(why, 300)}.` })

/**
 * Makes the error for a tool that a skill does not have, which names the nearest; of a skill that can't be used, it tells
 * the reason.
 */
export const tool = (skill: Skill, name: string, command: string): CommandError =>
  SkillScan.isUsable(skill)
    ? UnknownCommand.make({
        command,
        kind: "skill tool",
        kinds: `tools of ${skill.name}`,
        name,
        known: skill.tools.map((tool) => tool.name),
        toWord: (name) => `skill:${skill.name}:${name}`,
        advice: [Advice.line`${Advice.run(`skill:load ${skill.name}`)} prints its instructions.`]
      })
    : unusable(skill, skill.problem ?? "")
