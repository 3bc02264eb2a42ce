/** Looks for files' definitions, and refreshes old results in the background. */
import { isDeepStrictEqual } from "node:util"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Yield from "../../domain/Yield.js"

interface Lookout<A> {
  readonly look: Effect.Effect<A>
  /** Returns the last result, which stays the same value until it changes. */
  readonly known: () => A
}

/** The time between two looks: at least this many milliseconds, and this many times the duration of the last look. */
const pause = { least: 1000, times: 50 }

export const make = <A>(initial: A, steps: () => Yield.Steps<A>): Effect.Effect<Lookout<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    let found = initial
    /** The time from which `known` looks again. */
    let next = 0
    const scope = yield* Effect.scope
    const runtime = yield* Effect.runtime()
    const look = Effect.map(Yield.run(steps), (now) => {
      if (!isDeepStrictEqual(now, found)) found = now
      return found
    })
    const refresh = Effect.map(Effect.timed(look), ([time]) => {
      next = performance.now() + Math.max(pause.least, Duration.toMillis(time) * pause.times)
    })
    return {
      look,
      known: () => {
        if (performance.now() >= next) {
          next = Number.POSITIVE_INFINITY
          Runtime.runFork(runtime)(refresh, { immediate: false, scope })
        }
        return found
      }
    }
  })
