/** Retries requests to a model. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Kind, ModelError } from "../ModelError.js"

/** The bounds of retries. Times are in ms. */
export interface Policy {
  /** The most times that a request is tried again; some kinds of errors are given up earlier. */
  readonly retries: number
  /** The wait before the first retry; each further one is twice as long, less up to a half by chance. */
  readonly first: number
  /** The longest wait that is chosen by Synapse itself. */
  readonly longest: number
  /** The longest wait that a provider may ask for. If it asks for more, the request fails at once. */
  readonly longestAsked: number
}

export const defaults: Policy = { retries: 7, first: 500, longest: 30_000, longestAsked: 120_000 }

/** A retry after `delay` milliseconds. `attempt` counts the tries so far, from 1. */
export interface Retrying {
  readonly attempt: number
  readonly delay: number
  readonly error: ModelError
}

/** The most retries by kind: a missing server will stay missing, and a timeout has cost minutes. */
const mostByKind: Partial<Record<Kind, number>> = { transport: 4, broken: 3, timeout: 1 }

/** Returns the wait before the next of `attempt` tries in ms, unless the request is given up. `chance` is random. */
export const delayOf = (
  error: ModelError,
  attempt: number,
  chance: number,
  policy: Policy = defaults
): number | undefined => {
  if (!error.isRetryable || attempt > Math.min(policy.retries, mostByKind[error.kind] ?? policy.retries)) {
    return undefined
  }
  const asked = error.retryAfter
  if (asked !== undefined) {
    // A little later, so that all who were told the same time don't come at once.
    return asked > policy.longestAsked ? undefined : Math.ceil(asked + chance * Math.min(1000, policy.first))
  }
  return Math.ceil(Math.min(policy.longest, policy.first * 2 ** (attempt - 1)) * (1 - chance / 2))
}

/** Retries a stream. `onRetry` makes the element before each further try, which voids the elements before it. */
export const stream = <A, B, R>(
  self: Stream.Stream<A, ModelError, R>,
  onRetry: (retrying: Retrying) => B,
  policy: Policy = defaults
): Stream.Stream<A | B, ModelError, R> => {
  const from = (attempt: number): Stream.Stream<A | B, ModelError, R> =>
    Stream.catchAll(self, (error) =>
      Stream.unwrap(
        Effect.map(Random.next, (chance) => {
          const delay = delayOf(error, attempt, chance, policy)
          if (delay === undefined) return Stream.fail(error)
          const retrying = onRetry({ attempt, delay, error })
          const wait = Stream.execute(Effect.sleep(delay))
          return Stream.concat(Stream.make(retrying), Stream.concat(wait, from(attempt + 1)))
        })
      )
    )
  return from(1)
}
