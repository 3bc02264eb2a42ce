import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Server from "../../../src/extension/mcp/Server.js"

const expand = (text: string, variables: Server.Variables = { A: "1", EMPTY: "", TEXT: "${A}" }) =>
  Either.merge(Either.mapLeft(Server.expand(text, variables), (reason) => `LEFT ${reason}`))

const name = FastCheck.stringMatching(/^[A-Za-z_]\w{0,8}$/)

describe("the variables of a server's entry", () => {
  it("are expanded once, with a default where they are not set or empty", () => {
    assert.deepStrictEqual(
      ["${A}-${A}", "${TEXT}", "${NO:-d}", "${EMPTY:-d}", "${A:-d}", "${NO:-}", "$A ${x%y} ${} {A} ${1}", "a$"].map(
        (text) => expand(text)
      ),
      ["1-1", "${A}", "d", "d", "1", "", "$A ${x%y} ${} {A} ${1}", "a$"]
    )
  })

  it("are a problem that names them where they are not set, and what only editors fill in is one too", () => {
    assert.deepStrictEqual(
      ["Bearer ${NO}", "${EMPTY}", "${input:token}", "${env:A}", "${toString}", "${__proto__}"].map((text) =>
        expand(text)
      ),
      [
        "LEFT the variable NO is not set",
        "LEFT the variable EMPTY is empty",
        "LEFT ${input:token} is filled in by editors only",
        "LEFT ${env:A} is filled in by editors only",
        "LEFT the variable toString is not set",
        "LEFT the variable __proto__ is not set"
      ]
    )
  })

  it("never leave a text without its value, whatever the value is", () => {
    FastCheck.assert(
      FastCheck.property(name, FastCheck.string({ minLength: 1 }), FastCheck.string(), (name, value, around) => {
        const text = around.replaceAll("$", "")
        assert.strictEqual(expand(`${text}\${${name}}${text}`, { [name]: value }), `${text}${value}${text}`)
        assert.deepStrictEqual(Server.namesIn(`${text}\${${name}:-x}`), [name])
        assert.include(expand(`${text}\${${name}}`, Object.create({ [name]: value })), "LEFT")
      })
    )
  })

  it("leave any text as it is that has no reference", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), (text) => {
        if (!text.includes("${")) assert.strictEqual(expand(text), text)
      })
    )
  })
})
