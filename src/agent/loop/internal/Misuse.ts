/** Counts consecutive turns in which a model uses its tool wrongly. */
import * as Schema from "effect/Schema"
import * as UntrustedText from "../../../domain/UntrustedText.js"
import * as BashTool from "../../../toolset/BashTool.js"
import * as TurnCalls from "./TurnCalls.js"

interface Misuse {
  readonly count: number
  /** The failed commands; undefined if the tool call itself was wrong. */
  readonly commands: string | undefined
}

/** How many such turns in a row end a run. */
export const most = 3

export const none: Misuse = { count: 0, commands: undefined }

/** Counts a turn. One correct call resets the count. */
export const next = (before: Misuse, turn: ReadonlyArray<TurnCalls.Done>): Misuse => {
  const kinds = turn.map(kindOf)
  if (kinds.length === 0 || kinds.includes(undefined)) return none
  const commands = kinds.includes("wrong")
    ? undefined
    : kinds.map((kind) => (typeof kind === "object" ? kind.command : "")).join("\n")
  return { count: commands === before.commands ? before.count + 1 : 1, commands }
}

export const describe = ({ commands, count }: Misuse): string =>
  commands === undefined
    ? `The model called its tool wrongly in ${count} turns in a row.`
    : `The same command failed in ${count} turns in a row: ${UntrustedText.quoted(commands, 200)}.`

const isValid = Schema.is(BashTool.Parameters, { onExcessProperty: "error" })

const kindOf = ({ call, result }: TurnCalls.Done): "wrong" | { readonly command: string } | undefined => {
  const { error, failureCategory, toolName } = result.extras
  if (toolName !== undefined) return "wrong"
  const isRefused = error === "CommandNotFound" || error === "InvalidUsage"
  if (error !== undefined && !isRefused) return undefined
  if (failureCategory !== "invalid_usage" && failureCategory !== "command_not_found") return undefined
  const line = TurnCalls.of(call)
  if (line?.simple !== true || (isRefused && !isValid(TurnCalls.argumentsOf(call)))) {
    return isRefused ? "wrong" : undefined
  }
  // A missing program is missing with any arguments.
  return { command: failureCategory === "command_not_found" && !isRefused ? line.name : line.text }
}
