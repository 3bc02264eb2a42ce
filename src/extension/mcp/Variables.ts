/** Expands `${NAME}` and `${NAME:-default}` in the texts of a server's entry. */
import * as Either from "effect/Either"

/** The values of variables. */
export type Variables = Readonly<Record<string, string | undefined>>

const reference = /\$\{([^{}]*)\}/g
const known = /^([A-Za-z_]\w*)(?::-(.*))?$/s
/** Matches what editors fill in: `${input:token}`, `${env:NAME}`. */
const editors = /^[A-Za-z]+:(?!-)/

/**
 * Expands a text once: values are not expanded again. On the left is the reason why it can't be: a variable that is not
 * set and has no default, which an empty one counts as. What is no variable (`${x%y}`) stays as it is written.
 */
export const expand = (text: string, variables: Variables): Either.Either<string, string> => {
  let reason: string | undefined
  const expanded = text.replace(reference, (written, inner: string) => {
    if (editors.test(inner)) reason ??= `${written} is filled in by editors only`
    const [, name = "", fallback] = known.exec(inner) ?? []
    if (name === "") return written
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value !== undefined && value !== "") return value
    if (fallback === undefined) reason ??= `the variable ${name} is ${value === "" ? "empty" : "not set"}`
    return fallback ?? ""
  })
  return reason === undefined ? Either.right(expanded) : Either.left(reason)
}

/** Returns the names of the variables that a text expands. */
export const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(reference)].flatMap(([, inner = ""]) => known.exec(inner)?.[1] ?? [])
