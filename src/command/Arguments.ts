/**
 * Splits a command's words into options and operands. `util.parseArgs` does not serve: it takes an operand such
 * as `- item` for an option, and ten times the words take it a hundred times as long.
 */
import * as Either from "effect/Either"
import * as ShellText from "../bash/ShellText.js"
import type { Form } from "./Parameter.js"

/** The options and flags of a command, by all their names, short ones included. */
export type Options = ReadonlyMap<string, Form>

/** The words of a call, split into options and operands. */
export interface Split {
  /** The values of each option, by its long name; a flag's value is `true` or `false`. */
  readonly options: ReadonlyMap<string, ReadonlyArray<string>>
  readonly operands: ReadonlyArray<string>
}

/** Matches a word that looks like an option; `-` alone, `-5`, `---` and `- item` do not. */
const optionLike = /^(--?[A-Za-z][\w-]*)(?:=([\s\S]*))?$/

/**
 * Splits the words into options, wherever they stand before `--`, and operands, which are any other text; on the left,
 * what is wrong with them. A `-h` that is no option of the command is an operand.
 */
export const split = (args: ReadonlyArray<string>, known: Options): Either.Either<Split, string> => {
  const options = new Map<string, Array<string>>()
  const operands: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--") return Either.right({ options, operands: operands.concat(args.slice(at + 1)) })
    const match = optionLike.exec(word)
    const [, name = "", equals] = match ?? []
    const option = known.get(name)
    if (option === undefined) {
      if (match !== null && word !== "-h") return Either.left(unknown(name, known, operands.length > 0))
      operands.push(word)
      continue
    }
    const given = options.get(option.name) ?? []
    if (given.length > 0 && !option.isRepeated) return Either.left(`${option.name} is given twice.`)
    const isFlag = option.kind === "flag"
    const value = equals ?? (isFlag ? "true" : args[++at])
    // `--deny -- a`: what was to be the value is missing, as of a variable that is not set.
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

/** Quotes a word for a message, on one line, and cuts it where it is long. */
export const quoted = (word: string): string => {
  // The cut must not split a surrogate pair.
  const text = ShellText.quoted(word.slice(0, 60).replace(/[\ud800-\udbff]$/, ""))
  return word.length > 60 ? `${text} …` : text
}

/** @param mayBeOperand true where operands came before: only there, a text may be meant */
const unknown = (name: string, known: Options, mayBeOperand: boolean): string => {
  const names = known.size === 0 ? "there are none" : `there are ${[...known.keys()].join(", ")}`
  const operand = mayBeOperand ? " A word that begins with a dash and is no option goes after --." : ""
  return `Unknown option ${name.slice(0, 60)}: ${names}.${operand}`
}
