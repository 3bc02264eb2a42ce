import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as WayOn from "../../src/toolset/internal/WayOn.js"

/** What bash says of a text; nothing is run. */
const said = (text: string): string =>
  ChildProcess.spawnSync("bash", ["-n"], { input: text, encoding: "utf8", env: { LC_ALL: "C" } }).stderr

const slips: Readonly<Record<string, string | undefined>> = {
  "if [ -f x ] then echo 1; fi": "put ; before the then of the if on line 1",
  "if [ -f x ] then\necho 1\nelse\necho 2\nfi": "put ; before the then of the if on line 1",
  "ls\nwhile true do echo 1; done": "put ; before the do of the while on line 2",
  "for i in 1 2 do echo $i; done": "put ; before the do of the for on line 1",
  "if a; then for i in 1 do b; done; fi": "put ; before the do of the for on line 1",
  "if a; then b; elif c then d; fi": "put ; before the then of the elif on line 1",
  "for i in 1 2; echo $i; done": "the for on line 1 has no do",
  "for i in 1 2\n  echo $i\ndone": "the for on line 1 has no do",
  "if true; then echo x": undefined,
  "echo then; fi": undefined,
  "if echo then; then echo 1; done": undefined,
  "for i do echo; fi": undefined,
  "echo 'if a then'; )": undefined,
  "while read x; do echo do; fi": undefined,
  "case x in a) echo;; esac; )": undefined
}

describe("a slip in the syntax", () => {
  it("is told where it is certain", () => {
    for (const [text, told] of Object.entries(slips)) {
      const stderr = said(text)
      assert.match(stderr, /syntax error/, text)
      assert.strictEqual(WayOn.find(text, stderr), told, text)
    }
  })

  it("is none where bash says nothing of syntax", () => {
    assert.isUndefined(WayOn.find("if [ -f x ] then echo 1; fi", "bash: x: command not found"))
  })
})
