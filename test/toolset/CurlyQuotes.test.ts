import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as CurlyQuotes from "../../src/toolset/internal/CurlyQuotes.js"

const remark = (text: string, exitCode: number, stderr: string) =>
  CurlyQuotes.remark(text, CommandLine.parse(text).tokens, CommandResult.make({ exitCode, stderr }))

describe("CurlyQuotes", () => {
  it("are named where a command failed by them", () => {
    const double = '“ and ” are letters to bash: quote with "'
    assert.strictEqual(remark("“ls” -l", 127, ""), double)
    assert.strictEqual(remark("cat “a b”", 1, "cat: “a: No such file or directory\n"), double)
    assert.strictEqual(remark("x --name=“a b”", 2, "x: unknown b”\n"), double)
    assert.strictEqual(remark("ls ‘a’", 2, "ls: cannot access '‘a’'\n"), "‘ and ’ are letters to bash: quote with '")
  })

  it("are not where they stand within quotes, or something else failed", () => {
    assert.strictEqual(remark('echo "“a”" && nofile', 127, ""), undefined)
    assert.strictEqual(remark("grep “a” f", 1, ""), undefined)
    assert.strictEqual(remark("cat don’t", 1, "cat: don’t: No such file or directory\n"), undefined)
    assert.strictEqual(remark("cat <<EOF\n“a”\nEOF\nnofile", 127, ""), undefined)
  })
})
