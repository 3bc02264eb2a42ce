/**
 * Tells once of a variable that a command names and that the sandbox leaves out, so that nobody takes it for unset.
 *
 * @since 0.1.0
 */

/** The most characters of a command that are looked at. */
const longestLook = 50_000

/** The beginnings of a variable's use, in shells and in the languages that commands are written in. */
const uses = [
  String.raw`\$(?:\{[#!]?)?`,
  String.raw`\bprintenv\s+`,
  String.raw`\benv\.`,
  String.raw`\b(?:environ|env|ENV)(?:\.get|\.fetch)?[[({]\s*["']?`,
  String.raw`\b(?:get|Get)env\(\s*["']`
].join("|")

/** The beginnings of a command that sets the variables after it. */
const setters = String.raw`(?:\b(?:read|for|mapfile|readarray|getopts|select)|\s-v)\s[^;\n|&]*`

/**
 * The variables of a session that were told of, or that its commands have set themselves.
 *
 * @since 0.1.0
 * @category models
 */
export class WithheldVariables {
  private readonly settled = new Set<string>()
  private names: ReadonlyArray<string> = []
  private any: RegExp | undefined

  /** Returns the notice about the variables that a command uses; undefined where there is nothing new to say. */
  notice(command: string, names: ReadonlyArray<string>): string | undefined {
    if (names !== this.names) {
      this.names = names
      this.any = names.length === 0 ? undefined : new RegExp(`\\b(?:${names.join("|")})\\b`)
    }
    const text = command.length > longestLook ? command.slice(0, longestLook) : command
    if (this.any === undefined || !this.any.test(text)) return undefined
    const named = names.filter((name) => !this.settled.has(name) && new RegExp(`\\b${name}\\b`).test(text))
    for (const name of named.filter((one) => isSet(one, text))) this.settled.add(name)
    const missed = named.filter((name) => !this.settled.has(name) && new RegExp(`(?:${uses})${name}\\b`).test(text))
    if (missed.length === 0) return undefined
    for (const name of missed) this.settled.add(name)
    return `The sandbox leaves ${missed.join(", ")} out of the environment; the user can let ${missed.length === 1 ? "it" : "them"} through: ${missed.map((name) => `--env ${name}`).join(" ")}, or "env" in sandbox.json.`
  }
}

const isSet = (name: string, text: string): boolean =>
  new RegExp(String.raw`(?<![\w$\{])${name}(?:\[[^\]]*\])?\+?=|${setters}(?<![\w$\{])${name}\b`).test(text)
