/** Keeps started shells, each for the next program that would start an identical one. */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** The most shells at a time. */
const most = 8

/** How long a shell is kept, in ms. It limits the age of what a shell found at its start. */
const longestKept = 300_000

/** The delay, in ms, before a shell is started after a program found none: that program starts first. */
const patience = 250

/** How a shell starts. */
export interface Request<A, E> {
  /** Everything that the start depends on, as text. Shells with the same key are identical. */
  readonly key: string
  /** Makes its services. While they end, it calls `onQuiet` as soon as none of its processes can run any more. */
  readonly layer: (onQuiet: () => void) => Layer.Layer<A, E>
  /** Gives an effect what the shell inherits. */
  readonly within: <B, E2, R>(effect: Effect.Effect<B, E2, R>) => Effect.Effect<B, E2, R>
  /** Starts the shell when its services exist, and runs nothing else. */
  readonly start: Effect.Effect<unknown, unknown, A>
}

interface Shell<A> {
  readonly scope: Scope.CloseableScope
  readonly opening: Fiber.Fiber<Context.Context<A>, unknown>
  /** Done, while the shell ends, as soon as none of its processes can run any more. */
  readonly quiet: Deferred.Deferred<void>
}

export interface ReadyShells<A, E> {
  /**
   * Takes the matching shell, which ends with the scope, and then starts the next one. Returns undefined if there is
   * none.
   */
  readonly take: (request: Request<A, E>) => Effect.Effect<Context.Context<A> | undefined, never, Scope.Scope>
  /** Ends all kept shells. */
  readonly clear: Effect.Effect<void>
  readonly isEmpty: () => boolean
}

/**
 * Makes the shells, which end with the scope.
 *
 * @param onEnd called after a shell has ended
 */
export const make = <A, E>(onEnd: () => void): Effect.Effect<ReadyShells<A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const end = ({ opening, quiet, scope }: Shell<A>) =>
      Fiber.interrupt(opening).pipe(
        Effect.zipRight(Scope.close(scope, Exit.void)),
        Effect.zipRight(Deferred.succeed(quiet, undefined)),
        Effect.zipRight(Effect.sync(onEnd)),
        Effect.uninterruptible
      )
    const shells = yield* Effect.acquireRelease(
      Effect.sync(() => new Map<string, Shell<A>>()),
      () => clear
    )
    const fork = yield* FiberSet.makeRuntime<never>()
    /** Counts taken shells that are ending, until their successors are started. */
    let ending = 0
    /** Counts calls of `clear`. A shell that was taken before the last one gets no successor. */
    let cleared = 0

    const remove = (key: string, shell: Shell<A>) => shells.get(key) === shell && shells.delete(key)

    const drop = (key: string, shell: Shell<A>) => Effect.suspend(() => (remove(key, shell) ? end(shell) : Effect.void))

    const clear: Effect.Effect<void> = Effect.suspend(() => {
      cleared++
      return Effect.forEach([...shells], ([key, shell]) => drop(key, shell), {
        concurrency: "unbounded",
        discard: true
      })
    })

    const keep = ({ key, layer, start, within }: Request<A, E>, delay: number): Effect.Effect<void> =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const quiet = yield* Deferred.make<void>()
        const services = layer(() => Deferred.unsafeDone(quiet, Effect.void))
        const opened = Effect.tap(Layer.buildWithScope(services, scope), (context) => Effect.provide(start, context))
        const shell = { scope, opening: fork(Effect.delay(within(opened), delay)), quiet }
        const [oldest] = shells
        shells.set(key, shell)
        if (oldest !== undefined && shells.size > most) yield* drop(...oldest)
        const exit = yield* Fiber.await(shell.opening)
        if (Exit.isSuccess(exit)) yield* Effect.sleep(longestKept)
        yield* drop(key, shell)
      })

    const make = (request: Request<A, E>, delay: number) =>
      Effect.sync(() => {
        if (!shells.has(request.key)) fork(keep(request, delay))
      })

    return {
      take: (request) =>
        Effect.gen(function* () {
          const shell = shells.get(request.key)
          if (shell === undefined) {
            yield* make(request, patience)
            return undefined
          }
          const exit = yield* Fiber.await(shell.opening)
          const before = cleared
          const isTaken = yield* Effect.acquireRelease(
            Effect.sync(() => Exit.isSuccess(exit) && remove(request.key, shell)),
            (isTaken) =>
              Effect.suspend(() => {
                if (!isTaken) return Effect.void
                ending++
                const next = Effect.zipRight(
                  Effect.suspend(() => (cleared === before ? make(request, 0) : Effect.void)),
                  Effect.sync(() => {
                    ending--
                    onEnd()
                  })
                )
                fork(Effect.zipRight(end(shell), next))
                return Deferred.await(shell.quiet)
              })
          )
          return isTaken && Exit.isSuccess(exit) ? exit.value : undefined
        }),
      clear,
      isEmpty: () => shells.size === 0 && ending === 0
    }
  })
