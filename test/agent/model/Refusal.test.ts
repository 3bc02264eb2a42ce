import { assert, describe, it } from "@effect/vitest"
import * as Refusal from "../../../src/agent/model/internal/Refusal.js"

const now = Date.parse("2026-11-23T07:00:00Z")

describe("the time that a refusal asks to wait", () => {
  it.each([
    ["seconds", { "retry-after": "2" }, 2000],
    ["parts of a second", { "retry-after": "0.5" }, 500],
    ["milliseconds, before seconds", { "retry-after-ms": "120", "retry-after": "2" }, 120],
    ["a date", { "retry-after": "Mon, 23 Nov 2026 07:00:30 GMT" }, 30_000],
    ["a date in the past", { "retry-after": "Mon, 23 Nov 2026 06:00:30 GMT" }, 0],
    ["nothing", {}, undefined],
    ["a negative number", { "retry-after": "-1" }, undefined],
    ["words", { "retry-after": "soon" }, undefined],
    ["a number that is too long", { "retry-after": "9".repeat(400) }, undefined],
    ["a date that is none", { "retry-after": "Mon, 99 Nov 2026 07:00:30 GMT" }, undefined]
  ] as const)("is read from %s", (_, headers, expected) => {
    assert.strictEqual(Refusal.retryAfter(headers, now), expected)
  })
})
