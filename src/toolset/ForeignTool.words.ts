/**
 * Reads the words of a command line as the arguments of another agent's tool: by their places, as `key=value`, or as options.
 *
 * @since 0.1.0
 */
import type * as CommandLine from "../bash/CommandLine.js"

type Word = CommandLine.CommandLine["words"][number]

const edit = ["file_path", "old_string", "new_string"]
const listing = ["path"]
const reading = ["file_path"]
const searching = ["pattern", "path"]
const writing = ["file_path", "content"]

/** The parameters that words without a name stand for, by the tool's name in lower case and without underscores. */
const positional: ReadonlyMap<string, ReadonlyArray<string>> = new Map(
  (
    [
      ["edit editfile strreplace", edit],
      ["glob", searching],
      ["grep searchfilecontent", searching],
      ["ls listdir listdirectory listfiles", listing],
      ["read readfile view viewfile", reading],
      ["write writefile createfile", writing]
    ] as const
  ).flatMap(([names, parameters]) =>
    names.split(" ").map((name): [string, ReadonlyArray<string>] => [name, parameters])
  )
)

/** The same for the editor whose first word says what to do. */
const ofEditor: Readonly<Record<string, ReadonlyArray<string>>> = {
  create: ["command", "path", "file_text"],
  insert: ["command", "path", "insert_line", "insert_text"],
  str_replace: ["command", "path", "old_str", "new_str"],
  view: ["command", "path"]
}

const editors = new Set(["strreplacebasededittool", "strreplaceeditor", "texteditor"])

/** The parameters that are given by name, in lower case and without what is no letter. */
const named = new Set(
  "absolutepath command content contents endline filepath filename filetext glob headlimit include insertline inserttext limit newstr newstring offset oldstr oldstring outputmode path pattern query replaceall startline targetfile type".split(
    " "
  )
)

/** The options of a search that stand for parameters; those that are nothing in its place are empty. */
const flags: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  E: {},
  H: {},
  R: {},
  c: { output_mode: "count" },
  i: { "-i": true },
  l: { output_mode: "files_with_matches" },
  n: { output_mode: "content" },
  r: {}
}

/** The options of a search that take a number or a text. */
const valued: Readonly<Record<string, string>> = { A: "-A", B: "-B", C: "-C", e: "pattern", g: "glob", t: "type" }

/** Returns a tool's name as the tables have it. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "")

const isCertain = ({ closed, expands }: Word): boolean => closed && !expands

/** Tests whether a word is a pattern of files that was left without quotes. */
const isPattern = ({ closed, value }: Word): boolean => closed && !/[$`~<]/.test(value)

/**
 * Returns the arguments; undefined where the words mean nothing certain.
 *
 * @param tool the tool's name; `rg` and `ag` are read as `grep`
 * @since 0.1.0
 */
export const read = (tool: string, words: ReadonlyArray<Word>): Readonly<Record<string, unknown>> | undefined => {
  const name = tool === "rg" || tool === "ag" ? "grep" : plain(tool)
  const isSearch = name === "grep"
  const given = new Map<string, unknown>()
  const places: Array<string> = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word
    if (!isCertain(word) && !(name === "glob" && isPattern(word))) return undefined
    const { value } = word
    const [, key, text] = /^(?:--)?([A-Za-z_-]{1,40})=([\s\S]*)$/.exec(value) ?? []
    const next = words[at + 1]
    if (key !== undefined && named.has(plain(key))) given.set(key, text)
    else if (/^--[a-z]/i.test(value)) {
      if (!named.has(plain(value)) || next === undefined || !isCertain(next) || next.value.startsWith("--"))
        return undefined
      given.set(value.slice(2), next.value)
      at++
    } else if (/^-./.test(value)) {
      const option = isSearch ? readFlags(value, next) : undefined
      if (option === undefined) return undefined
      for (const [flag, meaning] of Object.entries(option.given)) given.set(flag, meaning)
      if (option.takesNext) at++
    } else places.push(value)
  }
  const isEditor = editors.has(name)
  const first = isEditor ? String(given.get("command") ?? places[0]) : ""
  const parameters = isEditor ? (Object.hasOwn(ofEditor, first) ? ofEditor[first] : undefined) : positional.get(name)
  const left = parameters?.filter((parameter) => !isGiven(given, parameter)) ?? []
  // What begins with a brace may be meant for JSON.
  if (parameters === undefined || places.length > left.length || places[0]?.startsWith("{")) return undefined
  for (const [index, place] of places.entries()) given.set(left[index] as string, place)
  return parameters.every((parameter) => isGiven(given, parameter) || optional.has(parameter))
    ? Object.fromEntries(given)
    : undefined
}

/** The parameters that may be left out; without a path, a tool works where it is. */
const optional = new Set(["path"])

/** Names that stand for another. */
const spellings: Readonly<Record<string, RegExp>> = {
  content: /^(?:contents?|filetext)$/,
  file_path: /^(?:file|target|absolute)?path$|^(?:filename|targetfile)$/,
  file_text: /^(?:filetext|contents?)$/,
  new_str: /^newstr(?:ing)?$/,
  new_string: /^newstr(?:ing)?$/,
  old_str: /^oldstr(?:ing)?$/,
  old_string: /^oldstr(?:ing)?$/,
  path: /^(?:absolute|file)?path$/,
  pattern: /^(?:pattern|query)$/
}

const isGiven = (given: ReadonlyMap<string, unknown>, parameter: string): boolean =>
  [...given.keys()].some((key) => (spellings[parameter] ?? new RegExp(`^${plain(parameter)}$`)).test(plain(key)))

/** Reads a word of options, `-in` or `-A3`, of which the last may take the next word. */
const readFlags = (
  word: string,
  next: Word | undefined
): { readonly given: Readonly<Record<string, unknown>>; readonly takesNext: boolean } | undefined => {
  let given: Record<string, unknown> = {}
  for (let at = 1; at < word.length; at++) {
    const flag = word.charAt(at)
    const parameter = Object.hasOwn(valued, flag) ? valued[flag] : undefined
    if (parameter !== undefined) {
      const rest = word.slice(at + 1)
      const value = rest !== "" ? rest : next !== undefined && isCertain(next) ? next.value : undefined
      if (value === undefined || (flag <= "C" && !/^\d{1,5}$/.test(value))) return undefined
      return {
        given: { ...given, [parameter]: value, ...(flag <= "C" ? { output_mode: "content" } : undefined) },
        takesNext: rest === ""
      }
    }
    if (!Object.hasOwn(flags, flag)) return undefined
    given = { ...given, ...flags[flag] }
  }
  return { given, takesNext: false }
}
