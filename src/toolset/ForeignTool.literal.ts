/**
 * Reads the arguments of another agent's tool that was called in the form of a function: `file_path="a.ts", limit=5`.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { Word } from "../bash/Token.js"
import * as Words from "./ForeignTool.words.js"

/** Matches the name of an argument, and what stands between it and the value. */
const naming = /\s*["']?(\w{1,40})["']?\s*[=:]\s*/sy

/** Matches a text in quotes, a number, or a word that stands for a value. */
const plain =
  /"""([\s\S]*?)"""|'''([\s\S]*?)'''|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d{1,15}|true|false|null|True|False|None)(?![\w.])/sy

/** Matches a path without quotes that is no name of a variable: `src/a.ts`, `a.txt`. */
const barePath = /^(?:[\w@~+.-]*\/[\w@~+./-]*|[\w-]+\.(?:[a-z]{1,3}\d?|json|yaml|toml|html|lock))$/

const separator = /\s*(?:,|$)\s*/y

const spoken: Readonly<Record<string, unknown>> = { None: null, True: true, False: false }

/**
 * Returns the arguments; undefined where they mean nothing certain.
 *
 * @since 0.1.0
 * @category parsing
 */
export const read = (name: string, given: string): Readonly<Record<string, unknown>> | undefined => {
  if (given === "") return {}
  const whole = parsed(given)
  if (Predicate.isRecord(whole)) return whole
  if (Array.isArray(whole)) return /^todo_?write$/i.test(name) ? { todos: whole } : undefined
  const named = new Map<string, unknown>()
  const places: Array<string> = barePath.test(given) ? [given] : []
  for (let at = places.length === 0 ? 0 : given.length; at < given.length; ) {
    naming.lastIndex = at
    const [before = "", key] = naming.exec(given) ?? []
    const found = valueAt(given, at + before.length)
    if (found === undefined) return undefined
    if (key !== undefined) named.set(key, found.value)
    else if (typeof found.value === "string" && !/^-|^[A-Za-z_]+=/.test(found.value)) places.push(found.value)
    else return undefined
    separator.lastIndex = found.end
    if (!separator.test(given)) return undefined
    at = separator.lastIndex
  }
  if (places.length === 0) return Object.fromEntries(named)
  const placed = Words.read(name, places.map(wordOf))
  return placed === undefined ? undefined : { ...placed, ...Object.fromEntries(named) }
}

const wordOf = (value: string): Word => ({
  _tag: "Word",
  start: 0,
  end: value.length,
  value,
  quoted: true,
  expands: false,
  closed: true
})

interface Found {
  readonly value: unknown
  readonly end: number
}

const valueAt = (text: string, start: number): Found | undefined => {
  plain.lastIndex = start
  const [all, ...kinds] = plain.exec(text) ?? []
  if (all !== undefined) {
    const [double, single, quoted, word = ""] = kinds
    const literal = double ?? single ?? quoted?.slice(1, -1)
    const value = literal === undefined ? (Object.hasOwn(spoken, word) ? spoken[word] : parsed(word)) : textOf(literal)
    return { value, end: start + all.length }
  }
  if (text[start] !== "[" && text[start] !== "{") return undefined
  const end = closing(text, start)
  const value = end === undefined ? undefined : parsed(text.slice(start, end + 1))
  return end === undefined || value === undefined ? undefined : { value, end: end + 1 }
}

const textOf = (literal: string): string => literal.replace(/\\n/g, "\n").replace(/\\(.)/gs, "$1")

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" }

/**
 * Returns where the bracket at a place is closed, outside of quotes; undefined where it is not.
 *
 * @since 0.1.0
 */
export const closing = (text: string, start: number): number | undefined => {
  const open: Array<string> = []
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"' || char === "'") {
      plain.lastIndex = at
      const [all] = plain.exec(text) ?? []
      if (all === undefined) return undefined
      at += all.length - 1
    } else if (Object.hasOwn(closers, char)) open.push(closers[char] as string)
    else if (char === open.at(-1)) {
      open.pop()
      if (open.length === 0) return at
    }
  }
  return undefined
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
