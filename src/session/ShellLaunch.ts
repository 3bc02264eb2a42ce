/**
 * Launches a shell, and holds its resources until the shell has ended.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { ExecutionFailed } from "../domain/CommandError.js"
import * as Shell from "./Shell.js"
import type { Launch, LaunchRequest, ShellLauncher } from "./ShellLauncher.js"

/**
 * A shell that was launched and has answered.
 *
 * @since 0.1.0
 * @category models
 */
export interface LaunchedShell {
  readonly shell: Shell.Shell
  /** Waits until the shell has ended and its launch's resources are released. */
  readonly over: Effect.Effect<void>
}

/**
 * Launches a shell. A fiber of its own keeps the launch's scope open as long as the shell lives. A launch on trial that
 * fails is repeated once.
 *
 * @since 0.1.0
 * @category constructors
 */
export const launch = (
  launcher: ShellLauncher,
  request: LaunchRequest,
  start: (launch: Launch) => Shell.StartOptions
): Effect.Effect<LaunchedShell, ExecutionFailed> =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<Shell.Shell, ExecutionFailed>()
    let isTrial = false
    const life = Effect.gen(function* () {
      const launch = yield* launcher(request)
      isTrial = launch.isTrial
      const shell = yield* Shell.start(start(launch))
      yield* Deferred.succeed(started, shell)
      yield* Effect.promise(() => shell.ended)
    }).pipe(
      Effect.scoped,
      Effect.retry({ times: 1, while: () => isTrial }),
      Effect.catchAllCause((cause) => Deferred.failCause(started, cause))
    )
    const fiber = yield* Effect.forkDaemon(life)
    const shell = yield* Deferred.await(started)
    return { shell, over: Effect.asVoid(Fiber.await(fiber)) }
  })
