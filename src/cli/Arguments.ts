/**
 * The program's words, before `@effect/cli` reads them: it takes a `true` or a `no` after a flag for the flag's value, and
 * an option's second occurrence for an unknown word.
 *
 * @since 0.1.0
 */
import type * as Usage from "@effect/cli/Usage"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { WrongUsage } from "./Invocation.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Kind {
  /** Whether it stands alone, with no value after it. */
  readonly isFlag: boolean
  readonly isRepeated: boolean
}

/**
 * The options that usages name.
 *
 * @since 0.1.0
 */
export const optionsOf = (usages: ReadonlyArray<Usage.Usage>): ReadonlyMap<string, Kind> => {
  const kinds = new Map<string, Kind>()
  const take = (usage: Usage.Usage, isRepeated: boolean): void => {
    switch (usage._tag) {
      case "Named":
        for (const name of usage.names) {
          if (name.startsWith("-")) kinds.set(name, { isFlag: Option.isNone(usage.acceptedValues), isRepeated })
        }
        return
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
 * Says of each flag that it is set, `--json=true`, so that the next word is not taken for its value. What stands after `--`
 * stays as it is.
 *
 * @since 0.1.0
 */
export const normalise = (
  args: ReadonlyArray<string>,
  options: ReadonlyMap<string, Kind>
): Either.Either<ReadonlyArray<string>, WrongUsage> => {
  const words: Array<string> = []
  const given = new Set<string>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === "--") return Either.right([...words, ...args.slice(at)])
    const equals = word.indexOf("=")
    const name = equals < 0 ? word : word.slice(0, equals)
    const kind = options.get(name)
    if (kind === undefined) {
      words.push(word)
      continue
    }
    if (given.has(name) && !kind.isRepeated) return Either.left(new WrongUsage({ message: `${name} is given twice.` }))
    given.add(name)
    if (equals >= 0) words.push(word)
    else if (kind.isFlag) words.push(`${name}=true`)
    else words.push(word, ...args.slice(++at, at + 1))
  }
  return Either.right(words)
}
