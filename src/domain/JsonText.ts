/**
 * JSON that people write: read strictly, and changed without losing what the change is not about.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"

/**
 * @since 0.1.0
 * @category models
 */
export interface Flaw {
  /** Where in the value, as `policy.filesystem`; empty where the text is no JSON at all. */
  readonly path: string
  readonly reason: string
}

const byteOrderMark = "\ufeff"
const deepest = 200

/** `policy.filesystem.whitelist[0]` */
export const showPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((shown, key) => {
    if (typeof key === "number") return `${shown}[${key}]`
    const name = String(key)
    return /^[\w$-]+$/.test(name) ? `${shown}${shown === "" ? "" : "."}${name}` : `${shown}[${JSON.stringify(name)}]`
  }, "")

interface Place {
  /** The names so far; undefined for an array. */
  readonly names: Set<string> | undefined
  key: string | number
}

interface Token {
  readonly start: number
  readonly text: string
}

/** The strings, numbers, words and marks of a text that is JSON. */
function* tokens(text: string): Generator<Token> {
  for (let at = 0; at < text.length; ) {
    const start = at
    const char = text[at] ?? ""
    if (char === '"') {
      do {
        at = text.indexOf('"', at + 1)
      } while (isEscaped(text, at))
      at++
    } else if (/[\s{}[\],:]/.test(char)) at++
    else while (at < text.length && !/[\s{}[\],:]/.test(text[at] ?? "")) at++
    if (!/\s/.test(char)) yield { start, text: text.slice(start, at) }
  }
}

const isEscaped = (text: string, quote: number): boolean => {
  let slashes = 0
  while (text[quote - 1 - slashes] === "\\") slashes++
  return slashes % 2 === 1
}

/** What `JSON.parse` passes over in silence: one of two values under the same name. */
const findFlaw = (text: string): Flaw | undefined => {
  const places: Array<Place> = []
  const path = () => showPath(places.map(({ key }) => key))
  let last = ""
  for (const token of tokens(text)) {
    const place = places.at(-1)
    if (token.text === "{" || token.text === "[") {
      if (places.length === deepest) return { path: "", reason: `it is nested deeper than ${deepest} levels` }
      places.push(token.text === "{" ? { names: new Set(), key: "" } : { names: undefined, key: 0 })
    } else if (token.text === "}" || token.text === "]") places.pop()
    else if (token.text === "," && typeof place?.key === "number") place.key++
    else if (token.text === ":" && place?.names !== undefined) {
      place.key = JSON.parse(last)
      if (place.names.has(String(place.key))) return { path: path(), reason: "the name stands here twice" }
      place.names.add(String(place.key))
    }
    last = token.text
  }
  return undefined
}

const explain = (text: string, error: unknown): Flaw => {
  const message = error instanceof Error ? error.message : String(error)
  if (text.trim() === "") return { path: "", reason: "it is empty, which is no JSON" }
  const position = /position (\d+)/.exec(message)?.[1]
  if (position === undefined) return { path: "", reason: `it is no JSON: ${message}` }
  const before = text.slice(0, Number(position)).split("\n")
  return {
    path: "",
    reason: `it is no JSON: ${message} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
  }
}

/**
 * Reads a value, with or without a byte order mark before it. A name that stands twice in an object is refused.
 *
 * @since 0.1.0
 */
export const parse = (text: string): Either.Either<unknown, Flaw> => {
  const json = text.startsWith(byteOrderMark) ? text.slice(1) : text
  return Either.try({ try: (): unknown => JSON.parse(json), catch: (error) => explain(json, error) }).pipe(
    Either.flatMap((value) => {
      const flaw = findFlaw(json)
      return flaw === undefined ? Either.right(value) : Either.left(flaw)
    })
  )
}

/** Stands before a number, in a string, while the number is kept from being read. */
const unusedMark = (text: string): string => {
  let mark = "#"
  while (text.includes(mark)) mark += "#"
  return mark
}

const isNumber = (token: string): boolean => /^-?\d/.test(token)

/**
 * The text of a value that `parse` takes, with the value changed: its indentation, its byte order mark, its end of line and
 * numbers that JavaScript can't hold stay.
 *
 * @since 0.1.0
 */
export const edit = (text: string, change: (value: unknown) => unknown): string => {
  const start = text.startsWith(byteOrderMark) ? byteOrderMark : ""
  const mark = unusedMark(text)
  let kept = ""
  let end = start.length
  for (const token of tokens(text.slice(start.length))) {
    if (!isNumber(token.text) || String(Number(token.text)) === token.text) continue
    kept += `${text.slice(end, start.length + token.start)}"${mark}${token.text}"`
    end = start.length + token.start + token.text.length
  }
  const value = change(JSON.parse(kept + text.slice(end)))
  const indentation = /\n([ \t]+)"/.exec(text)?.[1] ?? "  "
  const changed = JSON.stringify(value, undefined, indentation).replaceAll(
    new RegExp(`"${mark}(-?\\d[^"]*)"`, "g"),
    "$1"
  )
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n"
  return `${start}${changed.replaceAll("\n", lineEnd)}${lineEnd}`
}
