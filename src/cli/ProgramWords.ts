/**
 * Rewrites the program's words before `@effect/cli` parses them: it takes a `true` or a `no` after a flag for the
 * flag's value, and the second occurrence of an option for an unknown word.
 */
import type * as Usage from "@effect/cli/Usage"
import * as Either from "effect/Either"
import * as Option from "effect/Option"

/** An option of the program. */
interface ProgramOption {
  /** Its long name, where it has one. */
  readonly name: string
  /** True where it takes no value. */
  readonly isFlag: boolean
  readonly isRepeated: boolean
  /** The values that it takes, where there are only these. */
  readonly choices?: ReadonlyArray<string>
}

/** The options of the program, by their names. */
export type ProgramOptions = ReadonlyMap<string, ProgramOption>

/** Collects the options that appear in usages. */
export const optionsOf = (usages: ReadonlyArray<Usage.Usage>): ProgramOptions => {
  const options = new Map<string, ProgramOption>()
  const take = (usage: Usage.Usage, isRepeated: boolean): void => {
    switch (usage._tag) {
      case "Named": {
        const names = usage.names.filter((name) => name.startsWith("-"))
        const isFlag = Option.isNone(usage.acceptedValues)
        const long = names.find((name) => name.startsWith("--"))
        const choices = Option.getOrElse(usage.acceptedValues, () => "").split(" | ")
        const taken = choices.length > 1 ? { choices } : {}
        for (const name of names) options.set(name, { name: long ?? name, isFlag, isRepeated, ...taken })
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
  return options
}

/**
 * Gives each flag its value, `--json=true`, so that the next word is not taken for it. Words after `--`, and words that
 * are no options, stay as they are. On the left, the reason why the words are wrong.
 */
export const normalise = (
  args: ReadonlyArray<string>,
  options: ProgramOptions
): Either.Either<ReadonlyArray<string>, string> => {
  const words: Array<string> = []
  const given = new Set<string>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--") return Either.right([...words, ...args.slice(at)])
    const equals = word.indexOf("=")
    const name = equals < 0 ? word : word.slice(0, equals)
    const option = options.get(name)
    if (option === undefined) {
      words.push(word)
      continue
    }
    if (given.has(option.name) && !option.isRepeated) return Either.left(`${name} is given twice.`)
    given.add(option.name)
    const value = equals >= 0 ? word.slice(equals + 1) : option.isFlag ? "true" : args[++at]
    // @effect/cli drops the empty values of repeated options: `--deny "$UNSET"` would deny nothing.
    if (option.isRepeated && value?.trim() === "") return Either.left(`${name} is empty.`)
    // To @effect/cli it would be the end of all options, and the option would be gone.
    if (value === "--") return Either.left(`${name} needs a value after it.`)
    // The error of @effect/cli does not name the option.
    if (value !== undefined && option.choices?.includes(value) === false)
      return Either.left(`${name} must be one of ${option.choices.join(", ")}.`)
    if (option.isFlag) words.push(`${name}=${value}`)
    // Of what may be repeated, @effect/cli does not know `--deny=value`.
    // It knows one name of an option that is given again.
    else words.push(option.name, ...(value === undefined ? [] : [value]))
  }
  return Either.right(words)
}
