/** Looks for what files define, and again in the background where the last look is some time ago. */
import { isDeepStrictEqual } from "node:util"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Yield from "../../domain/Yield.js"

interface Lookout<A> {
  /** Looks now. */
  readonly look: Effect.Effect<A>
  /** Returns what was found last. It is the same value until that changes. */
  readonly known: () => A
}

/** Milliseconds that nobody looks again after a look, and how many times longer than it took: it never matters. */
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
