/**
 * Splits a command's words into options and operands. `util.parseArgs` would take an operand such as `- item` for an
 * option, and its time grows with the square of the number of words.
 */
import * as Either from "effect/Either"
import * as ShellText from "../bash/ShellText.js"
import * as Similar from "../domain/Similar.js"
import type { Form } from "./Parameter.js"

/** The options and flags of a command, under each of their names. */
export type Options = ReadonlyMap<string, Form>

export interface Split {
  /** The values of each option, by its long name. A flag's value is `true` or `false`. */
  readonly options: ReadonlyMap<string, ReadonlyArray<string>>
  readonly operands: ReadonlyArray<string>
}

/** Matches a word that looks like an option. `-` alone, `-5`, `---` and `- item` do not. */
const optionLike = /^(--?[A-Za-z][\w-]*)(?:=([\s\S]*))?$/

/** Explains an unknown option, which may be meant as an operand. `operands` came before it. */
export type Explain = (message: string, operands: ReadonlyArray<string>) => string

const goesBehind: Explain = (message, operands) =>
  operands.length === 0 ? message : `${message} A word that begins with a dash and is no option goes after --.`

/**
 * Splits words into options, which may stand anywhere before `--`, and operands. The left side says which word is
 * wrong. `-h` is an operand unless the command has such an option.
 */
export const split = (
  args: ReadonlyArray<string>,
  known: Options,
  explain = goesBehind
): Either.Either<Split, string> => {
  const options = new Map<string, Array<string>>()
  const operands: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--") return Either.right({ options, operands: operands.concat(args.slice(at + 1)) })
    const match = optionLike.exec(word)
    const [, name = "", equals] = match ?? []
    const option = known.get(name)
    if (option === undefined) {
      if (match !== null && word !== "-h") return Either.left(explain(unknown(name, known), operands))
      operands.push(word)
      continue
    }
    const given = options.get(option.name) ?? []
    if (given.length > 0 && !option.isRepeated) return Either.left(`${option.name} is given twice.`)
    const isFlag = option.kind === "flag"
    const value = equals ?? (isFlag ? "true" : args[++at])
    // In `--deny -- a`, the value is missing, probably because a variable was empty.
    if (value === undefined || (value === "--" && equals === undefined))
      return Either.left(`${name} needs a value after it.`)
    if (isFlag && value !== "true" && value !== "false") {
      return Either.left(`${name} stands alone, or is ${name}=true or ${name}=false; it was ${quoted(word)}.`)
    }
    given.push(value)
    options.set(option.name, given)
  }
  return Either.right({ options, operands })
}

/** Quotes a word for a message on one line, shortened. */
export const quoted = (word: string): string => {
  // The cut must not split a surrogate pair.
  const text = ShellText.quoted(word.slice(0, 60).replace(/[\ud800-\udbff]$/, ""))
  return word.length > 60 ? `${text} …` : text
}

const unknown = (name: string, known: Options): string => {
  const near = Similar.nearest(name, known.keys())
  const names = known.size === 0 ? "there are none." : `there are ${[...known.keys()].join(", ")}.`
  return `Unknown option ${name.slice(0, 60)}: ${near === undefined ? names : `did you mean ${near}?`}`
}
