import { assert, describe, it } from "@effect/vitest"
import * as Remark from "../../src/toolset/internal/Remark.js"

const remark = (text: string, quote: string) =>
  Remark.remarkOpenQuote(text, `bash: line 1: unexpected EOF while looking for matching \`${quote}'\n`)

describe("the remark on a quote without an end", () => {
  it("shows where it opens, and the here-document that takes the text as it is", () => {
    for (const [text, quote, said] of [
      ['echo "unclosed', '"', "\"unclosed has no end: close it, or cat <<'EOF'"],
      ['echo "of $HOME', '"', '"of has no end: close it, or cat <<EOF'],
      ["echo 'unclosed text", "'", "'unclosed has no end: close it, or cat <<'EOF'"],
      ['git commit -m "say "hi" to" all"', '"', "a \" has no end: close it, or git commit -F - <<'EOF'"],
      [`python3 -c "print('a')`, '"', "\"print('a') has no end: close it, or python3 - <<'EOF'"],
      ['make "x', '"', '"x has no end: close it'],
      ["make x'", "'", "a ' has no end: close it"],
      [`make "${"x".repeat(99)}`, '"', 'a " has no end: close it'],
      ["echo 'it's done'", "'", "the ' in it's ends a quote: write it'\\''s, or cat <<'EOF'"]
    ] as const)
      assert.strictEqual(remark(text, quote), said, text)
  })

  it("is none where bash misses something else", () => {
    assert.isUndefined(remark("echo $(ls", ")"))
    assert.isUndefined(Remark.remarkOpenQuote('echo "', "bash: x: No such file or directory\n"))
  })
})
