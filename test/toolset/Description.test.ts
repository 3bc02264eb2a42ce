import { assert, describe, it } from "@effect/vitest"
import { Confinement } from "../../src/sandbox/Conditions.js"
import * as Description from "../../src/toolset/Description.js"

const said = (confinement: Confinement, timeout = 5000) => Description.make([], { timeout, confinement })

describe("the tool's description", () => {
  it("names the time that a command has", () => {
    assert.include(said(Confinement.Open(), 7000), "ended after 7000 ms, or its own timeout.")
    assert.include(Description.make([]), "ended after its timeout.")
  })

  it("says what confines commands, and nothing where that is not known", () => {
    assert.include(
      said(Confinement.Confined({ writable: ["/work/a", "/tmp"] })),
      "it writes only under /work/a, /tmp, can't read"
    )
    assert.include(said(Confinement.Open()), "There is no sandbox:")
    assert.notInclude(said(Confinement.Open()), "no network")
    assert.notInclude(Description.make([]), "sandbox")
  })

  it("says why no command can run, and not that there is a sandbox", () => {
    const text = said(Confinement.Impossible({ reason: "bwrap is required\nmore" }))
    assert.include(text, "- No command can run at present: bwrap is required\n")
    assert.notInclude(text, "more")
    assert.notInclude(text, "sandbox")
  })

  it("stays short, however many and however long the directories and reasons are", () => {
    const base = said(Confinement.Open()).length
    const many = Array.from({ length: 50 }, (_, at) => `/d${at}`)
    assert.include(said(Confinement.Confined({ writable: many })), "/d5 and 44 more,")
    assert.include(said(Confinement.Confined({ writable: ["/a\nb", "x".repeat(5000)] })), "under /a\\nb and 1 more,")
    assert.include(
      said(Confinement.Confined({ writable: ["x".repeat(5000)] })),
      "only in one directory, with long names,"
    )
    for (const confinement of [
      Confinement.Confined({ writable: Array.from({ length: 50 }, () => "y".repeat(100)) }),
      Confinement.Impossible({ reason: "z".repeat(10_000) })
    ]) {
      assert.isBelow(said(confinement).length, base + 600)
    }
  })
})
