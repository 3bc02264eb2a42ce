/**
 * Builds a shell's starting environment from the user's: without variables that disturb the protocol, and with values
 * that keep tools from prompting.
 */

import * as Quote from "../bash/Quote.js"

/** Variables that bash reads at its start, or that make it print or exit on its own. */
const dropped = [
  "BASH_ENV",
  "ENV",
  "HISTFILE",
  "PROMPT_COMMAND",
  "TMOUT",
  "BASHOPTS",
  "SHELLOPTS",
  "BASH_XTRACEFD",
  "PS0"
]

/** Values that keep tools from prompting, paging and opening editors. */
const unattended: Readonly<Record<string, string>> = {
  DEBIAN_FRONTEND: "noninteractive",
  GCM_INTERACTIVE: "never",
  GIT_EDITOR: "true",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  // Without it, an interactive bash would read the user's history. The shell's first lines unset it again.
  HISTFILE: "",
  MANPAGER: "cat",
  PAGER: "cat",
  PIP_NO_INPUT: "1",
  SSH_ASKPASS_REQUIRE: "never",
  SYSTEMD_PAGER: "",
  TERM: "dumb"
}

/** The variable that marks every process of a session, so that they can be found again. */
export const sessionVariable = "SYNAPSE_SESSION"

/** Explains why the user can't pass a variable into the session's shell, or returns undefined if that is allowed. */
export const refusal = (name: string): string | undefined => {
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    const assigned = /^([A-Za-z_]\w*)=/.exec(name)?.[1]
    const advice = assigned === undefined ? "" : `. Give the name alone, ${assigned}, and set its value before`
    return `${JSON.stringify(name)} is no name of a variable${advice}`
  }
  if (dropped.includes(name) || name === sessionVariable || /^(?:BASH|__synapse_)/.test(name)) {
    return `${name} can't be let through: it would disturb the session`
  }
  return Object.hasOwn(unattended, name)
    ? `${name} can't be let through: Synapse sets it, so that no command waits for a person`
    : undefined
}

/**
 * Builds a shell's environment. `sessionId` marks all processes of the session, so that its end also finds daemons.
 * `extra` overrides the user's variables.
 */
export const make = (
  sessionId: string,
  extra: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string | undefined>> = process.env
): Record<string, string> => {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && !dropped.includes(name)) environment[name] = value
  }
  return { ...environment, ...unattended, ...extra, [sessionVariable]: sessionId }
}

/**
 * Returns bash text that switches these variables to the person's values for a command on the person's terminal, or
 * back. Values that a command has changed since are left alone.
 */
export const switching = (isPersons: boolean): string =>
  Object.entries({ ...unattended, COLORTERM: undefined })
    .flatMap(([name, ours]) => {
      if (name === "HISTFILE") return []
      const [before, after] = isPersons ? [ours, process.env[name]] : [process.env[name], ours]
      const set = after === undefined ? `\\builtin unset -v ${name}` : `\\builtin export ${name}=${Quote.word(after)}`
      return [`if \\builtin [ "\${${name}-unset}" = ${Quote.word(before ?? "unset")} ]; then ${set}; fi`]
    })
    .join(";")
