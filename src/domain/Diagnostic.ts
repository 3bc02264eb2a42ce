/**
 * Denials and notices about a command, as data. `forModel` and `forPerson` turn them into text.
 *
 * @since 0.1.0
 */
import type * as ErrorFields from "./ErrorFields.js"

/**
 * A notice, or another thing that is told beside a result, apart from its denial.
 *
 * @since 0.1.0
 * @category models
 */
export type Diagnostic = typeof ErrorFields.Diagnostic.Type

/**
 * An access that the sandbox's policy refused, and what can be done about it.
 *
 * @since 0.1.0
 * @category models
 */
export type Denial = typeof ErrorFields.Denial.Type

type Notice = Extract<Diagnostic, { readonly _tag: "Notice" }>

/**
 * Makes a notice.
 *
 * @since 0.1.0
 * @category constructors
 */
export const notice = (text: string, about?: Notice["about"]): Notice => ({
  _tag: "Notice",
  text,
  ...(about === undefined ? undefined : { about })
})

/**
 * Puts diagnostics before those of a result.
 *
 * @since 0.1.0
 * @category combinators
 */
export const tell = <A extends { readonly diagnostics?: ReadonlyArray<Diagnostic> }>(
  result: A,
  ...first: ReadonlyArray<Diagnostic | undefined>
): A => {
  const told = first.filter((each) => each !== undefined)
  return told.length === 0 ? result : { ...result, diagnostics: [...told, ...(result.diagnostics ?? [])] }
}

const mostOthers = 3

const alsoText = (also: ReadonlyArray<string>): string | undefined =>
  also.length === 0
    ? undefined
    : `Also denied: ${also.slice(0, mostOthers).join(", ")}${also.length > mostOthers ? `, and ${also.length - mostOthers} more` : ""}.`

const inTerminal = "synapse sandbox allow"

/** Writes the commands that allow paths or hosts. In `synapse shell`, each is a line of its own. */
const calls = (names: ReadonlyArray<string>, isShell = false): string =>
  names.map((name) => `${isShell ? "/allow" : inTerminal} ${name}`).join(isShell ? ", " : "; ")

const joined = (parts: ReadonlyArray<string | undefined>, separator = " "): string =>
  parts.filter((part) => part !== undefined).join(separator)

/**
 * The words before a command that a model asks the user to run.
 *
 * @since 0.1.0
 * @internal
 */
export const asking = (isAnew = false, first = ""): string =>
  `Ask the user to ${first}run${isAnew ? " this, then call with restart: true" : ""}:`

const requestText = ({ allow, host, isAnew }: Pick<Denial, "allow" | "host" | "isAnew">): string | undefined => {
  if (host !== undefined) return `${asking()} ${inTerminal} ${host}`
  if (allow === undefined) return undefined
  const { exist, paths } = allow
  const first = exist ? "" : `create ${paths.length === 1 ? paths[0] : "what is missing"} and `
  return `${asking(isAnew, first)} ${calls(paths)}`
}

const refusedText = (what: string, also: ReadonlyArray<string>): string =>
  `The sandbox refused a connection: ${what}.${also.length === 0 ? "" : ` So were: ${also.join(", ")}.`}`

const offline = "The command tried to reach a network, and the sandbox has none: that may be why it failed."

/**
 * Words a diagnostic for a model, on one line.
 *
 * @since 0.1.0
 * @category destructors
 */
export const forModel = (diagnostic: Denial | Diagnostic): string => {
  switch (diagnostic._tag) {
    case "Denial": {
      const { advice, also, ran, rest, what } = diagnostic
      const done = ran ? undefined : "The command was not run."
      // The request comes last, so that the command can be copied to the end of the line.
      return joined([`sandbox: ${what}.`, done, alsoText(also), rest, ...advice, requestText(diagnostic)])
    }
    case "Notice":
      return diagnostic.text
    case "Awaiting":
      return `${diagnostic.name} is allowed by now, for a new shell: call with restart: true.`
    case "Refused": {
      const { also, hosts, what } = diagnostic
      const request = hosts.length === 0 ? undefined : `${asking()} ${calls(hosts)}`
      return joined([refusedText(what, also), request])
    }
    case "Withheld": {
      const { names } = diagnostic
      const left = `The sandbox leaves ${names.join(", ")} out of the environment`
      return `${left}; the user can let ${names.length === 1 ? "it" : "them"} through: ${letThrough(names)}`
    }
    case "Offline":
      return diagnostic.canBeAllowed
        ? `${offline} If so, tell the user which host it needs: ${inTerminal} lets commands reach it.`
        : offline
  }
}

const letThrough = (names: ReadonlyArray<string>): string =>
  `${names.map((name) => `--env ${name}`).join(" ")}, or "env" in sandbox.json.`

/**
 * The place where a person reads: a terminal after `synapse exec`, or `synapse shell`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Place {
  readonly isShell: boolean
  /** The command that starts a new shell, if the person has a shell. */
  readonly restart?: string | undefined
}

/**
 * `synapse shell`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const shell: Place = { isShell: true, restart: "/restart" }

/**
 * Says how a person lets commands write to paths. Within `synapse shell`, only its question can create them.
 *
 * @since 0.1.0
 * @internal
 */
export const toWrite = ({ exist, paths }: NonNullable<Denial["allow"]>, { isShell }: Place): string => {
  const first = exist
    ? ""
    : isShell
      ? ", run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then"
      : ", make it, and then"
  return `To let commands write there${first}: ${calls(paths, isShell)}`
}

/**
 * Words a diagnostic for a person: what was refused, whether anything ran, and how to continue. Returns undefined if it
 * does not concern the person.
 *
 * @since 0.1.0
 * @category destructors
 */
export const forPerson = (diagnostic: Denial | Diagnostic, place: Place = { isShell: false }): string | undefined => {
  const { isShell, restart } = place
  switch (diagnostic._tag) {
    case "Denial": {
      const { allow, also, hidden, host, lift, ran, rest, what } = diagnostic
      const lines = [
        `sandbox: ${what}`,
        ran ? undefined : "Nothing was run.",
        alsoText(also),
        rest,
        host === undefined ? undefined : `To let commands reach it: ${calls([host], isShell)}`,
        hidden === undefined ? undefined : `To let commands use it: ${calls([hidden], isShell)}`,
        lift === undefined ? undefined : `To let commands use it: synapse sandbox ${lift}`,
        allow && toWrite(allow, place)
      ]
      return joined(lines, "\n")
    }
    case "Notice":
      return isShell || diagnostic.about !== undefined ? diagnostic.text : undefined
    case "Awaiting":
      return restart && `${diagnostic.name} is allowed by now, for a new shell: ${restart}.`
    case "Refused": {
      const { also, hosts, what } = diagnostic
      const way = `To allow ${hosts.length === 1 ? "it" : "them"}: ${calls(hosts, isShell)}`
      return joined([refusedText(what, also), hosts.length === 0 ? undefined : way])
    }
    case "Withheld":
      return `the sandbox leaves ${diagnostic.names.join(", ")} out of the environment: ${letThrough(diagnostic.names)}`
    case "Offline":
      return isShell ? `${offline} If so, /allow lets commands reach the host.` : undefined
  }
}

/**
 * Remembers what a model in a session was told, so that each piece of advice is given once.
 *
 * @since 0.1.0
 * @internal
 */
export class ToldAdvice {
  private readonly told = new Set<string>()

  /** Leaves out the advice of a denial that was given before. */
  trim({ allow, host, isAnew, ...denial }: Denial): Denial {
    const advice = denial.advice.filter((line) => this.isNew(line))
    const remedy = {
      ...(allow && { allow }),
      ...(host === undefined ? undefined : { host }),
      ...(isAnew && { isAnew })
    }
    const request = requestText(remedy)
    return { ...denial, advice, ...(request !== undefined && this.isNew(request) ? remedy : undefined) }
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
