/** Runs commands for the sandbox interfaces of frameworks, where no command changes the shell of the next. */
import * as Quote from "../../bash/Quote.js"
import type { HandleOptions, Synapse } from "../../promise/Synapse.js"
import * as BashCall from "./BashCall.js"

export interface Options extends HandleOptions {
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** The time limit, in milliseconds. */
  readonly timeout?: number | undefined
}

/** What a command printed, in full, and how it ended. */
export interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Wraps a command in a subshell with its directory and variables. */
export const subshell = (command: string, { cwd, env = {} }: Options): string => {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`export -- ${Quote.quote(`${name}=${value}`)} || exit`]
  )
  const directory = cwd === undefined ? [] : [`cd -- ${Quote.quote(cwd)} || exit`]
  return `(${[...directory, ...variables, command].join("\n")}\n)`
}

/** Runs a command in a subshell. A denial is explained in its stderr. */
export const run = async (synapse: Synapse, command: string, options: Options = {}): Promise<Ended> => {
  const { onOutput, signal, timeout } = options
  const said = { stdout: "", stderr: "" }
  const given = { command: subshell(command, options), ...(timeout === undefined ? {} : { timeout }) }
  const { extras, isError, output } = await BashCall.run(synapse, given, undefined, signal, ({ stream, text }) => {
    said[stream] += text
    return onOutput?.({ stream, text })
  })
  // If nothing ran, only the text for the model says why.
  const reason = extras.stdout === undefined && isError ? output : (extras.blockedReason ?? "")
  const stderr = reason === "" ? said.stderr : `${said.stderr}${reason}\n`
  return { exitCode: extras.exitCode ?? 1, stdout: said.stdout, stderr }
}
