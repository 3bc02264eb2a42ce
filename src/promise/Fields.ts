/** Checks the fields of an object by hand, so that an error names a field as the program wrote it. */
import * as Similar from "../domain/Similar.js"

/** A check of one field's value. */
export interface Field {
  /** The words after "must be" in the error. */
  readonly expected: string
  readonly test: (value: unknown) => boolean
  /** Returns what is wrong within a value that has passed `test`, a line each; `field` is the field in words. */
  readonly inside?: (value: unknown, field: string) => string | undefined
}

/** The fields that an object may have, by name. */
export type Fields = Readonly<Record<string, Field>>

/** Makes a check from the words after "must be" and a test. */
export const field = (expected: string, test: (value: unknown) => boolean): Field => ({ expected, test })

/** Joins lines; undefined where there are none. */
const lines = (all: ReadonlyArray<string>): string | undefined => (all.length === 0 ? undefined : all.join("\n"))

/** Tests whether a value is an object and not an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isClean = (value: unknown): boolean => !String(value).includes("\0")

/** Returns what is wrong with one value, which stands for `subject`; undefined where nothing is. */
const problemOfValue = (subject: string, value: unknown, { expected, inside, test }: Field): string | undefined =>
  test(value) ? inside?.(value, subject) : `${subject} must be ${expected}, not ${shown(value)}`

const textOf = (expected: string, test: (value: string) => boolean): Field => ({
  expected,
  test: (value) => typeof value === "string" && test(value),
  inside: (value, field) => (isClean(value) ? undefined : `${field} must have no NUL character, as ${shown(value)} has`)
})

/** Accepts a string that is not blank and has no NUL character. */
export const text: Field = textOf("a text that is not blank", (value) => value.trim() !== "")

/** Accepts true and false. */
export const boolean = field("true or false", (value) => typeof value === "boolean")

/** Accepts a function. */
export const callback = field("a function", (value) => typeof value === "function")

/** Accepts an array of strings that are not blank and have no NUL character. */
export const texts: Field = {
  ...field("a list of texts", Array.isArray),
  inside: (value, field) =>
    lines(
      Array.from(value as ArrayLike<unknown>, (one, at) =>
        problemOfValue(`entry ${at + 1} of ${field}`, one, text)
      ).filter((problem) => problem !== undefined)
    )
}

const variable = textOf("a text", () => true)

/** Accepts an object of variables for a process: names without `=` and NUL, and strings without NUL. */
export const variables: Field = {
  ...field("an object of texts by name", isObject),
  inside: (value, field) =>
    lines(
      Object.entries(value as object)
        .map(([name, one]) =>
          /^[^=\0]+$/.test(name)
            ? problemOfValue(`the variable ${JSON.stringify(name)} of ${field}`, one, variable)
            : `${field} has a variable ${JSON.stringify(name)}: a name is not empty, and has neither = nor NUL`
        )
        .filter((problem) => problem !== undefined)
    )
}

/**
 * Makes a check for a whole number from `least` to `most`; `unit` follows "whole number" in the error: " of
 * milliseconds".
 */
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER, unit = ""): Field =>
  field(
    `a whole number${unit} ${most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
  )

const shown = (value: unknown): string => {
  if (typeof value === "function") return "a function"
  if (typeof value === "bigint" || typeof value === "symbol") return `a ${typeof value}`
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object" && value !== null) return "an object"
  const said = typeof value === "string" ? JSON.stringify(value) : String(value)
  return said.length > 100 ? `${said.slice(0, 100)}…` : said
}

/**
 * Returns all that is wrong with an object, a line each; undefined where nothing is. A field that is undefined counts
 * as missing.
 *
 * @param kind the word for a field in errors: "setting"
 * @param owner the object in words, where the kind does not tell it: `the command "weather"`
 */
export const problemOf = (
  kind: string,
  given: unknown,
  fields: Fields,
  required: ReadonlyArray<string> = [],
  prefix = "",
  owner?: string
): string | undefined => {
  if (!isObject(given)) return `${owner ?? `the ${kind}s`} must be an object, not ${shown(given)}`
  const names = Object.keys(fields)
  const of = owner === undefined ? "" : ` of ${owner}`
  const problems = Object.entries(given).flatMap(([name, value]) => {
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined
    const full = JSON.stringify(`${prefix}${name}`)
    if (known === undefined) {
      const near = Similar.nearest(name, names)
      const advice =
        near === undefined ? `there are ${names.join(", ")}` : `did you mean ${JSON.stringify(prefix + near)}?`
      return [`unknown ${kind} ${full}${of}: ${advice}`]
    }
    if (value === undefined) return []
    return problemOfValue(`the ${kind} ${full}${of}`, value, known) ?? []
  })
  const missing = required
    .filter((name) => given[name] === undefined)
    .map((name) => `${owner ?? `the ${kind}`} has no ${name}`)
  return lines([...problems, ...missing])
}
