/** Reads the command line of a tool call. */
import * as Predicate from "effect/Predicate"
import * as CommandLine from "../../../bash/CommandLine.js"
import type { ToolCall } from "../../../domain/ToolCall.js"
import * as BashArguments from "../../../toolset/BashArguments.js"

/** The most characters of arguments that are looked into. */
const longest = 1_000_000

/**
 * Returns the arguments of a call of the tool Bash in the form of its parameters; undefined where they are no JSON.
 */
export const argumentsOf = (call: ToolCall): unknown => {
  if (call.name !== "Bash" || call.arguments.length > longest) return undefined
  try {
    return BashArguments.prepare(JSON.parse(call.arguments))
  } catch {
    return undefined
  }
}

/** Returns the command line of a call of the tool Bash; undefined where its arguments hold none, or a restart. */
export const of = (call: ToolCall): CommandLine.CommandLine | undefined => {
  const given = argumentsOf(call)
  if (!Predicate.isReadonlyRecord(given) || given["restart"] === true) return undefined
  const { command } = given
  return typeof command === "string" ? CommandLine.parse(command) : undefined
}
