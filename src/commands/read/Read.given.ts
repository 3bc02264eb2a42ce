/**
 * Answers calls of `read` with the options of other programs with the right call, made of the values that were given.
 *
 * @since 0.1.0
 */
import * as FileFailure from "../../files/FileFailure.js"

/** The names that others have for the first and the last line, for both, and for the number of lines. */
const names: Readonly<Record<string, RegExp>> = {
  first: /^--(?:start|from|begin|start[-_]line|line[-_]start|first)$/,
  last: /^--(?:end|to|end[-_]line|line[-_]end|last)$/,
  range: /^--(?:lines?|range|line[-_]range|line[-_]numbers?)$/,
  count: /^(?:-n|--(?:lines|head|max[-_]lines|num[-_]lines|count))$/
}

const range = /^(\d{1,9})[-:,]?(\d{1,9})?$/

/**
 * Returns the right call for one file; undefined for words without such options, or with others.
 *
 * @since 0.1.0
 */
export const ofOptions = (args: ReadonlyArray<string>): string | undefined => {
  const given = new Map<string, string>()
  const files: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    const [, name = "", equals] = /^(--?[a-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (name === "") {
      files.push(word)
      continue
    }
    const value = equals ?? args[++at] ?? ""
    const kinds = Object.keys(names).filter((kind) => names[kind]?.test(name) === true)
    const kind = kinds.includes("range") && (/\D/.test(value) || kinds.length === 1) ? "range" : kinds.at(-1)
    if (kind === undefined || given.has(kind) || !range.test(value)) return undefined
    given.set(kind, value)
  }
  const [file, more] = files
  if (file === undefined || more !== undefined || given.size === 0) return undefined
  const { count, first, last, range: both } = Object.fromEntries(given)
  const word = (suffix: string) => FileFailure.toWord(`${file}${suffix}`)
  if (both !== undefined) {
    const [, from = "", to = from] = range.exec(both) ?? []
    return given.size === 1 ? `read ${word(`:${from}-${/\d$/.test(both) ? to : ""}`)}` : undefined
  }
  if (first === undefined && last === undefined)
    return count === undefined ? undefined : `read ${word("")} --limit ${count}`
  if (count !== undefined && last !== undefined) return undefined
  const end = count === undefined ? (last ?? "") : `${Number(first) + Number(count) - 1}`
  return `read ${word(`:${first ?? 1}-${end}`)}`
}
