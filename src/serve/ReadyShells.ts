/** Keeps shells that have started already, each for the next program that would start one just like it. */
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** The most shells that are kept at a time. */
const most = 8

/** Milliseconds for which one is kept: what it has found at its start is not older for a command. */
const longestKept = 300_000

/** Milliseconds until one is made for a program that goes on without: it takes that program's time too. */
const patience = 250

/** How a shell starts. */
export interface Request<A, E> {
  /** What it starts from, as text: shells of the same text are alike. */
  readonly key: string
  /** Makes its services; calls `onQuiet` at its end as soon as nothing of it can run any more. */
  readonly layer: (onQuiet: () => void) => Layer.Layer<A, E>
  /** Gives an effect what the shell inherits. */
  readonly within: <B, E2, R>(effect: Effect.Effect<B, E2, R>) => Effect.Effect<B, E2, R>
  /** Starts it, once its services are there, and runs nothing else. */
  readonly start: Effect.Effect<unknown, unknown, A>
}

interface Shell<A> {
  readonly scope: Scope.CloseableScope
  readonly opening: Fiber.Fiber<Context.Context<A>, unknown>
  /** Done at its end, as soon as nothing of it can run any more. */
  readonly quiet: Deferred.Deferred<void>
}

export interface ReadyShells<A, E> {
  /**
   * Takes the shell that is as the request says, which ends with the scope; undefined where there is none. The next one is
   * made afterwards.
   */
  readonly take: (request: Request<A, E>) => Effect.Effect<Context.Context<A> | undefined, never, Scope.Scope>
  /** Ends those that are kept. */
  readonly clear: Effect.Effect<void>
  readonly isEmpty: () => boolean
}

/**
 * Makes the shells, which end with the scope.
 *
 * @param onEnd called when one has ended
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
    /** The number of those that were taken, and that the next has not followed yet. */
    let ending = 0

    const remove = (key: string, shell: Shell<A>) => shells.get(key) === shell && shells.delete(key)

    const drop = (key: string, shell: Shell<A>) => Effect.suspend(() => (remove(key, shell) ? end(shell) : Effect.void))

    const clear: Effect.Effect<void> = Effect.suspend(() =>
      Effect.forEach([...shells], ([key, shell]) => drop(key, shell), { concurrency: "unbounded", discard: true })
    )

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
          const isOurs = yield* Effect.acquireRelease(
            Effect.sync(() => Exit.isSuccess(exit) && remove(request.key, shell)),
            (isOurs) =>
              Effect.suspend(() => {
                if (!isOurs) return Effect.void
                ending++
                const next = Effect.zipRight(
                  make(request, 0),
                  Effect.sync(() => void ending--)
                )
                fork(Effect.zipRight(end(shell), next))
                return Deferred.await(shell.quiet)
              })
          )
          return isOurs && Exit.isSuccess(exit) ? exit.value : undefined
        }),
      clear,
      isEmpty: () => shells.size === 0 && ending === 0
    }
  })
