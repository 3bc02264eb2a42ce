/**
 * Converts words into the values that a schema asks for.
 *
 * @since 0.1.0
 */
import { isDeepStrictEqual } from "node:util"
import * as Either from "effect/Either"
import * as Arguments from "../../command/Arguments.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Similar from "../../domain/Similar.js"
import * as Check from "./Mcp.check.js"
import * as Json from "./Mcp.json.js"
import type { SchemaReader, Shape } from "./Mcp.schema.js"
import * as Type from "./Mcp.type.js"

/**
 * A parameter of a tool, as far as its values matter.
 *
 * @since 0.1.0
 * @category models
 */
export interface Typed {
  readonly name: string
  readonly schema: unknown
}

/**
 * Converts the words that a parameter was given: one, or several where it takes an array; on the left, why they don't
 * fit.
 *
 * @since 0.1.0
 * @category conversions
 */
export const fromWords = (
  reader: SchemaReader,
  { name, schema }: Typed,
  words: ReadonlyArray<string>
): Either.Either<unknown, string> => {
  const [only = "", ...more] = words
  const foreign = words.find((word) => /\p{Cs}/u.test(word))
  if (foreign !== undefined) {
    return Either.left(`${ForeignText.word(name)} is no UTF-8, which JSON needs; it was ${Arguments.quoted(foreign)}.`)
  }
  const shapes = reader.shapes(schema)
  const array = shapes.find((shape) => shape.kind === "array")
  if (more.length > 0) {
    return array === undefined
      ? Either.left(`${ForeignText.word(name)} is given twice.`)
      : items(reader, name, array.items, words)
  }
  const value = one(shapes, only)
  const reason = value === undefined ? undefined : Check.misfit(reader, schema, value.value, [name])
  if (value !== undefined && reason === undefined) return Either.right(value.value)
  // A word that is no array is the only item of one, unless it is meant as another kind.
  if (array !== undefined && (value === undefined || Array.isArray(value.value))) {
    const item = items(reader, name, array.items, words)
    const isWhole = /^\s*[[{]/.test(only) ? only.trimStart().startsWith("[") : isJsonOnly(reader.shapes(array.items))
    if (Either.isRight(item) || !isWhole) return item
  }
  return Either.left(reason ?? unfit(reader, { name, schema }, shapes, only))
}

/** Tests for forms that a word can have in JSON only. */
const isJsonOnly = (shapes: ReadonlyArray<Shape>): boolean =>
  shapes.length > 0 && shapes.every(({ kind }) => kind === "array" || kind === "object")

const items = (
  reader: SchemaReader,
  name: string,
  schema: unknown,
  words: ReadonlyArray<string>
): Either.Either<unknown, string> =>
  Either.all(
    words.map((word, index) =>
      fromWords(reader, { name: words.length > 1 ? `${name}[${index}]` : name, schema }, [word])
    )
  )

/** A value that a word stands for. */
interface Read {
  readonly value: unknown
}

/** Reads a word as the first of the forms that it can have; a text is the last one. */
const one = (shapes: ReadonlyArray<Shape>, word: string): Read | undefined => {
  const isText = shapes.some(({ kind }) => kind === "string" || kind === "any")
  for (const shape of shapes) {
    const read = readAs(shape, word, isText)
    if (read !== undefined) return read
  }
  return isText ? { value: word } : undefined
}

/** @param isText true where the word may be a text as well: only what can hardly be meant as one is anything else then */
const readAs = (shape: Shape, word: string, isText: boolean): Read | undefined => {
  switch (shape.kind) {
    case "values":
      return amongValues(shape.values, word)
    case "null":
      return word === "null" ? { value: null } : undefined
    case "boolean":
      return word === "true" || word === "false" ? { value: word === "true" } : undefined
    case "integer":
    case "number":
      return number(word, shape.kind, isText)
    case "array":
      return word.trimStart().startsWith("[") ? json(word) : undefined
    case "object":
      return word.trimStart().startsWith("{") ? json(word) : undefined
    case "any":
      return /^(?:null|true|false)$/.test(word)
        ? json(word)
        : (number(word, "number", true) ?? (/^\s*[[{]/.test(word) ? json(word) : undefined))
    default:
      return undefined
  }
}

const json = (word: string): Read | undefined =>
  Either.match(Json.parse(word), { onLeft: () => undefined, onRight: (value) => ({ value }) })

const numbers = {
  integer: /^[+-]?\d+$/,
  number: /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
}

const number = (word: string, kind: "integer" | "number", isText: boolean): Read | undefined => {
  if (!numbers[kind].test(word) || !Json.isExact(word)) return undefined
  const value = Number(word)
  return isText && String(value) !== word ? undefined : { value }
}

const amongValues = (values: ReadonlyArray<unknown>, word: string): Read | undefined => {
  if (values.includes(word)) return { value: word }
  const others = values.filter((value) => typeof value !== "string")
  if (others.length === 0) return undefined
  const read = json(word)
  return read !== undefined && others.some((value) => isDeepStrictEqual(value, read.value)) ? read : undefined
}

/** Says why a word does not fit. */
const unfit = (reader: SchemaReader, { name, schema }: Typed, shapes: ReadonlyArray<Shape>, word: string): string => {
  const isNumber = shapes.some(({ kind }) => kind === "integer" || kind === "number")
  if (isNumber && numbers.number.test(word) && !Json.isExact(word)) {
    return `${ForeignText.word(name)} must be a number up to ${Json.boundOf(word)}; it was ${Arguments.quoted(word)}.`
  }
  const isJson = isJsonOnly(shapes)
  const parsed = isJson && /^\s*[[{]/.test(word) ? Json.parse(word) : undefined
  const why = parsed !== undefined && Either.isLeft(parsed) ? `: ${ForeignText.word(parsed.left, 200)}` : ""
  const texts = shapes.flatMap((shape) =>
    shape.kind === "values" ? shape.values.filter((value) => typeof value === "string") : []
  )
  const nearest = Similar.nearest(word, texts)
  const meant = nearest === undefined ? "." : `; did you mean ${ForeignText.word(nearest)}?`
  const type = Type.print(reader, schema)
  return `${ForeignText.word(name)} must be ${isJson ? `${type} in JSON` : type}; it was ${Arguments.quoted(word)}${why === "" ? meant : `${why}.`}`
}
