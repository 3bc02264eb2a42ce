/** Looks at how deep arrays and objects are nested. */

/**
 * Tests whether arrays and objects are nested deeper than so many levels, without a recursion that could overflow the
 * stack.
 */
export const isDeeperThan = (value: unknown, levels: number): boolean => {
  const left: Array<readonly [value: unknown, depth: number]> = [[value, 1]]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [at, depth] = next
    if (typeof at !== "object" || at === null) continue
    if (depth > levels) return true
    for (const each of Object.values(at)) left.push([each, depth + 1])
  }
  return false
}
