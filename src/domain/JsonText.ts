/**
 * Parses JSON that people write strictly, and edits it without changing anything else in the text.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { applyEdits, modify, visit } from "jsonc-parser"

/**
 * A flaw in a text, and its place.
 *
 * @since 0.1.0
 * @category models
 */
export interface Flaw {
  /** The path of the value, as `policy.filesystem`; empty where the text is no JSON at all. */
  readonly path: string
  readonly reason: string
}

const byteOrderMark = "\ufeff"
const deepest = 200
/**
 * Matches a line that is too long to be formatted, which would take time proportional to its square; people do not
 * write such lines.
 */
const longLine = /[^\n]{5000}/

/**
 * Writes the path of a value, as `policy.filesystem.whitelist[0]`.
 *
 * @since 0.1.0
 * @category printing
 */
export const showPath = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((before, key) => {
    if (typeof key === "number") return `${before}[${key}]`
    const name = String(key)
    return /^[\w$-]+$/.test(name) ? `${before}${before === "" ? "" : "."}${name}` : `${before}[${JSON.stringify(name)}]`
  }, "")

/** Thrown to end a visit. */
class Found {
  constructor(readonly flaw: Flaw) {}
}

/** Finds what `JSON.parse` accepts silently: two values under the same name, and nesting that is too deep. */
const findFlaw = (text: string): Flaw | undefined => {
  /** The names seen in each object around the position; empty for an array. */
  const names: Array<Set<string>> = []
  const enter = (): void => {
    if (names.length === deepest) throw new Found({ path: "", reason: `it is nested deeper than ${deepest} levels` })
    names.push(new Set())
  }
  const leave = (): void => {
    names.pop()
  }
  try {
    visit(text, {
      onObjectBegin: enter,
      onArrayBegin: enter,
      onObjectEnd: leave,
      onArrayEnd: leave,
      onObjectProperty: (name, _offset, _length, _line, _character, path) => {
        const seen = names.at(-1)
        if (seen?.has(name))
          throw new Found({ path: showPath([...path(), name]), reason: "the name stands here twice" })
        seen?.add(name)
      }
    })
    return undefined
  } catch (error) {
    if (error instanceof Found) return error.flaw
    throw error
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

/**
 * Parses a value, with or without a byte order mark before it. Refuses comments, and a name that occurs twice in an
 * object.
 *
 * @since 0.1.0
 * @category parsing
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

/**
 * A change to one value in a text. A path holds names, and the indices of arrays.
 *
 * @since 0.1.0
 * @category models
 */
export type Edit = Data.TaggedEnum<{
  /** Gives the path a value; creates the objects that are missing on the way to it. */
  Set: { readonly path: ReadonlyArray<string | number>; readonly value: unknown }
  /** Appends a value to the array at the path. */
  Append: { readonly path: ReadonlyArray<string | number>; readonly value: unknown }
  /** Removes the value at the path. */
  Remove: { readonly path: ReadonlyArray<string | number> }
}>

/**
 * Makes edits: `Edit.Set({ path: ["a", "b"], value: 1 })`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Edit = Data.taggedEnum<Edit>()

/**
 * Applies edits to a text that `parse` accepts, one after the other. Everything else stays as it is written: numbers
 * that JavaScript can't represent, the byte order mark, the indentation, the line ends.
 *
 * @since 0.1.0
 * @category editing
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
