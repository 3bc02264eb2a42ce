/** Words for a person what the output of a command does not tell, without advice for models. */
import * as Diagnostic from "../../domain/Diagnostic.js"
import type { ToolReturn } from "../../toolset/ToolReturn.js"

/** Returns why a command was not run, or what was denied and how to allow it; otherwise the hints. */
const endingOf = (
  { extras, message }: ToolReturn,
  hints: ReadonlyArray<string>,
  place: Diagnostic.Place
): ReadonlyArray<string | undefined> => {
  const { blocked, blockedReason = message, denied, error, interrupted } = extras
  if (denied !== undefined) return [Diagnostic.forPerson(denied, place), ...(blocked === true ? [] : hints)]
  if (blocked === true && error !== "Blocked") return [blockedReason]
  return error !== undefined || interrupted === true ? [message] : hints
}

/** Returns what a person is told, one text each. A person who allowed something is not told of the denial. */
export const told = (
  result: ToolReturn,
  hints: ReadonlyArray<string>,
  place: Diagnostic.Place,
  knowsEnd = false
): ReadonlyArray<string> => {
  const { diagnostics = [] } = result.extras
  const isAllowed = diagnostics.some((each) => each._tag === "Notice" && each.about === "allowed")
  const ending = isAllowed || knowsEnd ? [] : endingOf(result, hints, place)
  return [...ending, ...diagnostics.map((each) => Diagnostic.forPerson(each, place))].filter(
    (text) => text !== undefined
  )
}
