/** Reads the words of a call as the arguments of an MCP tool. */

import { isDeepStrictEqual } from "node:util"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Arguments from "../../../command/Arguments.js"
import * as Similar from "../../../domain/Similar.js"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import * as Json from "../Mcp.json.js"
import type { CallableTool, SchemaReader, Shape, ToolParameter } from "./Mcp.schema.js"
import * as McpSchema from "./Mcp.schema.js"

interface Option {
  readonly parameter: ToolParameter
  /** True for `--no-<name>`. */
  readonly isOff: boolean
}

/** Finds the parameter that an option names. The left side says that it may mean several. */
const find = (tool: CallableTool, option: string): Either.Either<Option | undefined, string> => {
  if (!option.startsWith("--")) {
    const short = tool.parameters.find(({ name }) => /^[A-Za-z]$/.test(name) && option === `-${name}`)
    return Either.right(short === undefined ? undefined : { parameter: short, isOff: false })
  }
  const name = option.slice(2)
  return Either.flatMap(findParameter(tool, name), (parameter): Either.Either<Option | undefined, string> => {
    if (parameter !== undefined) return Either.right({ parameter, isOff: false })
    if (!name.startsWith("no-")) return Either.right(undefined)
    return Either.map(findParameter(tool, name.slice(3)), (off) =>
      off?.isSwitch === true ? { parameter: off, isOff: true } : undefined
    )
  })
}

/** Finds a parameter by its name, or by an unambiguous other spelling. */
const findParameter = (
  { parameters }: CallableTool,
  name: string
): Either.Either<ToolParameter | undefined, string> => {
  if (name === "") return Either.right(undefined)
  const same = parameters.find((parameter) => parameter.name === name)
  if (same !== undefined) return Either.right(same)
  const alike = parameters.filter((parameter) => plain(parameter.name) === plain(name))
  if (alike.length < 2) return Either.right(alike[0])
  const names = alike.map((parameter) => `--${UntrustedText.word(parameter.name)}`)
  return Either.left(`--${UntrustedText.word(name)} may mean ${names.join(" or ")}: write it as it is.`)
}

/** Drops what distinguishes `maxResults`, `max_results` and `max-results`. */
const plain = (name: string): string => name.toLowerCase().replace(/[-_]/g, "")

/** Tests whether a word would be read as an option. */
const isOptionOf = (tool: CallableTool, word: string): boolean => {
  if (word === "--" || /^--[A-Za-z][\w-]*(?:=|$)/.test(word)) return true
  return word.startsWith("-") && Either.getOrElse(find(tool, word), () => undefined) !== undefined
}

/** Words the error for an unknown option: the nearest names, or all. */
const unknown = ({ parameters }: CallableTool, option: string): string => {
  const name = option.replace(/^--?/, "")
  const names = parameters.map((parameter) => parameter.name)
  const meant = Similar.likely(name, names)
  const known = names.slice(0, 20).map((one) => `--${UntrustedText.word(one)}`)
  const there =
    meant.length > 0
      ? `did you mean ${meant.map((one) => `--${UntrustedText.word(one)}`).join(" or ")}?`
      : names.length === 0
        ? "there is --json only."
        : `there are ${known.join(", ")}${names.length > known.length ? ", …" : ""}.`
  return `Unknown option ${UntrustedText.word(option, 60)}: ${there} A word that begins with a dash and is no option goes after --.`
}

/** The part of a parameter that matters for its values. */
interface Typed {
  readonly name: string
  readonly schema: unknown
}

/** Converts the words given for a parameter: one, or several for an array. The left side says why they don't fit. */
const fromWords = (
  reader: SchemaReader,
  { name, schema }: Typed,
  words: ReadonlyArray<string>
): Either.Either<unknown, string> => {
  const [only = "", ...more] = words
  const foreign = words.find((word) => /\p{Cs}/u.test(word))
  if (foreign !== undefined) {
    return Either.left(
      `${UntrustedText.word(name)} is no UTF-8, which JSON needs; it was ${Arguments.quoted(foreign)}.`
    )
  }
  const shapes = reader.shapes(schema)
  const array = shapes.find((shape) => shape.kind === "array")
  if (more.length > 0) {
    return array === undefined
      ? Either.left(`${UntrustedText.word(name)} is given twice.`)
      : items(reader, name, array.items, words)
  }
  const value = one(shapes, only)
  if (value !== undefined) return Either.right(value.value)
  // A word that is not an array counts as its only item, unless it is written as another JSON value.
  if (array !== undefined) {
    const item = items(reader, name, array.items, words)
    const isWhole = /^\s*[[{]/.test(only) ? only.trimStart().startsWith("[") : isJsonOnly(reader.shapes(array.items))
    if (Either.isRight(item) || !isWhole) return item
  }
  return Either.left(unfit(reader, { name, schema }, shapes, only))
}

/** Tests for shapes that need JSON. */
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

/** A value in an object, so that the value may itself be undefined or null. */
interface Read {
  readonly value: unknown
}

/** Reads a word as the first of its possible shapes, with text as the last. */
const one = (shapes: ReadonlyArray<Shape>, word: string): Read | undefined => {
  const isText = shapes.some(({ kind }) => kind === "string" || kind === "any")
  for (const shape of shapes) {
    const read = readAs(shape, word, isText)
    if (read !== undefined) return read
  }
  return isText ? { value: word } : undefined
}

/** @param isText true if the word may also be text: then only words that can hardly be meant as text are converted */
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

/** Words why a value does not fit. */
const unfit = (reader: SchemaReader, { name, schema }: Typed, shapes: ReadonlyArray<Shape>, word: string): string => {
  const isNumber = shapes.some(({ kind }) => kind === "integer" || kind === "number")
  if (isNumber && numbers.number.test(word) && !Json.isExact(word)) {
    return `${UntrustedText.word(name)} was ${Arguments.quoted(word)}, ${Json.flawOf(word)}.`
  }
  const isJson = isJsonOnly(shapes)
  const parsed = isJson && /^\s*[[{]/.test(word) ? Json.parse(word) : undefined
  const why = parsed !== undefined && Either.isLeft(parsed) ? `: ${UntrustedText.word(parsed.left, 200)}` : ""
  const texts = shapes.flatMap((shape) =>
    shape.kind === "values" ? shape.values.filter((value) => typeof value === "string") : []
  )
  const nearest = Similar.nearest(word, texts)
  const meant = nearest === undefined ? "." : `; did you mean ${UntrustedText.word(nearest)}?`
  const type = McpSchema.print(reader, schema)
  return `${UntrustedText.word(name)} must be ${isJson ? `${type} in JSON` : type}; it was ${Arguments.quoted(word)}${why === "" ? meant : `${why}.`}`
}

/** What the words of a call mean. */
export type Given = Data.TaggedEnum<{
  Help: Record<never, never>
  Values: { readonly values: Readonly<Record<string, unknown>> }
  /** All arguments in one JSON word. */
  Whole: { readonly json: string }
  /** All arguments are JSON on standard input. `isAsked` is false if no word says so. */
  Input: { readonly isAsked: boolean }
}>

export const Given = Data.taggedEnum<Given>()

/** The words of a call, sorted by use. */
interface Sorted {
  /** The values of each option, by its parameter's name. */
  readonly named: Map<string, Array<string>>
  readonly positional: Array<string>
  /** True if there is a `--`. */
  isLiteral: boolean
  readonly whole: Array<string>
}

const optionLike = /^--?[A-Za-z][\w-]*(?:=[\s\S]*)?$/

/** Reads the words of a call. The left side lists what is wrong with them. */
export const parse = (
  tool: CallableTool,
  words: ReadonlyArray<string>
): Either.Either<Given, ReadonlyArray<string>> => {
  const [only] = words
  if (words.length === 1 && (only === "--help" || only === "-h")) return Either.right(Given.Help())
  const sorted = sort(tool, words)
  if (Either.isLeft(sorted)) return Either.left([sorted.left])
  if (sorted.right === "help") return Either.right(Given.Help())
  const { isLiteral, named, positional, whole } = sorted.right
  const [json, ...others] = whole
  if (json !== undefined) {
    if (others.length > 0 || named.size + positional.length > 0) {
      return Either.left(["--json is all of the arguments, in one word: no others go with it."])
    }
    return Either.right(json === "-" ? Given.Input({ isAsked: true }) : Given.Whole({ json }))
  }
  // Without words, the call can only be right if the arguments are on standard input.
  if (words.length === 0 && tool.parameters.some(({ isRequired }) => isRequired)) {
    return Either.right(Given.Input({ isAsked: false }))
  }
  const assigned = isLiteral ? undefined : assignedIn(tool, positional)
  for (const [name, value] of assigned ?? []) add(named, name, value)
  const problems = assigned === undefined ? [...place(tool, named, positional)] : []
  const values: Array<readonly [string, unknown]> = []
  for (const [name, given] of named) {
    const parameter = tool.parameters.find((one) => one.name === name) ?? { name, schema: tool.rest }
    const value = fromWords(tool.reader, parameter, given)
    if (Either.isLeft(value)) problems.push(value.left)
    else values.push([name, value.right])
  }
  const missing = tool.parameters.filter(({ isRequired, name }) => isRequired && !named.has(name))
  if (missing.length > 0) {
    const names = missing.map(({ name }) => UntrustedText.word(name))
    problems.push(`${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing.`)
  }
  return problems.length > 0
    ? Either.left(problems)
    : Either.right(Given.Values({ values: Object.fromEntries(values) }))
}

/** Reads words that are all written as `name=value`. Undefined unless each names a parameter. */
const assignedIn = (
  tool: CallableTool,
  words: ReadonlyArray<string>
): ReadonlyArray<readonly [name: string, value: string]> | undefined => {
  const pairs = words.flatMap((word) => {
    const [, written = "", value = ""] = /^([A-Za-z_][\w-]*)=([\s\S]*)$/.exec(word) ?? []
    const parameter = Either.getOrElse(findParameter(tool, written), () => undefined)
    return parameter === undefined ? [] : [[parameter.name, value] as const]
  })
  return words.length > 0 && pairs.length === words.length ? pairs : undefined
}

/** Assigns words without a name to the parameters without a value. Returns what is wrong with the remaining words. */
const place = (
  { isFree, parameters }: CallableTool,
  named: Map<string, Array<string>>,
  positional: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const open = parameters.filter(({ name }) => !named.has(name))
  let left = positional
  for (const [index, { isList, name }] of open.entries()) {
    if (left.length === 0) return []
    // A last parameter that is an array takes all remaining words.
    const taken = isList && index === open.length - 1 ? left.length : 1
    named.set(name, left.slice(0, taken))
    left = left.slice(taken)
  }
  const [extra] = left
  if (extra === undefined) return []
  const what =
    left.length === 1 ? `${Arguments.quoted(extra)} is` : `${Arguments.quoted(extra)} and what follows it are`
  if (isFree)
    return [`${what} too much: the tool's schema names no parameters, so that only --json '{…}' can be given.`]
  return [`${what} too much: it takes ${parameters.length === 0 ? "no arguments" : `at most ${parameters.length}`}.`]
}

const sort = (tool: CallableTool, words: ReadonlyArray<string>): Either.Either<Sorted | "help", string> => {
  const sorted: Sorted = { named: new Map(), positional: [], isLiteral: false, whole: [] }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    if (word === "--") {
      sorted.isLiteral = at + 1 < words.length
      sorted.positional.push(...words.slice(at + 1))
      break
    }
    const equals = word.indexOf("=")
    const name = equals < 0 ? word : word.slice(0, equals)
    const value = equals < 0 ? undefined : word.slice(equals + 1)
    if (name === "--json") {
      const json = value ?? words[++at]
      if (json === undefined)
        return Either.left("--json needs the arguments after it, as JSON, or - for standard input.")
      sorted.whole.push(json)
      continue
    }
    const option = find(tool, name)
    if (Either.isLeft(option)) return Either.left(option.left)
    const { right } = option
    if (right === undefined) {
      if (word === "--help" || word === "-h") return Either.right("help")
      if (!optionLike.test(word)) {
        sorted.positional.push(word)
        continue
      }
      if (tool.rest === undefined || !word.startsWith("--")) return Either.left(unknown(tool, name))
      const text = value ?? words[++at]
      if (text === undefined) return Either.left(`${name} needs a value after it.`)
      add(sorted.named, name.slice(2), text)
      continue
    }
    const { isOff, parameter } = right
    if (isOff) {
      if (value !== undefined) return Either.left(`${UntrustedText.word(name)} takes no value.`)
      add(sorted.named, parameter.name, "false")
      continue
    }
    const next = words[at + 1]
    const given = value ?? next ?? ""
    if (parameter.isFlag && /^(?:yes|no|on|off)$/i.test(given)) {
      const label = `--${UntrustedText.word(parameter.name)}`
      return Either.left(`${label} takes no "${given}": write ${label}, or ${label}=false.`)
    }
    if (value !== undefined) {
      add(sorted.named, parameter.name, value)
      continue
    }
    if (parameter.isFlag) {
      const isValue = next === "true" || next === "false"
      if (isValue) at++
      add(sorted.named, parameter.name, isValue ? next : "true")
      continue
    }
    // An optional value: without one, the parameter is switched on.
    if (parameter.isSwitch && (next === undefined || isOptionOf(tool, next))) {
      add(sorted.named, parameter.name, "true")
      continue
    }
    if (next === undefined) return Either.left(`${UntrustedText.word(name)} needs a value after it.`)
    if (isOptionOf(tool, next)) {
      return Either.left(
        `${UntrustedText.word(name)} needs a value after it; where ${Arguments.quoted(next)} is the value, write ${UntrustedText.word(name)}=${UntrustedText.word(next, 40)}.`
      )
    }
    add(sorted.named, parameter.name, next)
    at++
  }
  return Either.right(sorted)
}

const add = (to: Map<string, Array<string>>, name: string, word: string): void => {
  const before = to.get(name)
  if (before === undefined) to.set(name, [word])
  else before.push(word)
}
