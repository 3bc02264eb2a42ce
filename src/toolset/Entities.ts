/**
 * Finds HTML's entities where a command has an operator: `a &gt; b`, of which bash would run `a`, `gt` and `b`.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"

const characters: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&apos;": "'",
  "&#39;": "'",
  "&#x27;": "'",
  "&gt;": ">",
  "&#62;": ">",
  "&lt;": "<",
  "&#60;": "<",
  "&quot;": '"',
  "&#34;": '"'
}

const entity = /&(?:amp|apos|gt|lt|quot|#(?:34|39|60|62|x27));/g
const first = new RegExp(entity.source, "y")

/**
 * Returns the first entity that bash would take apart, and the text with the characters that all of them stand for, unless
 * that is not certain; undefined where there is none. In quotes, in comments and in here-documents, they are text.
 *
 * @since 0.1.0
 */
export const find = (text: string): { readonly entity: string; readonly decoded: string | undefined } | undefined => {
  if (text.search(entity) < 0) return undefined
  const { tokens } = CommandLine.parse(text)
  for (const [at, token] of tokens.entries()) {
    if (token._tag !== "Operator" || !token.value.endsWith("&")) continue
    first.lastIndex = token.end - 1
    const [found] = first.exec(text) ?? []
    if (found === undefined) continue
    const before = tokens[at - 1]
    // The `&` of an address is one of it: quotes are missing besides.
    const isAddress = before?._tag === "Word" && before.end === token.start && before.value.includes("://")
    const decoded = text.replace(entity, (each) => characters[each] ?? each)
    return { entity: found, decoded: isAddress || decoded.length > longest ? undefined : decoded }
  }
  return undefined
}

/** The most characters of a text that is written again. */
const longest = 10_000
