/**
 * Finds skills in `.agents/skills` and `.claude/skills` of the working directory, in `$SYNAPSE_HOME/skills` and in
 * `~/.claude/skills`.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import * as Advice from "../../domain/Advice.js"
import { type CommandError, type CommandNotFound, ExecutionFailed } from "../../domain/CommandError.js"
import * as Similar from "../../domain/Similar.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import { SandboxSettings } from "../../sandbox/config/SandboxSettings.js"
import { SessionSettings } from "../../session/SessionSettings.js"
import * as Lookout from "./Lookout.js"
import * as SkillFile from "./SkillFile.js"
import * as SkillScan from "./SkillScan.js"
import { type Skill, SkillStore } from "./SkillStore.js"

/** The commands that are not about one skill. */
const own = ["list", "load"]

/** Makes the error for a skill that does not exist, which names the nearest. */
const unknownSkill = (name: string, skills: ReadonlyArray<Skill>, command = `skill:${name}`): CommandNotFound => {
  const [meant] = command === `skill:${name}` ? Similar.likely(name, own) : []
  const listing = skills.length === 0 ? [] : [Advice.line`${Advice.run("skill:list")} tells what each is for.`]
  return UnknownCommand.make({
    command,
    kind: "skill",
    name,
    known: skills.filter(SkillScan.isUsable).map((skill) => skill.name),
    advice: meant === undefined ? listing : [Advice.line`Did you mean skill:${meant}?`]
  })
}

/** Makes the error for a skill that exists but can't be used. */
export const unusable = ({ name }: Skill, why: string): ExecutionFailed =>
  new ExecutionFailed({ kind: "io", reason: `${name}: ${UntrustedText.line(why, 300)}.` })

/**
 * Makes the error for a tool that a skill does not have, which names the nearest. If the skill can't be used, the error
 * says why.
 */
export const unknownTool = (skill: Skill, name: string, command: string): CommandError =>
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

/** The skill directories of a project, below the working directory. */
const projectDirectories: ReadonlyArray<string> = [".agents/skills", ".claude/skills"]

export const homeDirectory = (home: string): string => `${home}/skills`

/** A layer that finds skills on this machine when they are first needed. */
export const layer: Layer.Layer<SkillStore, never, SandboxSettings | SessionSettings> = Layer.scoped(
  SkillStore,
  Effect.gen(function* () {
    const { home, userHome } = yield* SandboxSettings
    const { cwd = process.cwd() } = yield* SessionSettings
    const within = SkillFile.realOf(cwd) ?? cwd
    const roots: ReadonlyArray<SkillScan.Root> = [
      ...projectDirectories.map((path) => ({ source: "project" as const, directory: `${cwd}/${path}`, within })),
      { source: "home", directory: homeDirectory(home) },
      { source: "home", directory: `${userHome}/.claude/skills` }
    ]
    const { known, look: list } = yield* Lookout.make<ReadonlyArray<Skill>>([], () => SkillScan.look(roots))
    const find = (name: string, command?: string) =>
      Effect.suspend(() => {
        const skill = SkillScan.one(roots, name)
        return skill === undefined
          ? Effect.flatMap(list, (skills) => {
              const [titled, ...others] = skills.filter(({ title }) => title === name)
              return titled !== undefined && others.length === 0
                ? Effect.succeed(titled)
                : unknownSkill(name, skills, command)
            })
          : Effect.succeed(skill)
      })

    return SkillStore.of({
      list,
      find,
      load: Effect.fn("SkillStore.load")(function* (name, command) {
        const skill = yield* find(name, command)
        const text = SkillScan.instructions(roots, skill)
        if (Either.isRight(text)) return { skill, text: text.right }
        return yield* unusable(skill, text.left)
      }),
      program: ({ directory }, { path }, args) =>
        SkillScan.programOf(path, SkillFile.realOf(directory) ?? directory, args),
      known
    })
  })
)
