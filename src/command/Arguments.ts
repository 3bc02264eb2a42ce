/**
 * A command's words, before `@effect/cli` reads them: it takes `--help` and `--version` wherever they stand for its own, a
 * `true` or a `no` after a flag for the flag's value, and an option's second occurrence for an unknown word.
 *
 * @since 0.1.0
 */
import type * as Usage from "@effect/cli/Usage"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ShellText from "../bash/ShellText.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Kind {
  /** The option's long name, where it has one. */
  readonly name: string
  /** Whether it stands alone, with no value after it. */
  readonly isFlag: boolean
  readonly isRepeated: boolean
}

/**
 * @since 0.1.0
 * @category models
 */
export type Kinds = ReadonlyMap<string, Kind>

/**
 * An option as it was given; a flag's value is `true` or `false`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Given {
  readonly kind: Kind
  readonly value: string
}

/**
 * @since 0.1.0
 * @category models
 */
export interface Split {
  readonly options: ReadonlyArray<Given>
  readonly operands: ReadonlyArray<string>
}

/** A word that looks like an option: `-` alone, `-5`, `---` and `- item` do not. */
const optionLike = /^(--?[A-Za-z][\w-]*)(?:=([\s\S]*))?$/

/**
 * The options that usages name.
 *
 * @since 0.1.0
 */
export const optionsOf = (usages: ReadonlyArray<Usage.Usage>): Kinds => {
  const kinds = new Map<string, Kind>()
  const take = (usage: Usage.Usage, isRepeated: boolean): void => {
    switch (usage._tag) {
      case "Named": {
        const names = usage.names.filter((name) => name.startsWith("-"))
        const isFlag = Option.isNone(usage.acceptedValues)
        const long = names.find((name) => name.startsWith("--"))
        for (const name of names) kinds.set(name, { name: long ?? name, isFlag, isRepeated })
        return
      }
      case "Optional":
        return take(usage.usage, isRepeated)
      case "Repeated":
        return take(usage.usage, true)
      case "Alternation":
      case "Concat":
        take(usage.left, isRepeated)
        return take(usage.right, isRepeated)
      default:
    }
  }
  for (const usage of usages) take(usage, false)
  return kinds
}

/**
 * Divides the words into options, wherever they stand before `--`, and operands, which are any other text. On the left is
 * what is wrong with them. A `-h` that is no option of the command is an operand.
 *
 * @since 0.1.0
 */
export const split = (args: ReadonlyArray<string>, kinds: Kinds): Either.Either<Split, string> => {
  const options: Array<Given> = []
  const operands: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--") return Either.right({ options, operands: [...operands, ...args.slice(at + 1)] })
    const match = optionLike.exec(word)
    const [, name = "", equals] = match ?? []
    const kind = kinds.get(name)
    if (kind === undefined) {
      if (match !== null && word !== "-h") return Either.left(unknown(name, kinds))
      operands.push(word)
      continue
    }
    if (!kind.isRepeated && options.some((option) => option.kind.name === kind.name)) {
      return Either.left(`${kind.name} is given twice.`)
    }
    const value = equals ?? (kind.isFlag ? "true" : args[++at])
    if (value === undefined) return Either.left(`${name} needs a value after it.`)
    if (kind.isFlag && value !== "true" && value !== "false") {
      return Either.left(`${name} stands alone, or is ${name}=true or ${name}=false; it was ${shown(word)}.`)
    }
    options.push({ kind, value })
  }
  return Either.right({ options, operands })
}

/**
 * Says of each flag that it is set, `--json=true`, so that the next word is not taken for its value. What stands after `--`
 * stays as it is, and so does what is no option. On the left is what is wrong.
 *
 * @since 0.1.0
 */
export const normalise = (args: ReadonlyArray<string>, kinds: Kinds): Either.Either<ReadonlyArray<string>, string> => {
  const words: Array<string> = []
  const given = new Set<string>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--") return Either.right([...words, ...args.slice(at)])
    const equals = word.indexOf("=")
    const name = equals < 0 ? word : word.slice(0, equals)
    const kind = kinds.get(name)
    if (kind === undefined) {
      words.push(word)
      continue
    }
    if (given.has(kind.name) && !kind.isRepeated) return Either.left(`${name} is given twice.`)
    given.add(kind.name)
    const value = equals >= 0 ? word.slice(equals + 1) : kind.isFlag ? "true" : args[++at]
    // Of what may be repeated, @effect/cli drops empty values: `--deny "$UNSET"` would deny nothing.
    if (kind.isRepeated && value?.trim() === "") return Either.left(`${name} is empty.`)
    if (equals >= 0) words.push(word)
    else if (kind.isFlag) words.push(`${name}=true`)
    else words.push(word, ...(value === undefined ? [] : [value]))
  }
  return Either.right(words)
}

/**
 * A word as a message shows it: quoted, on one line, its end left out where it is long.
 *
 * @since 0.1.0
 */
export const shown = (word: string): string => {
  // Not half of a character.
  const quoted = ShellText.quoted(word.slice(0, 60).replace(/[\ud800-\udbff]$/, ""))
  return word.length > 60 ? `${quoted} …` : quoted
}

const unknown = (name: string, kinds: Kinds): string => {
  const known = kinds.size === 0 ? "there are none" : `there are ${[...kinds.keys()].join(", ")}`
  return `Unknown option ${name.slice(0, 60)}: ${known}. A word that begins with a dash and is no option goes after --.`
}
