import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as JsonText from "../../src/domain/JsonText.js"

const flaw = (text: string) => Either.getOrThrow(Either.flip(JsonText.parse(text)))

describe("a text", () => {
  it("is read as JSON is, whatever it holds", () => {
    const values = FastCheck.jsonValue({ maxDepth: 4 })
    FastCheck.assert(
      FastCheck.property(values, FastCheck.constantFrom(undefined, 2, "\t"), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        assert.deepStrictEqual(JsonText.parse(text), Either.right(JSON.parse(text)))
        assert.deepStrictEqual(JsonText.parse(`\ufeff${text}\n`), Either.right(JSON.parse(text)))
      })
    )
  })

  it("that is no JSON is refused, with the place", () => {
    assert.match(flaw('{\n  "a": 1,\n  b\n}').reason, /^it is no JSON: .*\(line 3, column 3\)$/)
    assert.match(flaw('{"a": [1, 2').reason, /^it is no JSON: /)
    for (const text of ["", " \n", "\ufeff"]) assert.strictEqual(flaw(text).reason, "it is empty, which is no JSON")
    for (const text of ["// x\n{}", "{'a': 1}", "{a: 1}", "[1,]", "NaN", "{} {}", "\ufeff\ufeff{}"]) {
      assert.match(flaw(text).reason, /no JSON/, text)
    }
  })

  it("with the same name twice in an object is refused, with its path", () => {
    assert.deepStrictEqual(flaw('{"a": {"b": [1, {"c": 1, "d": [], "c": 2}]}}'), {
      path: "a.b[1].c",
      reason: "the name stands here twice"
    })
    assert.strictEqual(flaw('{"x y": 1, "x\\u0020y": 2}').path, '["x y"]')
    assert.strictEqual(flaw('{"__proto__": 1, "__proto__": 2}').path, "__proto__")
    const fine = '{"a": {"a": {"a": [{"a": "a"}, {"a": ",:{}[]\\\\\\""}]}}, "b": {"a": 1}}'
    assert.isTrue(Either.isRight(JsonText.parse(fine)))
  })

  it("nested too deep is refused", () => {
    assert.match(flaw("[".repeat(100_000) + "]".repeat(100_000)).reason, /deeper than 200/)
    assert.isTrue(Either.isRight(JsonText.parse("[".repeat(200) + "]".repeat(200))))
  })
})

describe("an edit", () => {
  const { Append, Remove, Set } = JsonText.Edit

  it("changes nothing but what it is about", () => {
    const text =
      '\ufeff{\r\n\t"b": [\r\n\t\t1.0,\r\n\t\t12345678901234567890,\r\n\t\t-1e400\r\n\t],\r\n\t"__proto__": {},\r\n\t"a": "\\u0041"\r\n}\r\n'
    assert.strictEqual(JsonText.edit(text, []), text)
    assert.strictEqual(
      JsonText.edit(text, [Set({ path: ["c"], value: true })]),
      text.replace('"\\u0041"\r\n}', '"\\u0041",\r\n\t"c": true\r\n}')
    )
    const longer = text.replace("-1e400", '-1e400,\r\n\t\t"x"')
    assert.strictEqual(JsonText.edit(text, [Append({ path: ["b"], value: "x" })]), longer)
    assert.strictEqual(JsonText.edit(longer, [Remove({ path: ["b", 3] })]), text)
    assert.strictEqual(JsonText.edit(text, [Remove({ path: ["b", 0] })]), text.replace("1.0,\r\n\t\t", ""))
  })

  it("keeps every other value, whatever they are and however they are written", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.dictionary(FastCheck.string(), FastCheck.jsonValue({ maxDepth: 3 })),
        FastCheck.array(FastCheck.string()),
        FastCheck.constantFrom(undefined, 2, "\t"),
        (others, list, space) => {
          const { a: _, ...before } = others
          const text = JSON.stringify({ ...before, a: { list } }, undefined, space)
          const edits = [
            Append({ path: ["a", "list"], value: "new" }),
            Set({ path: ["a", "b", "c"], value: [1] }),
            ...(list.length === 0 ? [] : [Remove({ path: ["a", "list", 0] })])
          ]
          assert.deepStrictEqual(
            JsonText.parse(JsonText.edit(text, edits)),
            Either.right(
              JSON.parse(JSON.stringify({ ...before, a: { list: [...list.slice(1), "new"], b: { c: [1] } } }))
            )
          )
        }
      )
    )
  })

  it("writes two spaces where the text has no indentation", () => {
    assert.strictEqual(
      JsonText.edit("{}\n", [Set({ path: ["a", "b"], value: 1 })]),
      '{\n  "a": {\n    "b": 1\n  }\n}\n'
    )
  })
})
