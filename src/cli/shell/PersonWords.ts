/** Explains to a person how a command ended if the command itself did not, without advice for models. */
import * as Diagnostic from "../../domain/Diagnostic.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"

/** Tests whether the program has to report the failure, because the command itself did not. */
export const isUnreported = ({ extras }: ToolReturn): boolean =>
  extras.error !== undefined || extras.interrupted === true || extras.blocked === true

/** Returns why a command was not run, or what was denied and how to allow it. */
export const reasonOf = ({ extras, message }: ToolReturn, allowing: Diagnostic.Allowing): string => {
  const { blocked, blockedReason = message, denied } = extras
  if (blocked !== true) return message
  if (denied === undefined) return extras.error === "Blocked" ? message : blockedReason
  return Diagnostic.denialForPerson(denied, allowing)
}
