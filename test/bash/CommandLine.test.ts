import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"

/** What routing sees of a command. */
const head = (text: string) => {
  const line = CommandLine.parse(text)
  return { assignments: line.assignments.map(({ value }) => value), name: line.name, rest: line.rest }
}

describe("CommandLine", () => {
  it("names the first command, and gives the rest of the text as it is written", () => {
    assert.deepStrictEqual(head("bash   echo 'hi  there' | cat"), {
      assignments: [],
      name: "bash",
      rest: "echo 'hi  there' | cat"
    })
    assert.deepStrictEqual(head('A=1 B="x y" \\\n  make all'), {
      assignments: ["A=1", "B=x y"],
      name: "make",
      rest: "all"
    })
    assert.deepStrictEqual(head("# why\n\n  2>/dev/null ls"), { assignments: [], name: "ls", rest: "" })
    assert.deepStrictEqual(head('mcp:demo:echo "4" true'), { assignments: [], name: "mcp:demo:echo", rest: '"4" true' })
    assert.deepStrictEqual(head("'my tool' x"), { assignments: [], name: "my tool", rest: "x" })
  })

  it("names nothing where no word names a command", () => {
    for (const text of ["", "  \n ", "# only", "A=1", "A=1\nls", "(ls)", "; ls", "$CMD x", '"open', "> out"]) {
      assert.strictEqual(CommandLine.parse(text).name, "", text)
    }
  })

  it("knows a line that is one command from one that needs a shell", () => {
    const simple = [
      "TodoWrite '{}'",
      "  TodoWrite '{}'  # done\n\n",
      "read a\\ b --limit 3",
      "A=1 mcp:x:y z",
      'TodoWrite <<\'EOF\'\n{"a": "it\'s"}\nEOF\n',
      "TodoWrite <<< '{}'"
    ]
    const compound = [
      "TodoWrite '{}' && echo done",
      "read f | grep x",
      "read f > g",
      "<g read f",
      "read f;",
      "read f &",
      "read f\nread g",
      "read 'f",
      "read <<EOF | cat\nEOF",
      ""
    ]
    assert.deepStrictEqual(
      [...simple, ...compound].filter((text) => CommandLine.parse(text).simple),
      simple
    )
  })

  it("gives the words and the here-document of a command", () => {
    const line = CommandLine.parse("write 'a b'$'\\t' --x=1 <<-'EOF' more # not\n\tone\n\tEOF\n")
    assert.deepStrictEqual(
      { words: line.words.map(({ value }) => value), body: line.hereDocument?.body },
      { words: ["a b\t", "--x=1", "more"], body: "one\n" }
    )
  })

  it("joins the lines of a here-document at an odd number of backslashes only", () => {
    const body = (text: string) => CommandLine.parse(text).hereDocument
    for (const [written, meant] of [
      ["a\\\nb", "ab"],
      ["a\\\\\nb", "a\\\nb"],
      ["a\\\\\\\nb", "a\\b"]
    ]) {
      const { body: text, closed } = body(`cat <<E\n${written}\nE\n`) ?? assert.fail(written)
      assert.deepStrictEqual([text, closed], [`${meant}\n`, true], written)
    }
    assert.deepInclude(body("cat <<E\na\\\\\nE\n"), { body: "a\\\n", closed: true })
    assert.deepInclude(body("cat <<E\na\\\nE\n"), { body: "aE\n", closed: false })
  })

  it("finds the end of a substitution with a case in it", () => {
    for (const written of ["$(case a in a) x ;; b) y ;; esac)", "$(case a in a) (echo esac) ;; b) y ;; esac)z"]) {
      assert.deepStrictEqual(
        CommandLine.parse(`p ${written} last`).words.map(({ value }) => value),
        [written, "last"]
      )
    }
  })
})
