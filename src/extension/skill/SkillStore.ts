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
 * A skill, from the front matter of its `SKILL.md`. All texts are untrusted, so escape control characters before
 * showing them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skill {
  /** The name of its directory. */
  readonly name: string
  /** The name in its front matter, if it differs. The skill is also found by this name. */
  readonly title?: string
  readonly description: string
  readonly directory: string
  /** `project` for a skill of the working directory, `home` for one of the user. */
  readonly source: "project" | "home"
  /** The programs in its `scripts`. */
  readonly tools: ReadonlyArray<SkillTool>
  /** Why it can't be used, or which part was ignored. */
  readonly problem?: string
  /** The directories of other skills with the same name, which this one hides. */
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
   * The path of its file below `scripts`, with `:` for each `/`, which a command's name can't hold. It lacks the
   * extension if that is unambiguous.
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
 * Finds skills by name. An unknown name fails with CommandNotFound, which names the nearest.
 *
 * @since 0.1.0
 * @category tags
 */
export class SkillStore extends Context.Tag("synapse/SkillStore")<
  SkillStore,
  {
    /** Returns all skills, sorted by name. A skill of the project hides one of the same name in the home. */
    readonly list: Effect.Effect<ReadonlyArray<Skill>>
    /** Finds a skill. Errors name the command, which is `skill:<name>` by default. */
    readonly find: (name: string, command?: string) => Effect.Effect<Skill, CommandError>
    readonly load: (name: string, command?: string) => Effect.Effect<SkillInstructions, CommandError>
    /** Returns the program that runs one of a skill's tools. `args` are passed unchanged. */
    readonly program: (skill: Skill, tool: SkillTool, args: ReadonlyArray<string>) => Program
    /**
     * Returns the skills found last, and refreshes them in the background if they are old. Returns the same array until
     * they change.
     */
    readonly known: () => ReadonlyArray<Skill>
  }
>() {}

/**
 * A layer without skills.
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
