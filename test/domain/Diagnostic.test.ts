import { assert, describe, it } from "@effect/vitest"
import * as Diagnostic from "../../src/domain/Diagnostic.js"

const denial = (fields: Partial<Diagnostic.Denial> = {}) => ({
  _tag: "Denial" as const,
  what: "/a is read-only",
  rule: "not whitelisted",
  reason: "read-only",
  ran: true,
  also: [],
  advice: ["Writable: /p."],
  ...fields
})

describe("the denials that a model was told", () => {
  it("are told on a line each, with advice that was not given before", () => {
    const told = new Diagnostic.ToldAdvice()
    const said = (given: Diagnostic.Denial) => Diagnostic.forModel(told.trim(given))
    const all = "sandbox: /a is read-only. Also denied: /b. Writable: /p."
    assert.strictEqual(said(denial({ also: ["/b"] })), all)
    assert.strictEqual(said(denial({ also: ["/b"] })), "sandbox: /a is read-only. Also denied: /b.")
    assert.strictEqual(
      said(denial({ rest: "git add . adds the rest." })),
      "sandbox: /a is read-only. git add . adds the rest."
    )
    assert.strictEqual(said(denial({ ran: false })), "sandbox: /a is read-only. The command was not run.")
    assert.include(said(denial({ also: ["/b", "/c", "/d", "/e"] })), "Also denied: /b, /c, /d, and 1 more.")
    told.forget()
    assert.strictEqual(said(denial({ also: ["/b"] })), all)
    assert.strictEqual(Diagnostic.forModel(denial({ also: ["/b"] })), all)
  })

  it("tell of each write what to ask for, once", () => {
    const told = new Diagnostic.ToldAdvice()
    const said = (given: Diagnostic.Denial) => Diagnostic.forModel(told.trim(given))
    const text = (exist: boolean, ...paths: ReadonlyArray<string>) =>
      said(denial({ advice: [], allow: { exist, paths } })).replace("sandbox: /a is read-only.", "")
    assert.strictEqual(text(true, "/a"), " Ask the user to run: synapse sandbox allow /a")
    assert.strictEqual(text(true, "/a"), "")
    const anew = said(denial({ advice: [], allow: { exist: true, paths: ["/n"] }, isAnew: true }))
    assert.isTrue(anew.endsWith("Ask the user to run this, then call with restart: true: synapse sandbox allow /n"))
    assert.strictEqual(text(false, "/b"), " Ask the user to create /b and run: synapse sandbox allow /b")
    assert.strictEqual(
      text(false, "/b", "/c"),
      " Ask the user to create what is missing and run: synapse sandbox allow /b; synapse sandbox allow /c"
    )
  })

  it("say how the reader gets what only a new shell can have", () => {
    const anew = "/a is allowed by now, for a new shell"
    const awaiting = { _tag: "Awaiting", name: "/a" } as const
    assert.strictEqual(Diagnostic.forModel(awaiting), `${anew}: call with restart: true.`)
    assert.strictEqual(Diagnostic.forPerson(awaiting, Diagnostic.shell), `${anew}: /restart.`)
    assert.isUndefined(Diagnostic.forPerson(awaiting))
  })

  it("are told to a person without advice for a model", () => {
    assert.strictEqual(Diagnostic.forPerson(denial()), "sandbox: /a is read-only")
    assert.strictEqual(Diagnostic.forPerson(denial({ ran: false })), "sandbox: /a is read-only\nNothing was run.")
    assert.strictEqual(Diagnostic.forPerson(denial({ also: ["/b"] })), "sandbox: /a is read-only\nAlso denied: /b.")
    assert.strictEqual(
      Diagnostic.forPerson(denial({ hidden: "/a" }), Diagnostic.shell),
      "sandbox: /a is read-only\nTo let commands use it: /allow /a"
    )
    assert.strictEqual(
      Diagnostic.forPerson(denial({ lift: "allow /a" })),
      "sandbox: /a is read-only\nTo let commands use it: synapse sandbox allow /a"
    )
    assert.strictEqual(
      Diagnostic.forPerson(denial({ allow: { exist: false, paths: ["/a", "/b"] } })),
      "sandbox: /a is read-only\nTo let commands write there, make it, and then: synapse sandbox allow /a; synapse sandbox allow /b"
    )
  })
})
