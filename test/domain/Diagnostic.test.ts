import { assert, describe, it } from "@effect/vitest"
import * as Diagnostic from "../../src/domain/Diagnostic.js"

const denial = (fields: Partial<Diagnostic.Denial> = {}) =>
  Diagnostic.Denial.make({
    what: "writing /a",
    rule: "not whitelisted",
    reason: "read only",
    ran: true,
    happened: "The command ran, and was refused this.",
    advice: ["Allowed: reading."],
    ...fields
  })
const request = (path: string) => ({ full: `Ask the user to run: allow ${path}`, short: `To ask for: allow ${path}` })
const short = (what: string) => `Blocked by the sandbox: ${what} (rule not whitelisted, explained before).`

describe("the denials that a model was told", () => {
  it("are told in full once a rule, and then on one line that names what else was denied", () => {
    const told = new Diagnostic.ToldDenials()
    const also = "Also denied: writing /b."
    const all = `Blocked by the sandbox: writing /a (rule not whitelisted: read only)\nThe command ran, and was refused this.\n${also}\nAllowed: reading.`
    assert.strictEqual(told.text(denial({ also })), all)
    assert.strictEqual(told.text(denial({ also })), `${short("writing /a")} ${also}`)
    assert.strictEqual(
      told.text(denial({ rest: "git add . adds the rest." })),
      `${short("writing /a")} git add . adds the rest.`
    )
    const happened = "The command was not run."
    assert.strictEqual(told.text(denial({ ran: false, happened })), `${short("writing /a")} ${happened}`)
    // Advice that was given is not repeated, whatever the rule; a rule is explained for each reason.
    assert.strictEqual(
      told.text(denial({ reason: "a secret" })),
      "Blocked by the sandbox: writing /a (rule not whitelisted: a secret)\nThe command ran, and was refused this."
    )
    told.forget()
    assert.strictEqual(told.text(denial({ also })), all)
    assert.strictEqual(Diagnostic.denialText(denial({ also })), all)
  })

  it("tell of each write what to ask for, once", () => {
    const told = new Diagnostic.ToldDenials()
    assert.include(told.text(denial({ request: request("/a") })), "\nAsk the user to run: allow /a")
    assert.strictEqual(told.text(denial({ request: request("/a") })), short("writing /a"))
    const other = denial({ what: "writing /b", request: request("/b") })
    assert.strictEqual(told.text(other), `${short("writing /b")} To ask for: allow /b`)
    assert.strictEqual(told.text(other), short("writing /b"))
  })
})
