/**
 * Makes the environment that a shell starts with: the user's own, without the variables that would disturb the
 * protocol, and with those that keep tools from asking a person who is not there.
 */

import * as Quote from "../bash/Quote.js"

/** Variables that bash reads at its start, or that make it write or end by itself. */
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
  // Otherwise an interactive bash would read the user's history; the first lines that it reads unset this again.
  HISTFILE: "",
  MANPAGER: "cat",
  PAGER: "cat",
  PIP_NO_INPUT: "1",
  SSH_ASKPASS_REQUIRE: "never",
  SYSTEMD_PAGER: "",
  TERM: "dumb"
}

/** The variable by which everything that a session started can be found again. */
export const sessionVariable = "SYNAPSE_SESSION"

/** Returns why a variable can't be let through into the shell of a session; undefined where it can. */
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
 * Makes the environment of a shell. `sessionId` marks all that the shell starts, so that the end of the session also
 * finds daemons; `extra` takes precedence over the user's variables.
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
 * Makes the text which gives each of these variables the person's own value, for a command on the person's terminal, or
 * takes it back. What a command has set since stays.
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
