/** Parses JSON files strictly, and edits them without changing anything else in the text. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { applyEdits, modify } from "jsonc-parser"
import * as Yield from "./Yield.js"

export interface Flaw {
  /** The path of the value, as `policy.filesystem`. Empty if the text is not JSON. */
  readonly path: string
  readonly reason: string
}

const byteOrderMark = "\ufeff"
const deepest = 200
/**
 * Matches a line that is too long to format: the time grows with the square of its length. People do not write such
 * lines.
 */
const longLine = /[^\n]{5000}/

/** Writes the path of a value, as `policy.filesystem.whitelist[0]`. */
export const showPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((before, key) => {
    if (typeof key === "number") return `${before}[${key}]`
    const name = String(key)
    return /^[\w$-]+$/.test(name) ? `${before}${before === "" ? "" : "."}${name}` : `${before}[${JSON.stringify(name)}]`
  }, "")

/** The number of signs and strings between two yields. */
const stride = 10_000

/** An array or object around the position: its names so far, and the index or name of the current value. */
interface Open {
  readonly names: Set<string> | undefined
  key: string | number
}

/** Finds what `JSON.parse` accepts silently: a name that occurs twice, and nesting that is too deep. */
function* findFlaw(json: string): Yield.Steps<Flaw | undefined> {
  const around: Array<Open> = []
  // Everything between strings and these signs is a number, a literal or white space.
  const sign = /["[\]{},:]/g
  let isName = false
  for (let passed = 1, found = sign.exec(json); found !== null; found = sign.exec(json), passed++) {
    const open = around.at(-1)
    switch (found[0]) {
      case "[":
      case "{":
        if (around.length === deepest) return { path: "", reason: `it is nested deeper than ${deepest} levels` }
        isName = found[0] === "{"
        around.push({ names: isName ? new Set() : undefined, key: isName ? "" : 0 })
        break
      case "]":
      case "}":
        around.pop()
        break
      case ",":
        isName = open?.names !== undefined
        if (typeof open?.key === "number") open.key++
        break
      case '"': {
        sign.lastIndex = endOfString(json, sign.lastIndex)
        if (!isName || open?.names === undefined) break
        open.key = JSON.parse(json.slice(found.index, sign.lastIndex)) as string
        if (open.names.has(open.key)) {
          return { path: showPath(around.map(({ key }) => key)), reason: "the name stands here twice" }
        }
        open.names.add(open.key)
        isName = false
      }
    }
    if (passed % stride === 0) yield
  }
  return undefined
}

/** Returns the index behind the string that begins before `from`. */
export const endOfString = (json: string, from: number): number => {
  for (let quote = json.indexOf('"', from); ; quote = json.indexOf('"', quote + 1)) {
    let start = quote
    while (json[start - 1] === "\\") start--
    if ((quote - start) % 2 === 0) return quote + 1
  }
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

/** Parses a text with or without a byte order mark. Refuses comments, and a name that occurs twice in an object. */
export const parse = (text: string): Either.Either<unknown, Flaw> => Yield.now(steps(text))

/** Parses like `parse`, yielding in between. */
export function* steps(text: string): Yield.Steps<Either.Either<unknown, Flaw>> {
  const json = text.startsWith(byteOrderMark) ? text.slice(1) : text
  const parsed = Either.try({ try: (): unknown => JSON.parse(json), catch: (error) => explain(json, error) })
  if (Either.isLeft(parsed)) return parsed
  if (json.length > stride) yield
  const flaw = yield* findFlaw(json)
  return flaw === undefined ? parsed : Either.left(flaw)
}

/** A change to one value in a text. A path holds names and array indices. */
export type Edit = Data.TaggedEnum<{
  /** Sets the value at the path and creates missing objects on the way. */
  Set: { readonly path: ReadonlyArray<string | number>; readonly value: unknown }
  /** Appends a value to the array at the path. */
  Append: { readonly path: ReadonlyArray<string | number>; readonly value: unknown }
  /** Removes the value at the path. */
  Remove: { readonly path: ReadonlyArray<string | number> }
}>

export const Edit = Data.taggedEnum<Edit>()

/**
 * Applies edits in order to a text that `parse` accepts. Everything else stays as written: numbers that JavaScript
 * can't represent, the byte order mark, the indentation, the line ends.
 */
export const edit = (text: string, edits: ReadonlyArray<Edit>): string => {
  const start = text.startsWith(byteOrderMark) ? byteOrderMark : ""
  const json = text.slice(start.length)
  const indentation = /\n([ \t]+)"/.exec(json)?.[1] ?? "  "
  const formattingOptions = {
    insertSpaces: !indentation.startsWith("\t"),
    tabSize: indentation.startsWith("\t") ? 1 : indentation.length,
    eol: json.includes("\r\n") ? "\r\n" : "\n"
  }
  const formatting = longLine.test(json) ? {} : { formattingOptions }
  const change = (before: string, path: ReadonlyArray<string | number>, value: unknown, isArrayInsertion = false) =>
    applyEdits(before, modify(before, [...path], value, { ...formatting, isArrayInsertion }))
  return (
    start +
    edits.reduce(
      (before, each) =>
        Edit.$match(each, {
          Set: ({ path, value }) => change(before, path, value),
          Append: ({ path, value }) => change(before, [...path, -1], value, true),
          Remove: ({ path }) => change(before, path, undefined)
        }),
      json
    )
  )
}
