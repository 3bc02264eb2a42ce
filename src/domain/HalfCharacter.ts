/**
 * Finds halves of characters in text: a lone surrogate can't be written as UTF-8, so that another text would arrive.
 */

/** Matches a surrogate without its other half. */
const lone = /\p{Surrogate}/u
/** Matches a surrogate as JSON escapes it. */
const escaped = /\\u[dD][89a-fA-F]/

/** Describes the first half of a character in a text; undefined where there is none. */
export const find = (text: string): string | undefined => {
  if (text.isWellFormed()) return undefined
  const found = lone.exec(text)
  if (found === null) return undefined
  const code = found[0].charCodeAt(0).toString(16)
  return `half of a character (\\u${code}, ${found.index} in). Send the whole one, or let printf write the bytes that you mean: printf '\\xed'`
}

type Flat = Readonly<Record<string, unknown>>

/** Tests whether a value is an object that holds no other, as the arguments of most calls are. */
const isFlat = (value: unknown): value is Flat =>
  typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each !== "object")

const isWhole = (value: Flat): boolean =>
  Object.entries(value).every(
    ([name, each]) => name.isWellFormed() && (typeof each !== "string" || each.isWellFormed())
  )

/** Finds the first half of a character in a value that was parsed from that JSON text, in its keys or its texts. */
export const findInJson = (json: string, value: unknown): string | undefined => {
  if (isFlat(value) ? isWhole(value) : !escaped.test(json) && json.isWellFormed()) return undefined
  // Not by recursion, which a deep value would overflow.
  const left: Array<readonly [string, unknown]> = [["input", value]]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [name, inner] = next
    const found = typeof inner === "string" ? find(inner) : undefined
    if (found !== undefined) return `${name}: it holds ${found}`
    if (typeof inner !== "object" || inner === null) continue
    for (const [key, child] of Object.entries(inner)) {
      if (!key.isWellFormed()) return `${name}: a name in it holds ${find(key)}`
      left.push([key, child])
    }
  }
  return undefined
}
