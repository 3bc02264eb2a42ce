/**
 * The sandbox that commands run in for now: made when there is need of it, ended, and followed by another.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { ExecutionFailed } from "../domain/CommandError.js"
import type { SandboxBackend } from "./SandboxBackend.js"

/**
 * How one sandbox is made and ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  readonly create: Effect.Effect<SandboxBackend, ExecutionFailed>
  readonly destroy: (backend: SandboxBackend) => Effect.Effect<void>
}

/**
 * At most one sandbox at a time.
 *
 * @since 0.1.0
 * @category models
 */
export interface CurrentSandbox {
  /** The one that is there. */
  readonly peek: () => { readonly cwd: string; readonly backend: SandboxBackend } | undefined
  /** The one for a directory: made where it is not there. */
  readonly get: (cwd: string) => Effect.Effect<SandboxBackend, ExecutionFailed>
  /** Makes one anew where there is one that enforces a policy, unless the change before it fails. */
  readonly rebuild: (change: Effect.Effect<unknown, ExecutionFailed>) => Effect.Effect<void, ExecutionFailed>
  /** Ends that one, unless another has taken its place by now; says so before it does. */
  readonly retire: (backend: SandboxBackend, ending?: () => void) => Effect.Effect<void>
  /** Ends the one that is there. */
  readonly shutdown: Effect.Effect<void>
}

/**
 * Makes the place for a sandbox, where there is none yet.
 *
 * @param plan what to make a directory's sandbox with, as of now
 * @since 0.1.0
 * @category constructors
 */
export const make = (plan: (cwd: string) => Effect.Effect<Plan, ExecutionFailed>): CurrentSandbox => {
  /** For whoever makes or ends it. */
  const turn = Effect.unsafeMakeSemaphore(1)
  let current: { readonly cwd: string; readonly backend: SandboxBackend; readonly end: Effect.Effect<void> } | undefined

  /** Made by a fiber of its own: whoever waits may be interrupted, and what comes of it all the same is ended. */
  const open = ({ create, destroy }: Plan) =>
    Effect.flatMap(Effect.forkDaemon(create), (fiber) =>
      Effect.onInterrupt(Effect.interruptible(Fiber.join(fiber)), () =>
        Effect.forkDaemon(
          Effect.flatMap(Fiber.interrupt(fiber), (exit) => (Exit.isSuccess(exit) ? destroy(exit.value) : Effect.void))
        )
      )
    )

  const create = (cwd: string): Effect.Effect<SandboxBackend, ExecutionFailed> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const planned = yield* restore(plan(cwd))
        const backend = yield* open(planned)
        current = { cwd, backend, end: planned.destroy(backend) }
        return backend
      })
    )

  const end = Effect.uninterruptible(
    Effect.suspend(() => {
      const ending = current
      current = undefined
      return ending === undefined ? Effect.void : ending.end
    })
  )

  return {
    peek: () => current,
    get: (cwd) =>
      Effect.suspend(() => {
        if (current?.cwd === cwd) return Effect.succeed(current.backend)
        return turn.withPermits(1)(
          Effect.suspend(() =>
            current?.cwd === cwd ? Effect.succeed(current.backend) : Effect.zipRight(end, create(cwd))
          )
        )
      }),
    rebuild: (change) =>
      turn.withPermits(1)(
        Effect.flatMap(change, () =>
          current?.backend.policy === undefined ? Effect.void : Effect.zipRight(end, create(current.cwd))
        )
      ),
    retire: (backend, ending) =>
      turn.withPermits(1)(
        Effect.suspend(() => {
          if (current?.backend !== backend) return Effect.void
          ending?.()
          return end
        })
      ),
    shutdown: turn.withPermits(1)(end)
  }
}
