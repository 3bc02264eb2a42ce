/**
 * Reads the words of a call as the arguments of a tool.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Arguments from "../../command/Arguments.js"
import * as ForeignText from "../../domain/ForeignText.js"
import * as Mistaken from "./Mcp.mistaken.js"
import * as Option from "./Mcp.option.js"
import type { CallableTool } from "./Mcp.tool.js"
import * as Value from "./Mcp.value.js"

/**
 * The meaning of a call's words.
 *
 * @since 0.1.0
 * @category models
 */
export type Given = Data.TaggedEnum<{
  /** The call asks for help. */
  Help: Record<never, never>
  /** The arguments, each by its name. */
  Values: { readonly values: Readonly<Record<string, unknown>> }
  /** All arguments are in this JSON. */
  Whole: { readonly json: string }
  /** All arguments are JSON on standard input. `isAsked` is false where no word says so. */
  Input: { readonly isAsked: boolean }
}>

/**
 * Makes a `Given`, and takes one apart with `$match`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const Given = Data.taggedEnum<Given>()

/** The words of a call, by what they are for. */
interface Sorted {
  /** The words after each option, by its parameter's name. */
  readonly named: Map<string, Array<string>>
  readonly positional: Array<string>
  /** The words after `--`, which are among the positional ones. */
  readonly literal: Array<string>
  /** The texts after `--json`. */
  readonly whole: Array<string>
  /** The parameters that have no name in the schema. */
  readonly extra: Map<string, Array<string>>
}

/** Matches a word that looks like an option. */
const optionLike = /^--?[A-Za-z][\w-]*(?:=[\s\S]*)?$/

/**
 * Reads the words of a call; on the left, what is wrong with them.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (
  tool: CallableTool,
  words: ReadonlyArray<string>
): Either.Either<Given, ReadonlyArray<string>> => {
  const [only] = words
  if (words.length === 1 && (only === "--help" || only === "-h")) return Either.right(Given.Help())
  const sorted = sort(tool, words)
  if (Either.isLeft(sorted)) return Either.left([sorted.left])
  if (sorted.right === "help") return Either.right(Given.Help())
  const { extra, literal, named, positional, whole } = sorted.right
  const [json, ...others] = whole
  if (json !== undefined) {
    if (others.length > 0 || named.size + extra.size + positional.length > 0) {
      const reason = Mistaken.unquoted([json, ...others, ...positional])
      return Either.left([reason ?? "--json is all of the arguments: no others go with it."])
    }
    return Either.right(json === "-" ? Given.Input({ isAsked: true }) : Given.Whole({ json }))
  }
  // Nothing can be meant but the input, for without it the call would be wrong.
  if (words.length === 0 && tool.parameters.some(({ isRequired }) => isRequired)) {
    return Either.right(Given.Input({ isAsked: false }))
  }
  const mistaken =
    words.length === 1 && positional.length === 1
      ? (Mistaken.only(tool, positional[0] as string) ?? assigned(tool, positional))
      : literal.length === 0
        ? assigned(tool, positional)
        : undefined
  if (mistaken !== undefined) return Either.left([mistaken])
  const problems = [...place(tool, named, positional)]
  const values: Array<readonly [string, unknown]> = []
  const read = (parameter: Value.Typed, given: ReadonlyArray<string>) =>
    Either.match(Value.fromWords(tool.reader, parameter, given), {
      onLeft: (problem) => void problems.push(problem),
      onRight: (value) => void values.push([parameter.name, value])
    })
  for (const parameter of tool.parameters) {
    const given = named.get(parameter.name)
    if (given !== undefined) read(parameter, given)
  }
  for (const [name, given] of extra) read({ name, schema: tool.rest }, given)
  const missing = tool.parameters.filter(({ isRequired, name }) => isRequired && !named.has(name))
  if (missing.length > 0) {
    const names = missing.map(({ name }) => ForeignText.word(name))
    problems.push(`${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing.`)
  }
  return problems.length > 0
    ? Either.left(problems)
    : Either.right(Given.Values({ values: Object.fromEntries(values) }))
}

const assigned = (tool: CallableTool, positional: ReadonlyArray<string>): string | undefined =>
  Mistaken.assignments(positional, (name) => Either.getOrElse(Option.named(tool, name), () => undefined))

/** Gives the words without a name to the parameters that have none yet; returns what is wrong with those that are left. */
const place = (
  { isFree, parameters }: CallableTool,
  named: Map<string, Array<string>>,
  positional: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const open = parameters.filter(({ name }) => !named.has(name))
  let left = positional
  for (const [index, { isList, name }] of open.entries()) {
    if (left.length === 0) return []
    // The last one takes all that is left, where it is an array.
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
  const sorted: Sorted = { named: new Map(), positional: [], literal: [], whole: [], extra: new Map() }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string
    if (word === "--") {
      sorted.literal.push(...words.slice(at + 1))
      sorted.positional.push(...sorted.literal)
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
    const option = Option.find(tool, name)
    if (Either.isLeft(option)) return Either.left(option.left)
    const { right } = option
    if (right === undefined) {
      if (word === "--help" || word === "-h") return Either.right("help")
      const isOption = optionLike.test(word) && word.startsWith("--")
      if (isOption && tool.rest !== undefined) {
        const text = value ?? words[++at]
        if (text === undefined) return Either.left(`${name} needs a value after it.`)
        add(sorted.extra, name.slice(2), text)
        continue
      }
      if (optionLike.test(word)) {
        return Either.left(Mistaken.whole(name, value ?? words[at + 1]) ?? Option.unknown(tool, name))
      }
      sorted.positional.push(word)
      continue
    }
    const { isOff, parameter } = right
    if (isOff) {
      if (value !== undefined) return Either.left(`${ForeignText.word(name)} takes no value.`)
      add(sorted.named, parameter.name, "false")
      continue
    }
    const next = words[at + 1]
    const mistaken = parameter.isFlag ? Mistaken.onOff(parameter, value ?? next, value === undefined) : undefined
    if (mistaken !== undefined) return Either.left(mistaken)
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
    // One that may be a text as well.
    if (parameter.isSwitch && (next === undefined || Option.isOption(tool, next))) {
      add(sorted.named, parameter.name, "true")
      continue
    }
    if (next === undefined) return Either.left(`${ForeignText.word(name)} needs a value after it.`)
    if (Option.isOption(tool, next)) {
      return Either.left(
        `${ForeignText.word(name)} needs a value after it; where ${Arguments.quoted(next)} is the value, write ${ForeignText.word(name)}=${ForeignText.word(next, 40)}.`
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
