/**
 * Finds variables that a command lacks because the sandbox removes them from the environment.
 */

/** The longest command that is examined, in characters. */
export const longestLook = 50_000

/** What a use of a variable begins with, in shells and in the languages that commands are written in. */
const uses = [
  String.raw`\$(?:\{[#!]?)?`,
  String.raw`\bprintenv\s+`,
  String.raw`\benv\.`,
  String.raw`(?:\b|_)(?:environ|ENVIRON|env|ENV)(?:\.get|\.fetch|::var)?[[({]\s*\\?["']?`,
  String.raw`(?:[gG]et|Lookup|fetch)_?[eE]nv!?\(\s*\\?["']`
].join("|")

/** What a command begins with that sets the variables after it. */
const setters = String.raw`(?:\b(?:read|for|mapfile|readarray|getopts|select)|\s-v)\s[^;\n|&]*`

/** How many characters at the end of an output are searched for names. */
export const longestOutput = 64 * 1024

/** Matches a line that says that something is missing. */
const lacks =
  /\b(?:not (?:set|defined|found|provided|specified)|isn't set|unset|unbound|undefined|missing|required?|must be (?:set|defined|provided)|KeyError|NotPresent)\b/i
const ofEnvironment = /\benv(?:iron(?:ment)?)?\b/i

/** A command's output: its messages, and the rest, which may be the content of files. */
interface Said {
  readonly isFailed: boolean
  readonly messages: string
  readonly rest?: string
}

/** Tests whether an output reports a variable as missing. */
const isMissed = (name: string, { isFailed, messages, rest = "" }: Said, isNamed: boolean): boolean => {
  const word = new RegExp(`(?<![\\w$])${name}(?!\\w)`)
  if (isNamed && !isFailed) return false
  if (isFailed && !isNamed && name.includes("_") && word.test(messages)) return true
  const isIn = (text: string, says: (line: string) => boolean) =>
    text.split("\n").some((line) => line.includes(name) && word.test(line) && says(line))
  return (
    isIn(messages, (line) => lacks.test(line) || (isFailed && ofEnvironment.test(line))) ||
    (isFailed && isIn(rest, (line) => lacks.test(line)))
  )
}

const nothingSaid: Said = { isFailed: false, messages: "" }

const isSet = (name: string, text: string): boolean =>
  new RegExp(String.raw`(?<![\w$\{])${name}(?:\[[^\]]*\])?\+?=|${setters}(?<![\w$\{])${name}\b`).test(text)

/** The variables of a session that were already reported, or that commands have set themselves. */
export class WithheldVariables {
  private readonly settled = new Set<string>()
  private names: ReadonlyArray<string> = []
  private any: RegExp | undefined

  /** Returns the unreported variables that a command uses or that its output reports as missing. */
  missed(command: string, names: ReadonlyArray<string>, said: Said = nothingSaid): ReadonlyArray<string> {
    if (names !== this.names) {
      this.names = names
      this.any = names.length === 0 ? undefined : new RegExp(`\\b(?:${names.join("|")})\\b`)
    }
    const text = command.length > longestLook ? command.slice(0, longestLook) : command
    const { any } = this
    const messages = said.messages.slice(-longestOutput)
    const rest = said.rest?.slice(-longestOutput) ?? ""
    if (any === undefined || !any.test(`${text}\n${messages}\n${rest}`)) return []
    const open = names.filter((name) => !this.settled.has(name))
    const named = open.filter((name) => new RegExp(`\\b${name}\\b`).test(text))
    for (const name of named.filter((one) => isSet(one, text))) this.settled.add(name)
    const isUsed = (name: string) => named.includes(name) && new RegExp(`(?:${uses})${name}\\b`).test(text)
    const isSaid = (name: string) => isMissed(name, { ...said, messages, rest }, named.includes(name))
    const missed = open.filter((name) => !this.settled.has(name) && (isUsed(name) || isSaid(name)))
    for (const name of missed) this.settled.add(name)
    return missed
  }
}
