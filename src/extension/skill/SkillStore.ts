/**
 * Finds skills: instructions and programs in the open Agent Skills format.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Program } from "../../command/CommandHandler.js"
import * as UnknownCommand from "../../command/UnknownCommand.js"
import type { CommandError } from "../../domain/CommandError.js"

/**
 * A skill, from the front matter of its `SKILL.md`. All texts are its author's: who shows them makes control characters
 * harmless.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill {
  /** The name of its directory. */
  readonly name: string
  /** The name in its front matter, where that is another: it is found by that too. */
  readonly title?: string
  readonly description: string
  readonly directory: string
  /** Where it was found: the working directory's `.agents/skills` or `.claude/skills`, or `$SYNAPSE_HOME/skills`. */
  readonly source: "project" | "home"
  /** The programs of its `scripts`, by the names they are called by. */
  readonly tools: ReadonlyArray<SkillTool>
  /** Why it can't be used, or what of it was ignored. */
  readonly problem?: string
  /** The directories of skills of the same name, which this one comes before. */
  readonly hides?: ReadonlyArray<string>
}

/**
 * A program of a skill.
 *
 * @since 0.1.0
 * @category models
 */
export interface SkillTool {
  /**
   * Its file's path below `scripts` with `:` for each `/`, which no command's name can hold, and without the extension
   * where that leaves it unambiguous.
   */
  readonly name: string
  readonly path: string
}

/**
 * The instructions of a skill.
 *
 * @since 0.1.0
 * @category models
 */
export interface SkillInstructions {
  readonly skill: Skill
  /** The text of `SKILL.md` below its front matter. */
  readonly text: string
}

/**
 * Finds skills by name. An unknown one fails with CommandNotFound, which names the nearest.
 *
 * @since 0.1.0
 * @category tags
 */
export class SkillStore extends Context.Tag("synapse/SkillStore")<
  SkillStore,
  {
    /** Returns all skills, sorted by name; a skill of the project comes before one of the same name in the home. */
    readonly list: Effect.Effect<ReadonlyArray<Skill>>
    /** Finds a skill; an error is told as that of the command, `skill:<name>` by default. */
    readonly find: (name: string, command?: string) => Effect.Effect<Skill, CommandError>
    readonly load: (name: string, command?: string) => Effect.Effect<SkillInstructions, CommandError>
    /** Returns the program that one of a skill's tools runs as, with words that are passed as they are. */
    readonly program: (skill: Skill, tool: SkillTool, args: ReadonlyArray<string>) => Program
    /**
     * Returns the skills as they were found last, and has them looked for again in the background where that is some time
     * ago. The same array until they change.
     */
    readonly known: () => ReadonlyArray<Skill>
  }
>() {}

/**
 * A layer of no skills.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SkillStore> = Layer.sync(SkillStore, () => {
  const none: ReadonlyArray<Skill> = []
  const unknown = (name: string, command = `skill:${name}`) =>
    UnknownCommand.make({ command, kind: "skill", name, known: [] })
  return SkillStore.of({
    list: Effect.succeed(none),
    find: unknown,
    load: unknown,
    program: (_, { path }, args) => ({ names: [path], args }),
    known: () => none
  })
})
