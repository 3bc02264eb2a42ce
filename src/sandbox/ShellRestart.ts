/**
 * Restarts the shell of the current sandbox, by itself or before a command, in the order of the calls.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { ExecutionFailed } from "../domain/CommandError.js"
import * as Nesting from "../session/Nesting.js"
import type { Attempts } from "./Attempt.js"
import type { CurrentSandbox } from "./CurrentSandbox.js"
import type { RuntimeGrants } from "./RuntimeGrants.js"

/**
 * The dependencies of `make`.
 *
 * @since 0.1.0
 * @category models
 */
export interface RestartDoor {
  readonly attempts: Pick<Attempts, "begun" | "giveUp">
  /** The bridge by which the shell calls commands: none of these may restart the shell that waits for it. */
  readonly bridge: unknown
  readonly current: Pick<CurrentSandbox, "peek" | "retire">
  readonly grants: Pick<RuntimeGrants, "areNewer">
}

/**
 * The two ways to restart the shell.
 *
 * @since 0.1.0
 * @category models
 */
export interface ShellRestart {
  /** Ends the shell and all that it started; the next command starts a new one. */
  readonly now: Effect.Effect<void>
  /**
   * Runs what is to come after a restart. The restart begins at once, for what runs is to end; `use` takes its place in
   * the queue before that is done, so that later calls run later. By then, `restarted` restarts the shell again where
   * others that were queued have run meanwhile.
   */
  readonly before: <A, E>(
    use: (restarted: Effect.Effect<void>) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | ExecutionFailed>
}

/**
 * Makes the functions which restart the shell.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ attempts, bridge, current, grants }: RestartDoor): ShellRestart => {
  const restart = Effect.suspend(() => {
    const backend = current.peek()?.backend
    if (backend === undefined) return Effect.void
    // Its own next sandbox would be built by the policy that it began with, without what was allowed since.
    return grants.areNewer(backend) ? current.retire(backend) : backend.restart
  })
  return {
    now: Effect.suspend(() => {
      attempts.giveUp()
      return restart
    }),
    before: (use) =>
      Nesting.refuse(
        bridge,
        Effect.flatMap(Effect.zipRight(Effect.sync(attempts.giveUp), Effect.fork(restart)), (fiber) => {
          const before = attempts.begun()
          const again = Effect.suspend(() => (attempts.begun() === before ? Effect.void : restart))
          return use(Effect.zipRight(Fiber.join(fiber), again))
        })
      )
  }
}
