/**
 * Runs sub-agents: other agents that do a task and answer with a text.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Blocked, type CommandError, ExecutionFailed } from "../domain/CommandError.js"

/**
 * A type of sub-agent.
 *
 * @since 0.1.0
 * @category models
 */
export interface SubAgentType {
  /** The name after `task:`. */
  readonly name: string
  /** The purpose in one line. It is untrusted text, so escape control characters before showing it. */
  readonly description: string
  /** True if its sandbox allows it to write only to its own temporary files. */
  readonly isReadOnly: boolean
  /** Where it is defined: `built in`, or in a file of the project or of the user. */
  readonly source: "built in" | "project" | "home"
  /** False if its file can't be used. */
  readonly isUsable: boolean
  /** Why it can't be used, or what in its file was ignored. It may contain untrusted text. */
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
  /** The task in a few words, for people who watch. */
  readonly description: string
  /** The name of a model. By default, the one of the type or the provider. */
  readonly model?: string | undefined
  /** The most turns, within the limit of the settings. */
  readonly maxTurns?: number | undefined
  /** The skills whose instructions come first. */
  readonly skills?: ReadonlyArray<string>
  /** The directory that it starts in. By default, that of its parent's first shell. */
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
    /** False if no task can run, within a sub-agent or without a provider. Lists then leave out the commands. */
    readonly isOffered: boolean
    /**
     * Returns the types found last, sorted by name, and refreshes them in the background if they are old. Returns the
     * same array until they change.
     */
    readonly types: () => ReadonlyArray<SubAgentType>
    /** Looks for the types now. */
    readonly look: Effect.Effect<ReadonlyArray<SubAgentType>>
    /** Fails as `execute` does for a type that can't run. */
    readonly check: (type: string) => Effect.Effect<void, CommandError>
    /**
     * Runs a sub-agent of a type to its end, and returns its final text. Interruption ends its model request and its
     * commands. Fails with CommandNotFound for an unknown type, and with Blocked within a sub-agent. Fails with
     * ExecutionFailed if there is no provider or the run failed; `stdout` then holds the work done so far.
     */
    readonly execute: (type: string, task: SubAgentTask) => Effect.Effect<string, CommandError>
  }
>() {}

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
 * A layer for a sub-agent's own app, which refuses to start further sub-agents.
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
