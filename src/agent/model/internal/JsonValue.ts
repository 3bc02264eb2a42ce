/** Looks into JSON that a server sent, of which nothing is certain. */
import * as Predicate from "effect/Predicate"

/** An object in JSON. */
export type Json = Readonly<Record<string, unknown>>

/** Returns the value where it is an object, else an empty one. */
export const objectOf = (value: unknown): Json => (Predicate.isReadonlyRecord(value) ? (value as Json) : {})

/** Returns the objects of a list; none where the value is no list. */
export const objectsOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.map(objectOf) : [])

/** Returns the value where it is text, else an empty one. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** A larger number of things is none; sums of such numbers stay exact. */
const largest = 1e12

/** Returns the value where it is a number of things, else undefined. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= largest ? Math.floor(value) : undefined
