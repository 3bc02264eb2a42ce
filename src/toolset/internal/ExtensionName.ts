/**
 * Finds which extension command was meant by what is not the name of one: `mcp gh list`, `gh.list`, `Skill("pdf")`.
 */
import * as Option from "effect/Option"
import type * as CommandLine from "../../bash/CommandLine.js"
import * as Quote from "../../bash/Quote.js"
import * as Similar from "../../domain/Similar.js"
import * as ExtensionTool from "./ForeignTool.extension.js"
import { Given } from "./ForeignTool.given.js"

/** Matches a part of a name. */
const part = /^[\w.-]+$/

/**
 * Returns the command that was meant by a name that bash did not find; undefined where none, or more than one, fits.
 *
 * @param known the names of the extension commands that are known
 */
export const meant = (
  name: string,
  { words }: CommandLine.CommandLine,
  known: ReadonlyArray<string>
): string | undefined => {
  const [first = "", second = ""] = words.map(({ value }) => value)
  if (/^mcp$/i.test(name)) {
    const tool = `mcp:${first}:${second}`
    return part.test(first) && part.test(second) && !first.startsWith("-") ? (near(tool, known) ?? tool) : "mcp:"
  }
  if (/^(?:use_?)?skills?$/i.test(name))
    return part.test(first) && !first.startsWith("-") ? loading(first, second) : "skill:list"
  if (/^(?:task|agent|sub[-_]?agent)s?$/i.test(name) && known.some((one) => one.startsWith("task:")))
    return task(first, words.slice(1))
  const mcp = ExtensionTool.mcpNameOf(name)
  return near(mcp ?? name, known) ?? mcp ?? withLayer(name, known)
}

/** The words that the names of extension commands begin with. */
const layers = ["command", "mcp", "skill", "task"]

/** Returns the name with the layer that its misspelt first part is near to: `skill:list` for `skills:list`. */
const withLayer = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const colon = name.indexOf(":")
  const layer = Similar.nearest(name.slice(0, colon), layers)
  if (colon < 0 || layer === undefined) return undefined
  const meant = layer + name.slice(colon)
  const all = [...known, "command:search"]
  return all.includes(meant) ? meant : Similar.nearest(meant, all)
}

/** Returns the only known name that has the same parts, whatever stands between them and before them. */
const near = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const wanted = plain(name)
  if (wanted.length < shortest) return undefined
  const found = known.filter((one) => {
    const own = plain(one)
    return own === wanted || own.endsWith(`:${wanted}`)
  })
  return found.length === 1 ? found[0] : undefined
}

/** The fewest letters of a name that is looked for at the ends of others. */
const shortest = 3

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^mcp\W|^mcp__/, "mcp:")
    .replace(/__|[./]/g, ":")
    .replaceAll("-", "_")

const loading = (first: string, second: string): string =>
  /^(?:load|info|list|use|run|show|read)$/.test(first)
    ? part.test(second)
      ? `skill:${first === "info" ? "info" : "load"} ${second}`
      : "skill:list"
    : `skill:load ${first}`

/** Writes the call of a task whose type is a word of its own. */
const task = (type: string, words: ReadonlyArray<{ readonly value: string }>): string => {
  if (!part.test(type) || type.startsWith("-") || words.length === 0) return "task:list"
  const line = [`task:${type}`, ...words.map(({ value }) => Quote.word(value))].join(" ")
  return line.length > 2 * longest ? `task:${type} -d <words> -p <prompt>` : line
}

/** Matches a line that runs the program `skill` with no options. */
const skillProgram = /^\s*skill[ \t]+(\w[\w.-]*)(?:[ \t]+([\w.-]+))?\s*$/

/**
 * Tests whether a line runs the system's program `skill`, which sends signals, in a way that can be meant for a skill.
 */
export const mayBeSkillProgram = (text: string): boolean => skillProgram.test(text)

/**
 * Returns the call of a skill that is surely meant by a line which runs the system's program `skill`.
 *
 * @param skills the names of the skills
 */
export const ofSkillProgram = (text: string, skills: ReadonlyArray<string>): Option.Option<string> => {
  const [line, first = "", second = ""] = skillProgram.exec(text) ?? []
  const isWord = /^(?:load|info|list|use|run|show|read)$/.test(first)
  return line !== undefined && (isWord || skills.includes(first)) ? Option.some(loading(first, second)) : Option.none()
}

/** Returns the command that was meant by a call in the form of a function, which bash can't read. */
export const ofFunctionCall = (text: string): string | undefined => {
  const [, skill] = /^\s*Skill\(\s*["']?([\w.-]+)["']?\s*\)\s*$/.exec(text) ?? []
  if (skill !== undefined) return `skill:load ${skill}`
  const [, task] = /^\s*(?:Task|Agent)\(([\s\S]*)\)\s*$/.exec(text) ?? []
  if (task !== undefined) return ExtensionTool.task(new Given(fieldsOf(task)))
  const [, name, given = ""] = /^\s*((?:mcp|skill):[\w.-]+:[\w.:-]+)\s*\(([\s\S]*)\)\s*$/.exec(text) ?? []
  if (name === undefined) return undefined
  return isJson(given) && given.length <= longest
    ? `${name} --json ${Quote.word(given.trim())}`
    : `${name} --json '{…}'`
}

/** Returns the texts of named arguments: `prompt="…"`, `"prompt": "…"`. */
const fieldsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [
      ...text.slice(0, 20_000).matchAll(/["']?\b(\w{1,40})\b["']?\s*[=:]\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/gs)
    ].map(([, name = "", value = ""]) => [name, value.slice(1, -1).replace(/\\n/g, "\n").replace(/\\(.)/gs, "$1")])
  )

/** The most characters of an argument that is repeated. */
const longest = 500

const isJson = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === "object"
  } catch {
    return false
  }
}
