/** The programs that fetch a package and run it: `npx`, `uvx`, `npm exec`. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { after, isPlain, nameOf, type Program, valueOf } from "./Program.js"

const fetchers = /^(?:npx|bunx|pnpx|uvx|pipx)$/
/** The words after which a package manager fetches a program, rather than running what a directory says. */
const fetching: Readonly<Record<string, RegExp>> = {
  npm: /^(?:exec|x)$/,
  pnpm: /^(?:dlx|exec)$/,
  yarn: /^dlx$/,
  bun: /^x$/
}
/** The options of those that fetch a program which take no value. */
const flag =
  /^(?:-y|--yes|-q|--quiet|-s|--silent|-v|--verbose|--bun|--no-install|--prefer-offline|--offline|--isolated|--refresh|-n|--no-cache|--native-tls|--ignore-existing)$/

/** Tests whether a program of this name does nothing else. */
export const isOne = (name: string): boolean => fetchers.test(name)

/** Returns the words after `npx`, or after `npm exec`; undefined for another program. */
export const wordsAfter = ({ args, command }: Program): ReadonlyArray<string> | undefined => {
  const name = nameOf(command)
  if (fetchers.test(name)) return name === "pipx" ? after(args, (word) => word === "run") : args
  const word = fetching[name]
  const first = args.find(isPlain)
  return word !== undefined && first !== undefined && word.test(first) ? after(args, (one) => one === first) : undefined
}

/**
 * Splits what follows `npx` into the words for itself, the last of which names the package, and those for the program.
 */
export const split = (
  words: ReadonlyArray<string>
): readonly [own: ReadonlyArray<string>, rest: ReadonlyArray<string>] => {
  const isPackage = (word: string, at: number): boolean => {
    const before = words[at - 1] ?? ""
    const isValue = before.startsWith("-") && before !== "--" && !flag.test(before) && !before.includes("=")
    return isPlain(word) && !isValue
  }
  const at = words.findIndex(isPackage)
  return at < 0 ? [words, []] : [words.slice(0, at + 1), words.slice(at + 1)]
}

/**
 * Tests whether a program fetches another one, and so needs no directory of the project: no word of it names, relative to
 * the directory that it would be started in, something that is there.
 */
export const isAnywhere = (program: Program): boolean => {
  const own = wordsAfter(program)
  if (own === undefined) return false
  const [words, rest] = split(own)
  // The name of a package is no path, whatever the directory holds.
  const last = words.at(-1) ?? ""
  const named = [...words.slice(0, -1), ...(/^[./]/.test(last) ? [last] : []), ...rest].map(valueOf)
  return named.every((word) => word === "" || word.startsWith("/") || !Fs.existsSync(Path.resolve(program.cwd, word)))
}
