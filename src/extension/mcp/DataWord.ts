/**
 * Tells which words of a program name data that the server writes itself, rather than something that is run.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as OwnWords from "./OwnWords.js"
import type { Program } from "./Program.js"
import * as Wrapper from "./Wrapper.js"

/**
 * A word of a program, or the value of a variable.
 *
 * @since 0.1.0
 * @category models
 */
export interface Word {
  readonly text: string
  /** The option or the variable that it belongs to; empty where it stands alone. */
  readonly of: string
  /** Tests whether a part of the word that may be a path names data. */
  readonly isData: (path: string) => boolean
}

const database = /\.(?:db|sqlite3?|duckdb|parquet)$/i
const anyData = /\.(?:json|jsonl|ndjson|db|sqlite3?|duckdb|csv|tsv|parquet|log|txt|md|lock|pid)$/i

/** Matches names and options of files that decide what a program does, whatever they end in. */
const deciding =
  /conf|setting|server|mcp|proxy|hub|agent|command|task|workflow|pipeline|package|deno|manifest|compose|import|require|load|policy|rules|prompt|tool|script|startup|hook|plugin|_OPTIONS$|OPT$|^LD_/i

/** Matches the parts of an option's or a variable's name that are about what a server writes. */
const writing =
  /^(?:db|dbs|database|databases|data|datafile|dataset|sqlite|duckdb|memory|memories|store|storage|log|logs|logfile|logging|cache|state|output|out|history|index|pid|pidfile|lock|lockfile|reports?|notes?|journal|results?|save|dump|export|sessions?|knowledge|graph|vault|todos?|records?|traces?|metrics|backup|archive)$/i

const isOfData = (name: string): boolean =>
  name
    .replace(/([a-z])(?=[A-Z])/g, "$1-")
    .split(/[-_.]+/)
    .some((part) => writing.test(part))

/** What a shell or an interpreter could take apart. */
const composed = /[\s;|&<>()[\]{}'"`$*?\\]/

type Place = "deciding" | "script" | "other"

const make = (text: string, of: string, place: Place): Word => ({
  text,
  of,
  isData: (path) => {
    if (place === "deciding" || !anyData.test(path) || composed.test(text)) return false
    if (deciding.test(of) || deciding.test(Path.basename(path))) return false
    if (database.test(path) || isOfData(of)) return true
    return place === "script" && of === "" && isOfData(Path.basename(path).replace(/\.\w+$/, ""))
  }
})

/**
 * Returns the words of a program and the values of its variables.
 *
 * Data is what has the name of a database, or ends as data does and is named for data: by its own name behind a
 * known script (`node server.js notes.json`), or by its option or variable (`--memory-file`, `DB_PATH`). An interpreter runs a file whatever
 * its name ends in, so the words before a script and those of an unknown program are none.
 *
 * @since 0.1.0
 * @category finding
 */
export const wordsOf = (program: Program): ReadonlyArray<Word> => {
  const own = OwnWords.find(program)
  const variables = Wrapper.variablesIn(program)
  return [
    ...program.args.map((word, at) => {
      const variable = at < variables ? /^([A-Za-z_]\w*)=/.exec(word)?.[1] : undefined
      if (variable !== undefined) return make(word, variable, "other")
      const before = word.startsWith("-") ? word.replace(/=.*/s, "") : (program.args[at - 1] ?? "")
      const of = before.startsWith("-") ? before : ""
      return make(word, of, at < own.from ? "deciding" : own.isScripts ? "script" : "other")
    }),
    ...Object.entries(program.env).map(([name, value]) => make(value, name, "other"))
  ]
}
