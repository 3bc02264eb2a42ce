import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Setting from "../../src/domain/Setting.js"

const read = (text: string, least: 0 | 1) =>
  Effect.runSync(
    Setting.wholeNumber("N", least).pipe(
      Effect.either,
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["N", text]])))
    )
  ).pipe(Either.mapLeft(({ message }) => message))

describe("WholeNumber", () => {
  it("reads decimal digits, with white space around them", () => {
    assert.deepStrictEqual([read("12", 1), read(" 007\n", 1), read("0", 0)].map(Either.getOrNull), [12, 7, 0])
  })

  for (const text of ["", "0", "-1", "1.5", "1e3", "0x10", "1 2", "9007199254740992"]) {
    it(`refuses ${JSON.stringify(text)} where a positive number is needed`, () => {
      assert.match(Either.getOrThrow(Either.flip(read(text, 1))), /must be a positive whole number/)
    })
  }

  it("names what it takes where 0 is allowed", () => {
    assert.match(Either.getOrThrow(Either.flip(read("x", 0))), /N=x: must be a whole number, 0 or more/)
  })
})
