/** The program as it is installed answers a model's calls: what the contracts say of `bash`, `read`, `write` and `edit`. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { run } from "../support/cli/Real.js"

/** Calls one after the other in one shell, in a directory with these files: their answers, and the directory's files then. */
const answers = async (files: Readonly<Record<string, string>>, commands: ReadonlyArray<string>) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-test-"))
  try {
    fs.mkdirSync(path.join(directory, "a dir"))
    for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(directory, name), content)
    const calls = commands.map((command, id) =>
      JSON.stringify({ id: String(id), name: "Bash", arguments: JSON.stringify({ command }) })
    )
    const { exitCode, stderr, stdout } = await run(["call", "--cwd", directory], `${calls.join("\n")}\n`)
    assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" })
    const returns = stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .sort((one, other) => Number(one.toolCallId) - Number(other.toolCallId))
    assert.deepStrictEqual(
      returns.map(({ toolCallId }) => toolCallId),
      commands.map((_, id) => String(id))
    )
    const after = Object.fromEntries(
      Object.keys(files).map((name) => [name, fs.readFileSync(path.join(directory, name), "utf8")])
    )
    return {
      seen: returns.map(({ extras }) => [extras.exitCode, extras.stdout, extras.stderr]),
      after,
      names: fs.readdirSync(directory).sort()
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

describe("synapse call", () => {
  it("S37 S39 S50: shows a window of a file, with its own line numbers", async () => {
    const lines = Array.from({ length: 1003 }, (_, index) => `${index + 1} é\r\n`).join("")
    const { seen } = await answers({ "a file.txt": lines, empty: "", last: "a\nb" }, [
      "read 'a file.txt' --offset 2 --limit 3 2>/dev/null",
      "read 'a file.txt' --offset 999 --limit 2 2>/dev/null",
      "read 'a file.txt' --offset 1001 2>/dev/null",
      "read 'a file.txt' --offset 1003",
      "read 'a file.txt' --offset 18446744073709551616",
      "read empty --offset 5",
      "read last --offset 1",
      "read 'no such.txt'"
    ])
    assert.deepStrictEqual(seen, [
      [0, "     3\t3 é\n     4\t4 é\n     5\t5 é\n", ""],
      [0, "  1000\t1000 é\n  1001\t1001 é\n", ""],
      [0, "  1002\t1002 é\n  1003\t1003 é\n", ""],
      [0, "", "read: a file.txt: only 1003 lines\n"],
      [0, "", "read: a file.txt: only 1003 lines\n"],
      [0, "", "read: empty: empty file\n"],
      [0, "     2\tb\n", ""],
      [1, "", 'read: no such.txt: No such file or directory\nBash(command="ls .") shows what there is.\n']
    ])
  })

  it("S38 S40 S51 S52: writes and edits byte for byte, and nothing that it was not asked for", async () => {
    const { after, names, seen } = await answers(
      { all: "a.b acb\r\na.b", first: "x\nx\nx", same: "acb\n", new: "old" },
      [
        "write 'a dir' text",
        "edit all a.b '$&' --all",
        "edit first x '$1'",
        "edit same a.b c 2>/dev/null",
        "printf '%s' '$& é' | write new"
      ]
    )
    assert.deepStrictEqual(seen, [
      [1, "", "write: a dir: not a writable file: Is a directory\n"],
      [0, "Replaced 2 occurrences in all (lines 1, 2)\n-a.b acb\n+$& acb\n", ""],
      [
        0,
        "2 more matches: lines 2, 3; --all replaces every one\nReplaced 1 occurrence in first (line 1)\n-x\n+$1\n",
        ""
      ],
      [1, "", ""],
      [0, "Written 5 bytes (1 line) to new\n", ""]
    ])
    assert.deepStrictEqual(after, { all: "$& acb\r\n$&", first: "$1\nx\nx", same: "acb\n", new: "$& é" })
    assert.deepStrictEqual(names, ["a dir", "all", "first", "new", "same"])
  })

  it("S34 S36: runs bash echo in the session itself", async () => {
    const { seen } = await answers({}, ["bash echo hi", "bash x=kept", "bash echo -h $x"])
    assert.deepStrictEqual(seen, [
      [0, "hi\n", ""],
      [0, "", ""],
      [0, "-h kept\n", ""]
    ])
  })
})
