/** Parses JSON for a server: nothing of it may change on the way, neither a number nor a character. */
import * as Either from "effect/Either"
import * as JsonText from "../../domain/JsonText.js"
import * as JsonValue from "../../domain/JsonValue.js"
import * as Yield from "../../domain/Yield.js"

/** Parses JSON; on the left, why it can't be passed on as it is written. */
export const parse = (text: string): Either.Either<unknown, string> => Yield.now(steps(text))

/** Does the work of `parse`, with rests. */
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

/** Matches the beginning of a string, or a number, which may be one that JavaScript has not. */
const sign = /"|-?\d[\d.eE+-]*/g

/** The number of signs and strings that are passed between two rests. */
const stride = 10_000

/** Returns the first number that would be another one. */
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

/** Says what is wrong with a number that is not exact. */
export const flawOf = (number: string): string =>
  isWhole(number)
    ? "a number that JSON's readers round"
    : `larger than all numbers of JSON's readers (${Number.MAX_VALUE})`

const isWhole = (text: string): boolean => /^[+-]?\d+$/.test(text)

/** Tests whether a number stays what it is: a whole one up to 2^53, and a broken one that is not out of range. */
export const isExact = (text: string): boolean => {
  const value = Number(text)
  return isWhole(text) ? Number.isSafeInteger(value) : Number.isFinite(value)
}
