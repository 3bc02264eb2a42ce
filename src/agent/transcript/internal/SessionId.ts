/** The ids of sessions: short words, of which a beginning is enough where it is the only one. */
import * as Crypto from "node:crypto"
import * as Either from "effect/Either"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as Similar from "../../../domain/Similar.js"

/** Letters and digits that are not taken for one another. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
const length = 8

/** Makes an id at random. */
export const make = (): string =>
  Array.from({ length }, () => alphabet[Crypto.randomInt(alphabet.length)] as string).join("")

/** Tests whether a text is an id; no other text becomes a part of a path. */
export const is = (text: string): boolean => text.length === length && [...text].every((one) => alphabet.includes(one))

/** The most ids that a message names. */
const most = 5

/**
 * Finds the id that a text is, or is the beginning of. On the left is the reason why there is none, with what there is.
 *
 * @param ids the newest first
 */
export const find = (written: string, ids: ReadonlyArray<string>): Either.Either<string, string> => {
  if (ids.includes(written)) return Either.right(written)
  const shown = ForeignText.word(written)
  const found = written === "" ? [] : ids.filter((id) => id.startsWith(written))
  if (found.length === 1) return Either.right(found[0] as string)
  if (found.length > 1) {
    const more = found.length > most ? `, and ${found.length - most} more` : ""
    return Either.left(`${shown} is the beginning of ${found.slice(0, most).join(", ")}${more}: write more of it.`)
  }
  const [near] = Similar.likely(written, ids)
  if (near !== undefined) return Either.left(`There is no session ${shown}. Is it ${near}?`)
  return Either.left(
    ids.length === 0
      ? `There is no session ${shown}: there are none at all.`
      : `There is no session ${shown}. The newest is ${ids[0]}; synapse agent list shows all.`
  )
}
