/** Calls what may throw. */

/** Returns what a function returns, or the fallback where it throws. */
export const orElse = <A, B>(attempt: () => A, fallback: B): A | B => {
  try {
    return attempt()
  } catch {
    return fallback
  }
}

/** Returns what a function returns; undefined where it throws. */
export const orUndefined = <A>(attempt: () => A): A | undefined => orElse(attempt, undefined)

/** Calls a function, whether or not it throws. */
export const ignore = (attempt: () => unknown): void => {
  try {
    attempt()
  } catch {
    // As it was asked for.
  }
}
