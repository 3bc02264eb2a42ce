/** Checks parsed JSON for lone surrogates and for nesting that is too deep. */

const lone = /[\ud800-\udfff]/u
/** Matches an escaped surrogate. */
const escaped = /\\u[dD][89a-fA-F]/

/** Describes the first lone surrogate of a text. UTF-8 can't hold one, so a different text would arrive. */
export const findHalf = (text: string): string | undefined => {
  const found = text.isWellFormed() ? null : lone.exec(text)
  if (found === null) return undefined
  const code = found[0].charCodeAt(0).toString(16)
  return `half of a character (\\u${code}, ${found.index} in). Send the whole one, or let printf write the bytes that you mean: printf '\\xed'`
}

/**
 * Describes the first lone surrogate of a value. `json` is the text that it was parsed from. The value must not be
 * deeply nested.
 */
export const findHalfIn = (json: string, value: unknown): string | undefined => {
  if (!escaped.test(json) && json.isWellFormed()) return undefined
  let found: string | undefined
  JSON.stringify(value, (name, each: unknown) => {
    const half = typeof each === "string" ? findHalf(each) : undefined
    const inName = findHalf(name)
    if (inName !== undefined) found ??= `a name holds ${inName}`
    if (half !== undefined) found ??= `${name}: it holds ${half}`
    return each
  })
  return found
}

/** Tests the nesting of arrays and objects without recursion, which could overflow the stack. */
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
