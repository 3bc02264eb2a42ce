/**
 * Runs sub-agents: other agents that do a task of their own, and answer with a text.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Blocked, type CommandError, ExecutionFailed } from "../domain/CommandError.js"

/**
 * A type of sub-agents.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentType {
  /** The name after `task:`. */
  readonly name: string
  /** What it is for, in one line of its author's: who shows it makes control characters harmless. */
  readonly description: string
  /** True where the sandbox lets it write nowhere but to temporary files of its own. */
  readonly isReadOnly: boolean
  /** The place of its definition: `built in`, or a file of the project's or of the user's. */
  readonly source: "built in" | "project" | "home"
  /** False where its file can't be used. */
  readonly isUsable: boolean
  /** Why it can't be used, or what of its file was ignored; it may hold words of its author's. */
  readonly problem?: string
}

/**
 * A task for a sub-agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentTask {
  readonly prompt: string
  /** What it does, in a few words, for who watches it. */
  readonly description: string
  /** The name of a model, in place of its type's or the provider's default. */
  readonly model?: string | undefined
  /** The most turns that it may take, within those that the settings allow. */
  readonly maxTurns?: number | undefined
  /** The skills whose instructions it begins with. */
  readonly skills?: ReadonlyArray<string>
  /** The directory that it starts in; by default, that of its parent's first shell. */
  readonly cwd?: string | undefined
}

/**
 * Runs sub-agents.
 *
 * @since 0.1.0
 * @category tags
 */
export class SubAgentManager extends Context.Tag("synapse/SubAgentManager")<
  SubAgentManager,
  {
    /** False where no task can be run, so that no list names the commands: within a sub-agent, or without a provider. */
    readonly isOffered: boolean
    /**
     * Returns the types as they were found last, sorted by name, and has them looked for again in the background where
     * that is some time ago. The same array until they change.
     */
    readonly types: () => ReadonlyArray<SubAgentType>
    /** Looks for the types anew. */
    readonly look: Effect.Effect<ReadonlyArray<SubAgentType>>
    /** Fails as `execute` does for a type that it can't run. */
    readonly check: (type: string) => Effect.Effect<void, CommandError>
    /**
     * Runs a sub-agent of a type to its end, and returns its final text. Interruption ends its model's request and its
     * commands. Fails with CommandNotFound for an unknown type, with Blocked within a sub-agent, and with
     * ExecutionFailed where no provider is set or where the run failed; its `stdout` then holds what was done so far.
     */
    readonly execute: (type: string, task: SubAgentTask) => Effect.Effect<string, CommandError>
  }
>() {}

/** The rule that a nested task is denied by. */
const nesting = "no tasks within tasks"

const refusing = (refuse: (type: string) => Effect.Effect<never, CommandError>): Layer.Layer<SubAgentManager> =>
  Layer.sync(SubAgentManager, () => {
    const none: ReadonlyArray<SubAgentType> = []
    return SubAgentManager.of({
      isOffered: false,
      types: () => none,
      look: Effect.succeed(none),
      check: refuse,
      execute: refuse
    })
  })

/**
 * A layer of the manager of a sub-agent's own app, which starts no further ones.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNested: Layer.Layer<SubAgentManager> = refusing((type) =>
  Effect.suspend(
    () =>
      new Blocked({
        resource: `task:${type}`,
        rule: nesting,
        reason: "a sub-agent starts no further ones; do the work yourself, with other commands"
      })
  )
)

/**
 * A layer without sub-agents.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SubAgentManager> = refusing(() =>
  Effect.suspend(
    () =>
      new ExecutionFailed({ kind: "io", reason: "Task commands require a SubAgentManager, and this program has none." })
  )
)
