/** Returns what the function returns, or the fallback if it throws. */
export const orElse = <A, B>(attempt: () => A, fallback: B): A | B => {
  try {
    return attempt()
  } catch {
    return fallback
  }
}

/** Returns what the function returns, or undefined if it throws. */
export const orUndefined = <A>(attempt: () => A): A | undefined => orElse(attempt, undefined)

/** Calls a function and ignores what it throws. */
export const ignore = (attempt: () => unknown): void => {
  try {
    attempt()
  } catch {}
}
