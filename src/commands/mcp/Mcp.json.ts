/** Parses JSON for a server without changing any number or character. */
import * as Either from "effect/Either"
import * as JsonText from "../../domain/JsonText.js"
import * as JsonValue from "../../domain/JsonValue.js"
import * as Yield from "../../domain/Yield.js"

/** Parses JSON, or says on the left why it can't be passed on unchanged. */
export const parse = (text: string): Either.Either<unknown, string> => Yield.now(steps(text))

/** Parses like `parse`, yielding in between. */
export function* steps(text: string): Yield.Steps<Either.Either<unknown, string>> {
  const parsed = yield* JsonText.steps(text)
  if (Either.isLeft(parsed)) {
    const { path, reason } = parsed.left
    return Either.left(path === "" ? reason : `${path}: ${reason}`)
  }
  const number = yield* inexact(text)
  if (number !== undefined) return Either.left(`${number.slice(0, 60)} is ${flawOf(number)}: pass it as a string`)
  const half = JsonValue.findHalfIn(text, parsed.right)
  return half === undefined ? Either.right(parsed.right) : Either.left(half)
}

/** Matches the beginning of a string, or a number. */
const sign = /"|-?\d[\d.eE+-]*/g

/** The number of numbers and strings between two yields. */
const stride = 10_000

/** Returns the first number that JavaScript can't represent. */
function* inexact(json: string): Yield.Steps<string | undefined> {
  if (!/\d{16}|[eE]\+?\d{2}/.test(json)) return undefined
  sign.lastIndex = 0
  let at = 0
  for (let passed = 1; ; passed++) {
    sign.lastIndex = at
    const found = sign.exec(json)
    if (found === null) return undefined
    const [text] = found
    at = text === '"' ? JsonText.endOfString(json, sign.lastIndex) : sign.lastIndex
    if (text !== '"' && !isExact(text)) return text
    if (passed % stride === 0) yield
  }
}

export const flawOf = (number: string): string =>
  isWhole(number)
    ? "a number that JSON's readers round"
    : `larger than all numbers of JSON's readers (${Number.MAX_VALUE})`

const isWhole = (text: string): boolean => /^[+-]?\d+$/.test(text)

/** Tests whether a number keeps its value: an integer up to 2^53, or a fraction within range. */
export const isExact = (text: string): boolean => {
  const value = Number(text)
  return isWhole(text) ? Number.isSafeInteger(value) : Number.isFinite(value)
}
