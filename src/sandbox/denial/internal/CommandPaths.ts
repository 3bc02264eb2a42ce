/** Finds the paths in a command's own words, for a message that names no file. */
import * as CommandLine from "../../../bash/CommandLine.js"

/** The most words of the command that are looked up for a message without a name. */
const mostPaths = 1000
const url = /\b[a-z][a-z\d+.-]{0,30}:\/\/\S*/gi
const pathCharacters = /[\w.~/@%+,-]+/g

/** Returns the words of a text that look like paths: with a slash or a dot, behind which there is no `~`. */
const pathsIn = (text: string): ReadonlyArray<string> =>
  (text.replace(url, " ").match(pathCharacters) ?? []).flatMap((word) => {
    const last = Math.max(word.lastIndexOf("/"), word.lastIndexOf("."))
    const end = last < 0 ? -1 : word.indexOf("~", last)
    return last < 0 ? [] : [end < 0 ? word : word.slice(0, end)]
  })

/** Returns the words of a command, and those that look like paths in quoted code and here-documents. */
export const all = (command: string): ReadonlyArray<string> => {
  const paths = new Set<string>()
  for (const token of CommandLine.parse(command).tokens) {
    const text = token._tag === "Word" ? token.value : token._tag === "HereDocument" ? token.body : ""
    for (const path of [text, ...pathsIn(text)]) if (path !== "" && paths.size < mostPaths) paths.add(path)
  }
  return [...paths]
}

/** Matches the options that name the directory that a program works in, and those that hold it. */
const option = /^(?:-C|-d|--directory|--cd|--prefix)$/
const holding = /^(?:--directory|--cd|--prefix)=(.+)$|^-C(.+)$/

/** Returns the directories that a command's options make a program work in: `tar -C DIR`, `unzip -d DIR`. */
export const directories = (command: string): ReadonlyArray<string> => {
  const words = CommandLine.parse(command).tokens.flatMap((token) => (token._tag === "Word" ? [token.value] : []))
  return words.flatMap((word, at) => {
    const held = holding.exec(word)
    const found = held?.[1] ?? held?.[2] ?? (option.test(words[at - 1] ?? "") ? word : undefined)
    return found === undefined ? [] : [found]
  })
}
