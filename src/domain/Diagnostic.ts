/** Words the sandbox's denials for a model and for a person. */
import type * as ErrorFields from "./ErrorFields.js"

export type Denial = typeof ErrorFields.Denial.Type

const mostOthers = 3

const alsoText = ({ also }: Pick<Denial, "also">): string | undefined =>
  also.length === 0
    ? undefined
    : `Also denied: ${also.slice(0, mostOthers).join(", ")}${also.length > mostOthers ? `, and ${also.length - mostOthers} more` : ""}.`

const requestText = ({ allow, host }: Pick<Denial, "allow" | "host">): string | undefined => {
  if (host !== undefined) return `Ask the user to run: synapse sandbox allow ${host}`
  if (allow === undefined) return undefined
  const { exist, paths } = allow
  const first = exist ? "" : `create ${paths.length === 1 ? paths[0] : "what is missing"} and `
  return `Ask the user to ${first}run: ${paths.map((path) => `synapse sandbox allow ${path}`).join("; ")}`
}

/** Words a denial for a model without a session. */
export const denialText = (denial: Denial): string => new ToldDenials().text(denial)

/** Says what only a new shell can have, and how the reader gets one. */
export const awaiting = (names: ReadonlyArray<string> = [], how = "call with restart: true"): ReadonlyArray<string> =>
  names.map((name) => `${name} is allowed by now, for a new shell: ${how}.`)

/** The command with which a person allows a path: in a terminal, or in `synapse shell`. */
export type Allowing = "synapse sandbox allow" | "/allow"

/** Says how a person lets commands write to paths. Within `synapse shell`, only its question can create them. */
export const toWrite = ({ exist, paths }: NonNullable<Denial["allow"]>, allowing: Allowing): string => {
  const isInShell = allowing === "/allow"
  const first = exist
    ? ""
    : isInShell
      ? ", run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then"
      : ", make it, and then"
  const calls = paths.map((path) => `${allowing} ${path}`).join(isInShell ? ", " : "; ")
  return `To let commands write there${first}: ${calls}`
}

/** Words a denial for a person: what was refused, whether anything ran, and how to continue. */
export const denialForPerson = (denial: Denial, allowing: Allowing = "synapse sandbox allow"): string => {
  const { allow, host, lift, ran, rest, what } = denial
  return [
    `sandbox: ${what}`,
    ran ? undefined : "Nothing was run.",
    rest,
    host === undefined ? undefined : `To let commands reach it: synapse sandbox allow ${host}`,
    lift === undefined ? undefined : `To let commands use it: synapse sandbox ${lift}`,
    allow && toWrite(allow, allowing)
  ]
    .filter((line) => line !== undefined)
    .join("\n")
}

/** The denials told to a model in a session, so that each piece of advice is given once. */
export class ToldDenials {
  private readonly told = new Set<string>()

  /** Words a denial on one line. */
  text(denial: Denial): string {
    const { advice, ran, rest, what } = denial
    const request = requestText(denial)
    return [
      `sandbox: ${what}.`,
      ran ? undefined : "The command was not run.",
      alsoText(denial),
      ...awaiting(denial.awaiting),
      rest,
      ...advice.filter((line) => this.isNew(line)),
      // Last, so that the command can be copied to the end of the line.
      request !== undefined && this.isNew(request) ? request : undefined
    ]
      .filter((part) => part !== undefined)
      .join(" ")
  }

  /** Forgets what was told, for a model that starts a new session. */
  forget(): void {
    this.told.clear()
  }

  private isNew(text: string): boolean {
    const isNew = !this.told.has(text)
    this.told.add(text)
    return isNew
  }
}
