import { assert, describe, it } from "@effect/vitest"
import * as CommandText from "../../src/toolset/internal/CommandText.js"

describe("an entity of HTML in the place of an operator", () => {
  it("is found, and all of them are written as they were meant", () => {
    assert.deepStrictEqual(CommandText.find("cat a &gt; b"), { entity: "&gt;", decoded: "cat a > b" })
    assert.deepStrictEqual(CommandText.find("cd a &amp;&amp; ls"), { entity: "&amp;", decoded: "cd a && ls" })
    assert.deepStrictEqual(CommandText.find("x 2&gt;&amp;1 | grep &quot;a &amp;lt; b&quot;"), {
      entity: "&gt;",
      decoded: 'x 2>&1 | grep "a &lt; b"'
    })
    assert.deepStrictEqual(CommandText.find("echo &#39;a&#39;"), { entity: "&#39;", decoded: "echo 'a'" })
  })

  it("is told without a command where an address has it: that needs quotes besides", () => {
    assert.deepStrictEqual(CommandText.find("curl http://a/?b=1&amp;c=2"), { entity: "&amp;", decoded: undefined })
  })

  it("is none in quotes, comments and here-documents, nor where it is something else", () => {
    for (const text of [
      "echo '&gt;'",
      'sed "s/&amp;/x/" a',
      "ls # &gt;",
      "cat <<EOF\na &gt; b\nEOF",
      "a & gt; b",
      "sleep 1 & amp",
      "a &gtx; b",
      "echo \\&gt;",
      "ls && lt; x"
    ]) {
      assert.isUndefined(CommandText.find(text), text)
    }
  })
})
