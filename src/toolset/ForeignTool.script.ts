/**
 * Finds the calls of other agents' tools within a script: in lists, conditions, loops, `$(…)` and `bash -c '…'`.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../bash/CommandLine.js"
import { isRedirection, type Token } from "../bash/Token.js"

/**
 * A call by words.
 *
 * @since 0.1.0
 * @category models
 */
export interface WordCall {
  readonly name: string
  /** The command alone, without what stands around it. */
  readonly line: CommandLine.CommandLine
  /** True where it reads from a pipe. */
  readonly isPiped: boolean
  /** True where it would do the same behind the script, in the directory that the shell is left in. */
  readonly isApart: boolean
}

/** The words behind which a command begins. */
const openers = new Set(["!", "do", "elif", "else", "if", "then", "time", "until", "while", "{"])
const movers = new Set(["cd", "popd", "pushd"])
const shells = new Set(["bash", "sh"])

interface Found {
  readonly call: WordCall
  readonly isInner: boolean
  readonly order: number
}

interface Search {
  readonly isWanted: (name: string) => boolean
  readonly found: Array<Found>
  readonly moves: Array<{ readonly isInner: boolean; readonly order: number }>
  order: number
}

/** The depth of scripts within others that is looked into. */
const deepest = 4

/**
 * Returns the calls of the commands whose names are wanted, in the order of the text.
 *
 * @since 0.1.0
 */
export const calls = (text: string, isWanted: (name: string) => boolean): ReadonlyArray<WordCall> => {
  const search: Search = { isWanted, found: [], moves: [], order: 0 }
  look(text, search, 0)
  const { found, moves } = search
  return found.map(({ call, isInner, order }) => ({
    ...call,
    isApart: moves.every((move) => !move.isInner && !isInner && move.order < order)
  }))
}

const look = (text: string, search: Search, depth: number): void => {
  const tokens = CommandLine.parse(text).tokens.filter(({ _tag }) => _tag !== "Blank" && _tag !== "Comment")
  let [isStart, isPiped, groups] = [true, false, 0]
  for (const [index, token] of tokens.entries()) {
    if (token._tag === "Operator" && !isRedirection(token.value)) {
      if (token.value === "(") groups++
      if (token.value === ")") groups--
      isPiped = token.value.startsWith("|") && token.value !== "||"
    }
    if (token._tag !== "Word") {
      isStart ||= token._tag !== "Operator" || !isRedirection(token.value)
      continue
    }
    const before = tokens[index - 1]
    if (before?._tag === "Operator" && isRedirection(before.value)) continue
    const raw = text.slice(token.start, token.end)
    if (raw.includes("$(")) within(raw, search, depth)
    if (!isStart || /^[A-Za-z_]\w*\+?=/.test(raw) || (!token.quoted && openers.has(token.value))) continue
    isStart = false
    const isInner = depth > 0 || groups > 0
    const order = search.order++
    if (movers.has(token.value)) search.moves.push({ isInner, order })
    const rest = tokens.slice(index)
    if (shells.has(token.value)) inner(rest, search, depth)
    if (!search.isWanted(token.value)) continue
    const line = CommandLine.parse(text.slice(token.start, rest.find(endsCommand)?.start))
    search.found.push({ call: { name: token.value, line, isPiped, isApart: false }, isInner, order })
  }
}

const endsCommand = (token: Token): boolean =>
  token._tag === "Newline" || (token._tag === "Operator" && !isRedirection(token.value))

/** Looks into the substitutions of a word. */
const within = (raw: string, search: Search, depth: number): void => {
  if (depth >= deepest) return
  for (const { index } of raw.matchAll(/\$\((?!\()/g)) {
    const rest = raw.slice(index + 2)
    let groups = 0
    const end = CommandLine.parse(rest).tokens.find((token) => {
      if (token._tag !== "Operator") return false
      if (token.value === "(") groups++
      return token.value === ")" && groups-- === 0
    })
    // What is nested in it is another match.
    if (end !== undefined) look(rest.slice(0, end.start), search, deepest)
  }
}

/** Looks into the script of `bash -c`. */
const inner = (tokens: ReadonlyArray<Token>, search: Search, depth: number): void => {
  const option = tokens.findIndex((token) => token._tag === "Word" && /^-\w*c$/.test(token.value))
  const script = tokens[option + 1]
  if (option < 0 || depth >= deepest || tokens.slice(0, option).some(endsCommand)) return
  if (script?._tag === "Word" && script.closed && !script.expands) look(script.value, search, depth + 1)
}
