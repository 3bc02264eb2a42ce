/** Keeps the sandbox that commands run in at present: makes it when it is needed, ends it, and replaces it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { ExecutionFailed } from "../../domain/CommandError.js"
import type { SandboxBackend } from "../SandboxBackend.js"

/** The effects which create and destroy one sandbox. */
export interface Plan {
  readonly create: Effect.Effect<SandboxBackend, ExecutionFailed>
  readonly destroy: (backend: SandboxBackend) => Effect.Effect<void>
}

/** A place for at most one sandbox at a time. */
export interface CurrentSandbox {
  /** Returns the sandbox that is there, and its directory; undefined where there is none. */
  readonly peek: () => { readonly cwd: string; readonly backend: SandboxBackend } | undefined
  /** Returns the sandbox for a directory; makes it where there is none, and ends that of any other directory first. */
  readonly get: (cwd: string) => Effect.Effect<SandboxBackend, ExecutionFailed>
  /** Runs `change`; unless it fails, ends a sandbox that enforces a policy and makes another for the same directory. */
  readonly rebuild: (change: Effect.Effect<unknown, ExecutionFailed>) => Effect.Effect<void, ExecutionFailed>
  /** Ends this sandbox, unless another has taken its place already; calls `ending` just before it does. */
  readonly retire: (backend: SandboxBackend, ending?: () => void) => Effect.Effect<void>
  /** Ends the sandbox that is there, if there is one. */
  readonly shutdown: Effect.Effect<void>
  /** Ends it for good: `get` fails with ExecutionFailed from then on. */
  readonly close: Effect.Effect<void>
}

/**
 * Makes a place for a sandbox; it is empty at first.
 *
 * @param plan returns the effects for a directory's sandbox, by the settings as of now
 */
export const make = (plan: (cwd: string) => Effect.Effect<Plan, ExecutionFailed>): CurrentSandbox => {
  /** Held by whoever makes or ends the sandbox. */
  const turn = Effect.unsafeMakeSemaphore(1)
  let isClosed = false
  let current: { readonly cwd: string; readonly backend: SandboxBackend; readonly end: Effect.Effect<void> } | undefined

  /**
   * Creates a sandbox in a fiber of its own, so that whoever waits for it can be interrupted; if it is created all the
   * same, it is destroyed.
   */
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
        if (isClosed) return yield* new ExecutionFailed({ kind: "shell", reason: "the session has ended" })
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
    shutdown: turn.withPermits(1)(end),
    close: Effect.suspend(() => {
      isClosed = true
      return turn.withPermits(1)(end)
    })
  }
}
