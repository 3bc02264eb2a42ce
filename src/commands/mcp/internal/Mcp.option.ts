/** Finds the parameter that an option names. */
import * as Either from "effect/Either"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as Similar from "../../../domain/Similar.js"
import type { CallableTool, ToolParameter } from "./Mcp.tool.js"

/** An option of a tool. */
export interface Option {
  readonly parameter: ToolParameter
  /** True where it is `--no-<name>`. */
  readonly isOff: boolean
}

/** Finds what an option names; undefined where it is none, and on the left, that it may mean several. */
export const find = (tool: CallableTool, option: string): Either.Either<Option | undefined, string> => {
  if (!option.startsWith("--")) {
    const short = tool.parameters.find(({ name }) => /^[A-Za-z]$/.test(name) && option === `-${name}`)
    return Either.right(short === undefined ? undefined : { parameter: short, isOff: false })
  }
  const name = option.slice(2)
  return Either.flatMap(named(tool, name), (parameter): Either.Either<Option | undefined, string> => {
    if (parameter !== undefined) return Either.right({ parameter, isOff: false })
    if (!name.startsWith("no-")) return Either.right(undefined)
    return Either.map(named(tool, name.slice(3)), (off) =>
      off?.isSwitch === true ? { parameter: off, isOff: true } : undefined
    )
  })
}

/** Finds a parameter by its name, or by one that is written in another way and can mean no other. */
export const named = ({ parameters }: CallableTool, name: string): Either.Either<ToolParameter | undefined, string> => {
  if (name === "") return Either.right(undefined)
  const same = parameters.find((parameter) => parameter.name === name)
  if (same !== undefined) return Either.right(same)
  const alike = parameters.filter((parameter) => plain(parameter.name) === plain(name))
  if (alike.length < 2) return Either.right(alike[0])
  const names = alike.map((parameter) => `--${ForeignText.word(parameter.name)}`)
  return Either.left(`--${ForeignText.word(name)} may mean ${names.join(" or ")}: write it as it is.`)
}

/** A name without what sets `maxResults`, `max_results` and `max-results` apart. */
const plain = (name: string): string => name.toLowerCase().replace(/[-_]/g, "")

/** Tests whether a word would be read as an option. */
export const isOption = (tool: CallableTool, word: string): boolean => {
  if (word === "--" || /^--[A-Za-z][\w-]*(?:=|$)/.test(word)) return true
  return word.startsWith("-") && Either.getOrElse(find(tool, word), () => undefined) !== undefined
}

/** Returns what is said of an option that there is not: the nearest, or all. */
export const unknown = ({ parameters }: CallableTool, option: string): string => {
  const name = option.replace(/^--?/, "")
  const names = parameters.map((parameter) => parameter.name)
  const meant = Similar.likely(name, names)
  const known = names.slice(0, 20).map((one) => `--${ForeignText.word(one)}`)
  const there =
    meant.length > 0
      ? `did you mean ${meant.map((one) => `--${ForeignText.word(one)}`).join(" or ")}?`
      : names.length === 0
        ? "there is --json only."
        : `there are ${known.join(", ")}${names.length > known.length ? ", …" : ""}.`
  return `Unknown option ${ForeignText.word(option, 60)}: ${there} A word that begins with a dash and is no option goes after --.`
}
