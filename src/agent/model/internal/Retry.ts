import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Kind, ModelError } from "../ModelError.js"

/** The limits of retries. Times are in ms. */
export interface Policy {
  /** How often a request is retried. Some kinds of errors have lower limits. */
  readonly retries: number
  /** The wait before the first retry. Each later wait is twice as long, minus a random part of up to half. */
  readonly first: number
  /** The longest wait that Synapse chooses. */
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

/** Lower limits by kind: a missing server stays missing, and a timeout has already cost minutes. */
const mostByKind: Partial<Record<Kind, number>> = { transport: 4, broken: 3, timeout: 1 }

/** Returns the wait before retry number `attempt` in ms, or undefined to give up. `chance` is random, from 0 to 1. */
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
    // Adds a random delay, so that clients with the same wait do not all come at once.
    return asked > policy.longestAsked ? undefined : Math.ceil(asked + chance * Math.min(1000, policy.first))
  }
  return Math.ceil(Math.min(policy.longest, policy.first * 2 ** (attempt - 1)) * (1 - chance / 2))
}

/** Retries a stream. Before each retry, the element from `onRetry` voids the elements before it. */
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
