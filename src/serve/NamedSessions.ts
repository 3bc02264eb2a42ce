/** Keeps sessions by name, until they are stopped or have been idle for too long. */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/** The most sessions at a time. */
const most = 100

/** How a session is opened. */
export interface Request<A, E> {
  readonly directory: string
  /** The options as text; undefined for a client that accepts any. */
  readonly options: string | undefined
  readonly layer: Layer.Layer<A, E>
  /** Gives an effect what the session inherits from its first client. */
  readonly within: <B, E2, R>(effect: Effect.Effect<B, E2, R>) => Effect.Effect<B, E2, R>
}

interface Session<A, E> extends Request<A, E> {
  readonly scope: Scope.CloseableScope
  readonly opening: Fiber.Fiber<Context.Context<A>, E>
  /** The number of its running and waiting commands. */
  running: number
  /** When its last command ended. */
  since: number
}

/** A session in a list. */
export interface Listed {
  readonly name: string
  readonly directory: string
  readonly running: number
  /** Milliseconds since its last command ended; 0 while one runs. */
  readonly idle: number
}

/** Says why a client can't use a session. */
export class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

export interface NamedSessions<A, E> {
  /** Runs an effect in the session of a name, and opens the session if needed. */
  readonly use: <B>(
    name: string,
    request: Request<A, E>,
    effect: Effect.Effect<B, E, A>
  ) => Effect.Effect<B, E | Refused>
  /** Ends a session with its command and everything that it started. Returns false if there is no such session. */
  readonly stop: (name: string) => Effect.Effect<boolean>
  readonly list: Effect.Effect<ReadonlyArray<Listed>>
  readonly isEmpty: () => boolean
}

/**
 * Makes the sessions, which end with the scope.
 *
 * @param limit how long a session without a running command is kept, in ms
 * @param onEnd called after a session has ended
 */
export const make = <A, E>(limit: number, onEnd: () => void): Effect.Effect<NamedSessions<A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sessions = yield* Effect.acquireRelease(
      Effect.sync(() => new Map<string, Session<A, E>>()),
      (all) => Effect.forEach([...all.values()], ({ scope }) => Scope.close(scope, Exit.void), { concurrency: 8 })
    )
    const fork = yield* FiberSet.makeRuntime<never>()

    const end = (name: string, session: Session<A, E>): Effect.Effect<void> => {
      if (sessions.get(name) === session) sessions.delete(name)
      return Effect.zipRight(Scope.close(session.scope, Exit.void), Effect.sync(onEnd))
    }

    /** Ends a session after its idle limit. */
    const expire = (name: string, session: Session<A, E>): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (sessions.get(name) !== session) return Effect.void
        const left = session.running > 0 ? limit : session.since + limit - now
        return left <= 0
          ? end(name, session)
          : Effect.zipRight(
              Effect.sleep(left),
              Effect.suspend(() => expire(name, session))
            )
      })

    const open = (name: string, request: Request<A, E>): Effect.Effect<Session<A, E>> =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        // In a separate fiber, because others may wait for the session after its first client has left.
        const opening = fork(request.within(Layer.buildWithScope(request.layer, scope)))
        const session: Session<A, E> = { ...request, scope, opening, running: 0, since: 0 }
        sessions.set(name, session)
        opening.addObserver((exit) => void fork(Exit.isSuccess(exit) ? expire(name, session) : end(name, session)))
        return session
      })

    const find = (name: string, request: Request<A, E>): Effect.Effect<Session<A, E>, Refused> => {
      const session = sessions.get(name)
      if (session === undefined) {
        return sessions.size < most
          ? open(name, request)
          : new Refused({ message: `${most} sessions are open. End one: synapse daemon stop NAME.` })
      }
      const { options = session.options } = request
      return options === session.options
        ? Effect.succeed(session)
        : new Refused({
            message: `The session ${name} was opened with other options: leave them out, or end it first with synapse daemon stop ${name}.`
          })
    }

    return {
      use: (name, request, effect) =>
        Effect.acquireUseRelease(
          Effect.tap(
            Effect.suspend(() => find(name, request)),
            (session) =>
              Effect.sync(() => {
                session.running++
              })
          ),
          ({ opening, within }) =>
            Effect.flatMap(Fiber.join(opening), (context) => Effect.provide(within(effect), context)),
          (session) =>
            Effect.map(Clock.currentTimeMillis, (now) => {
              session.running--
              session.since = now
            })
        ),
      stop: (name) =>
        Effect.suspend(() => {
          const session = sessions.get(name)
          return session === undefined ? Effect.succeed(false) : Effect.as(end(name, session), true)
        }),
      list: Effect.map(Clock.currentTimeMillis, (now) =>
        [...sessions].map(([name, { directory, running, since }]) => ({
          name,
          directory,
          running,
          idle: running > 0 ? 0 : now - since
        }))
      ),
      isEmpty: () => sessions.size === 0
    }
  })
