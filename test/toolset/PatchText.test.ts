import { assert, describe, it } from "@effect/vitest"
import * as PatchText from "../../src/toolset/internal/PatchText.js"

const body = "*** Begin Patch\n*** Delete File: a\n*** End Patch"

describe("a patch in the place of a command", () => {
  it("is known without quotes, with the tool's name before it or without", () => {
    for (const text of [
      body,
      `\n${body}\n`,
      `apply_patch ${body}`,
      `apply_patch\n${body}\nEOF\n`,
      `applypatch(${body})`,
      `apply_patch (\n${body}\n)`
    ])
      assert.deepStrictEqual(PatchText.find(text), { patch: body, isWhole: true }, text)
    for (const text of [
      "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n",
      "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"
    ])
      assert.deepStrictEqual(PatchText.find(text), { patch: text, isWhole: true }, text)
  })

  it("has no end where something follows it, or nothing ends it", () => {
    for (const text of [`${body}\nls`, "*** Begin Patch\n*** Delete File: a\n"])
      assert.deepStrictEqual(PatchText.find(text), { patch: text, isWhole: false }, text)
  })

  it("is none where bash reads it as words or as input", () => {
    for (const text of [
      `apply_patch '${body}'`,
      `apply_patch <<'EOF'\n${body}\nEOF`,
      `cat <<'EOF'\n${body}\nEOF`,
      "diff --git a/a b/a",
      "--- a",
      "ls *** Begin Patch"
    ])
      assert.isUndefined(PatchText.find(text), text)
  })

  it("is applied by a Synapse command, also in a script that names another's", () => {
    assert.strictEqual(PatchText.toCommand(body), `edit --patch <<'EOF'\n${body}\nEOF`)
    assert.strictEqual(
      PatchText.renamed(`cd a && apply_patch <<'E'\n${body}\nE`),
      `cd a && edit --patch <<'E'\n${body}\nE`
    )
    assert.strictEqual(PatchText.renamed("echo apply_patch <<E"), "echo apply_patch <<E")
  })
})
