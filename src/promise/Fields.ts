/** Checks a program's values by a schema, so that an error names each field as the program wrote it. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as CommandName from "../command/CommandName.js"
import * as JsonText from "../domain/JsonText.js"
import type { Signal } from "./Synapse.js"

export const isObject = Predicate.isReadonlyRecord

const shown = (value: unknown): string => {
  if (typeof value === "function") return "a function"
  if (typeof value === "bigint" || typeof value === "symbol") return `a ${typeof value}`
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object" && value !== null) return "an object"
  const said = typeof value === "string" ? JSON.stringify(value) : String(value)
  return said.length > 100 ? `${said.slice(0, 100)}…` : said
}

/** Says what a value must be. With `override` false, a problem inside the value is shown instead. */
export const must = (expected: string, override = true) => ({
  message: ({ actual }: ParseResult.ParseIssue) => ({
    message: `must be ${expected}, not ${shown(actual)}`,
    override
  })
})

/** Makes a filter's message from the reason why a value can't be used, if any. */
export const refusal = (reason: string | undefined): string | undefined => reason && `can't be used: ${reason}`

/** Accepts a string that is not blank and has no NUL character. */
export const text = Schema.String.pipe(
  Schema.filter((value) => value.trim() !== "" && !value.includes("\0"))
).annotations(must("a text that is not blank and has no NUL character"))

export const texts = Schema.Array(text).annotations(must("a list of texts", false))

export const boolean = Schema.Boolean.annotations(must("true or false"))

export const callback = Schema.declare(Predicate.isFunction).annotations(must("a function"))

/** Accepts a whole number from `least` to `most`. */
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  Schema.Number.pipe(
    Schema.filter((value) => Number.isSafeInteger(value) && value >= least && value <= most)
  ).annotations(must(`a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`}`))

/** Makes the schema of an object with optional fields. */
export const optional = (fields: Readonly<Record<string, Schema.Schema.AnyNoContext>>): Schema.Schema.AnyNoContext =>
  Schema.Struct(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, Schema.optionalWith(field, { exact: true })])
    )
  ).annotations(must("an object", false))

const isSignal = (value: unknown): value is Signal =>
  Predicate.hasProperty(value, "aborted") &&
  Predicate.hasProperty(value, "addEventListener") &&
  Predicate.hasProperty(value, "removeEventListener") &&
  Predicate.isFunction(value.addEventListener) &&
  Predicate.isFunction(value.removeEventListener)

/** The options of everything that runs. */
export const handling = {
  onOutput: callback,
  signal: Schema.declare(isSignal).annotations(must("an AbortSignal"))
}

export const command = Schema.Struct({
  name: Schema.String.pipe(Schema.filter((name) => /^[A-Za-z_][\w-]*$/.test(name)))
    .annotations(must("one word of letters, digits, - and _, such as weather"))
    .pipe(Schema.filter((name) => refusal(CommandName.problemOf(name)))),
  summary: text,
  usage: text,
  run: callback
}).annotations(must("an object", false))

/** Removes an object's undefined fields, which count as missing. */
export const withoutUndefined = (given: unknown): unknown =>
  isObject(given) ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) : given

/**
 * Returns all problems with a value, one per line, or undefined.
 *
 * @param kind what errors call a field, such as "setting"
 */
export const problemOf = (kind: string, given: unknown, schema: Schema.Schema.AnyNoContext): string | undefined => {
  const validate = ParseResult.validateEither(schema, { errors: "all", onExcessProperty: "error" })
  const checked = validate(withoutUndefined(given))
  if (Either.isRight(checked)) return undefined
  const problems = ParseResult.ArrayFormatter.formatIssueSync(checked.left)
  return problems
    .map(({ _tag, message, path }) => {
      const name = JSON.stringify(JsonText.showPath(path))
      if (_tag === "Unexpected") return `there is no ${kind} ${name}`
      return path.length === 0 ? `the ${kind}s ${message}` : `the ${kind} ${name} ${message}`
    })
    .join("\n")
}
