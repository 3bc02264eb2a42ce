/** Finds the names of files in a program's message, whatever quotes and escapes surround them. */
import * as AnsiC from "../../../bash/AnsiC.js"
import { Scanner } from "../../../bash/Scanner.js"
import { longestMessage } from "./Wording.js"

/**
 * A name in a message. `sure` is true where it is quoted or set off by colons, so that it is meant as a name; otherwise
 * it may be ordinary words. `form` tells of one in quotes, and of the last word before the refusal (`output file a.out:`).
 */
export interface Mention {
  readonly path: string
  readonly sure: boolean
  readonly form?: "quoted" | "last"
}

/** Matches names quoted for a shell, as coreutils do: `'n'$'\n''l'`, `"it's"`. */
const shellQuoted = /(?<![\w'"$\\])(?:\$'(?:\\[\s\S]|[^'\\])*'|'[^']*'|"(?:\\[\s\S]|[^"\\])*")+/g
/** Matches names quoted as programming languages do: `'it\'s'`, `b"\xc3"`. */
const escaped = /(?<![\w'"\\]|\w['"])[bru]?(?:'((?:\\[\s\S]|[^'\\])*)'|"((?:\\[\s\S]|[^"\\])*)")/g
const typographic = /‘([\s\S]*?)’|“([\s\S]*?)”|`([\s\S]*?)[`']/g
/** Match names that contain the quote that surrounds them. */
const greedy = [/(?<!\w)'([\s\S]*)'/, /"([\s\S]*)"/, /‘([\s\S]*)’/]
/** Matches the messages of the agent's own commands, which hold only the name. */
const ofAgent = /^(?:read|write|edit): ([\s\S]+): $/
/** Matches what separates a name from the words before it and the rest of the sentence. */
const boundary = /: |:$|, | \(|\(| (?=->|=>)/
const pathOfItsOwn = /^\.{0,2}\//
const aside = /^(?:line \d+|error|warning|fatal)$/i
const mostWords = 16
const longestName = 4

/**
 * Finds the names in a message, each once, the likeliest first. `before` and `after` are the texts around the words of
 * the refusal.
 */
export const mentionsIn = (before: string, after: string): ReadonlyArray<Mention> => {
  const found = new Map<string, boolean>()
  const quoted = new Set<string>()
  const add = (path: string | undefined, sure: boolean) => {
    if (path !== undefined && path !== "" && path !== "." && !path.includes("\0")) {
      if (sure && found.get(path) === false) found.delete(path)
      if (!found.has(path)) found.set(path, sure)
    }
  }
  const addQuoted = (path: string | undefined) => {
    add(path, true)
    if (path !== undefined) quoted.add(path)
  }
  addQuoted(ofAgent.exec(before)?.[1])
  const near = endOf(before)
  const sides = [near, after.slice(0, longestMessage)]
  for (const side of sides) {
    for (const [written] of side.matchAll(shellQuoted)) {
      const word = new Scanner(written).next()
      if (word?._tag === "Word") addQuoted(word.value)
    }
    for (const [, single, double] of side.matchAll(escaped)) addQuoted(AnsiC.decode(single ?? double ?? ""))
    for (const [, ...parts] of side.matchAll(typographic)) {
      const name = parts.find((part) => part !== undefined)
      addQuoted(name)
      addQuoted(name === undefined ? undefined : AnsiC.decode(name))
    }
    for (const pattern of greedy) add(pattern.exec(side)?.[1], true)
  }
  for (const side of sides) {
    const pieces = side.split(boundary).map((piece) => piece.trim())
    const names = pieces.filter((piece) => piece !== "")
    for (const name of names.toReversed()) {
      // Without a function call around the name, and without the end of the sentence.
      const bare = name.replace(/^.*\(/s, "").replace(/[).,;:]+$/, "")
      // The first of several pieces names the program that reports the error.
      const isName = !aside.test(bare) && (names.length === 1 || name !== pieces[0])
      add(bare, isName)
      add(AnsiC.decode(bare), isName)
    }
    // Names with colons in them.
    const colons = side.replace(/[:\s(,]+$/, "").split(": ")
    for (let from = 1; from < colons.length - 1; from++) add(colons.slice(from).join(": "), false)
  }
  const [speaker, ...said] = near.replace(/:?\s*$/, "").split(": ")
  for (const side of sides) {
    for (const words of wordsIn(side)) add(words, pathOfItsOwn.test(words) && (said.length === 0 || words !== speaker))
  }
  const last = /(\S+):\s*$/.exec(near)?.[1]
  return [...found]
    .map(([path, sure]): Mention => {
      const form = quoted.has(path) ? "quoted" : path === last ? "last" : undefined
      return form === undefined ? { path, sure } : { path, sure, form }
    })
    .sort((a, b) => Number(b.sure) - Number(a.sure))
}

/** Returns the end of a text, without the rest of a word that the cut would leave: it names something else. */
const endOf = (text: string): string =>
  text.length > longestMessage ? text.slice(-longestMessage).replace(/^\S+/, "") : text

/** Returns runs of neighbouring words of a text, from its end. */
const wordsIn = (text: string): ReadonlyArray<string> => {
  const words = text.trim().split(/\s+/).slice(-mostWords)
  const found: Array<string> = []
  for (let length = 1; length <= longestName; length++) {
    for (let from = words.length - length; from >= 0; from--) {
      found.push(
        words
          .slice(from, from + length)
          .join(" ")
          .replace(/^[([{<]+|[)\]}>.,;:!]+$/g, "")
      )
    }
  }
  return found
}
