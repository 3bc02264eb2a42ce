/** Writes the calls of other agents' tools that search as command lines. */
import * as Quote from "../../bash/Quote.js"
import { type Given, isShown } from "./ForeignTool.given.js"

const directoryOf = (given: Given): string =>
  given.path(
    ".",
    "path",
    "dirpath",
    "directory",
    "absolutepath",
    "relativeworkspacepath",
    "directorypath",
    "dir",
    "folder"
  )

/** The endings of the files of a type, where they are not its name. */
const endings: Readonly<Record<string, ReadonlyArray<string>>> = {
  js: ["js", "jsx", "mjs", "cjs"],
  ts: ["ts", "tsx", "mts", "cts"],
  python: ["py"],
  rust: ["rs"],
  markdown: ["md"],
  ruby: ["rb"],
  kotlin: ["kt"],
  cpp: ["cpp", "cc", "cxx", "hpp", "h"],
  c: ["c", "h"]
}

/** Matches what `grep -E` would read as something else than ripgrep does. */
const beyondExtended = /\\[A-Za-z]|\(\?|[*+?}][?+]/

/** Writes `Grep`, which names the files unless it is asked for lines or counts. */
export const grep = (given: Given): string =>
  searching(given, given.text("outputmode") ?? "files_with_matches", (names) => [
    "--exclude-dir={.git,node_modules}",
    // The sandbox denies these, and what may be read of others is found all the same.
    ...(names.length === 0 ? ["--exclude='.env*'"] : names)
  ])

/** Writes `rg`, which shows lines, and passes over what is hidden. */
export const ripgrep = (given: Given): string =>
  searching(
    given,
    given.text("outputmode") ?? "content",
    (names) => (names.length === 0 ? ["--exclude{,-dir}='.?*'"] : ["--exclude-dir='.?*'", ...names]),
    Quote.word
  )

/** Writes a search; `limitsOf` makes the options for where it looks, of those for the names of files. */
const searching = (
  given: Given,
  mode: string,
  limitsOf: (names: ReadonlyArray<string>) => ReadonlyArray<string>,
  quote = Quote.quote
): string => {
  const pattern = given.text("pattern", "query", "regex")
  const shows = mode === "content" ? "n" : mode === "count" ? "c" : "l"
  const ignoresCase = given.flag("i", "ignorecase", "caseinsensitive") ? "i" : ""
  const kind = beyondExtended.test(pattern ?? "") ? "P" : "E"
  const context = (["a", "b", "c"] as const).flatMap((name) => {
    const count = given.number(name, ...(name === "c" ? ["context"] : []))
    return shows === "n" && count !== undefined ? [`-${name.toUpperCase()} ${count}`] : []
  })
  const limit = given.number("headlimit") ?? 0
  return [
    `grep -rI${shows}${ignoresCase}${kind}`,
    ...context,
    ...limitsOf(namesOf(given).map((name) => `--include=${Quote.quote(name)}`)),
    ...(pattern?.startsWith("-") === true ? ["-e"] : []),
    pattern === undefined || !isShown(pattern) ? "<pattern>" : quote(pattern),
    directoryOf(given),
    ...(limit > 0 ? [`| head -n ${limit}`] : [])
  ].join(" ")
}

/** Returns the patterns of the names of files; `--include` knows no braces and no directories. */
const namesOf = (given: Given): ReadonlyArray<string> => {
  const type = given.text("type") ?? ""
  const ofType = type === "" ? [] : Object.hasOwn(endings, type) ? (endings[type] ?? []) : [type]
  const glob = given.text("glob", "include", "includepattern", "filepattern") ?? ""
  const [, before = "", alternatives, after = ""] = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(glob) ?? []
  const names = alternatives?.split(",").map((each) => before + each + after) ?? (glob === "" ? [] : [glob])
  return [
    ...ofType.map((ending) => `*.${ending}`),
    ...names.map((name) => name.slice(name.lastIndexOf("/") + 1))
  ].filter(isShown)
}

/** Writes `Glob`: the files that bash finds by the pattern, one a line. */
export const glob = (given: Given): string => {
  const pattern = given.text("pattern", "globpattern")
  const names = pattern === undefined || pattern === "" || !isShown(pattern) ? "<pattern>" : toGlob(pattern)
  const directory = directoryOf(given)
  const cd = directory === "." ? "" : `cd ${directory} && `
  return `(${cd}shopt -s globstar nullglob && for f in ${names}; do printf '%s\\n' "$f"; done)`
}

/** Writes `file_search`, which finds files by a part of their paths. */
export const named = (given: Given): string => {
  const query = given.text("query") ?? ""
  return /^[\w./-]+$/.test(query) ? `find . -path '*${query}*' -not -path '*/.git/*'` : "find . -name <name>"
}

/** Quotes all of a pattern that bash would read as something else. */
const toGlob = (pattern: string): string =>
  pattern.replace(/\\[\s\S]|\n|[^\w./*?{},[\]!:@%+-]/gu, (found) =>
    found === "\n" ? "$'\\n'" : found.length > 1 && found.startsWith("\\") && found[1] !== "\n" ? found : `\\${found}`
  )

/** Writes `LS`. */
export const ls = (given: Given): string => {
  const ignored = given.any("ignore")
  const globs = Array.isArray(ignored) ? ignored.filter((each) => typeof each === "string" && isShown(each)) : []
  return ["ls -la", ...globs.map((each: string) => `-I ${Quote.quote(each)}`), directoryOf(given)].join(" ")
}
