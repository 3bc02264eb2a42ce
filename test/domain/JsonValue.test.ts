import { assert, describe, it } from "@effect/vitest"
import * as JsonValue from "../../src/domain/JsonValue.js"

describe("JsonValue.findHalfIn", () => {
  const of = (json: string) => JsonValue.findHalfIn(json, JSON.parse(json))?.replace(/\..*/s, "")

  it("finds half of a character in a text or a name", () => {
    assert.strictEqual(of('{"a":["x","\\udc00"]}'), "1: it holds half of a character (\\udc00, 0 in)")
    assert.strictEqual(of('{"a":{"b\\ud83d":1}}'), "a name holds half of a character (\\ud83d, 1 in)")
    assert.strictEqual(of(`{"a":"${"\ud83d"}"}`), "a: it holds half of a character (\\ud83d, 0 in)")
  })

  it("finds none where characters are whole, or the escape itself is escaped", () => {
    assert.isUndefined(of('{"a":"\\ud83d\\ude00","b":"\\\\ud800"}'))
  })
})
