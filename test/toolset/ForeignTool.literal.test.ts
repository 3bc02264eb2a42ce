import { assert, describe, it } from "@effect/vitest"
import * as ForeignToolShell from "../../src/toolset/internal/ForeignTool.shell.js"

describe("the arguments of a function call", () => {
  it("are read by their names and by their places", () => {
    for (const [name, given, params] of [
      ["Read", "src/a.ts", { file_path: "src/a.ts" }],
      ["Read", "a.txt", { file_path: "a.txt" }],
      ["Read", "'a', limit=3", { file_path: "a", limit: 3 }],
      ["Grep", '"a b", "src"', { pattern: "a b", path: "src" }],
      [
        "Edit",
        'file_path=\'a\', old_string="""it\'s\n""", new_string=\'x\', replace_all=True',
        {
          file_path: "a",
          old_string: "it's\n",
          new_string: "x",
          replace_all: true
        }
      ],
      [
        "MultiEdit",
        'file_path="a", edits=[{"old_string": "]", "new_string": ")"}]',
        {
          file_path: "a",
          edits: [{ old_string: "]", new_string: ")" }]
        }
      ],
      ["TodoWrite", '[{"content":"a"}]', { todos: [{ content: "a" }] }],
      ["LS", "", {}]
    ] as const)
      assert.deepStrictEqual(ForeignToolShell.read(name, given), params, given)
  })

  it("are none where a value is not certain", () => {
    for (const [name, given] of [
      ["Read", "path"],
      ["Read", "self.path"],
      ["Read", "file_path=path"],
      ["Read", "'a' + b"],
      ["Read", "'a', 'b'"],
      ["Read", "'-n'"],
      ["Edit", "'a'"],
      ["MultiEdit", "edits=[{'old': 1}]"],
      ["f", "'a'"]
    ] as const)
      assert.isUndefined(ForeignToolShell.read(name, given), given)
  })

  it("end where their bracket is closed outside of quotes", () => {
    assert.strictEqual(ForeignToolShell.closing("(')', [1]) x", 0), 9)
    assert.isUndefined(ForeignToolShell.closing("('a)", 0))
  })
})
