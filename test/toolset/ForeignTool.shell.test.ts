import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as ForeignToolCall from "../../src/toolset/internal/ForeignTool.shell.js"

const offers = (command: string) => /^(?:read|edit|write|TodoWrite|mcp:|skill:)/.test(command)

const ofWords = (text: string) => {
  const line = CommandLine.parse(text)
  return ForeignToolCall.ofWords(line.name ?? "", line, offers)
}

const ofCall = (text: string) => ForeignToolCall.ofFunctionCall(text, offers)

describe("another agent's tool, called in the shell", () => {
  it("is the command that does the same, with its words", () => {
    for (const [text, command] of [
      ["Read src/a.ts", "read src/a.ts"],
      ["Read 'a b'", "read 'a b'"],
      ["LS src", ofCall('LS(path="src")')],
      ["Glob '**/*.ts'", ofCall('Glob(pattern="**/*.ts")')],
      ["Glob **/*.ts src", ofCall('Glob(pattern="**/*.ts", path="src")')],
      ["Grep port --glob '*.ts'", ofCall("Grep(pattern='port', glob='*.ts')")],
      ["Edit src/a.ts 80 81", "edit src/a.ts '80' '81'"],
      ["str_replace src/a.ts 'a b' c", "edit src/a.ts 'a b' 'c'"],
      ["Grep 'it.s' src", ofCall("Grep(pattern='it.s', path='src')")],
      ["Read file_path=src/a.ts", "read src/a.ts"],
      ["Read --file_path src/a.ts --offset=2 limit=1", "read src/a.ts --offset 1 --limit 1"],
      ["read_file src/a.ts", "read src/a.ts"],
      ["Write a.txt 'it is'", "write a.txt 'it is'"],
      ["Edit file_path=a.ts old_string='a b' new_string=c", "edit a.ts 'a b' 'c'"],
      ["str_replace_based_edit_tool view a.ts", "read a.ts"],
      ["str_replace_based_edit_tool command=view path=a.ts", "read a.ts"],
      ["str_replace_editor str_replace a.ts x y", "edit a.ts 'x' 'y'"],
      ["list_dir src", "ls -la src"],
      ["Grep -n foo src", ofCall("Grep(pattern='foo', path='src', output_mode='content')")],
      ["Grep -rniC2 foo src", "grep -rIniE -C 2 --exclude-dir={.git,node_modules} --exclude='.env*' 'foo' src"],
      [
        "rg -t ts foo",
        "grep -rInE --exclude-dir='.?*' --include='*.ts' --include='*.tsx' --include='*.mts' --include='*.cts' foo ."
      ],
      ["ag foo src", "grep -rInE --exclude{,-dir}='.?*' foo src"],
      ["fd config", "find . -name '*config*'"],
      ["fd config src", "find src -name '*config*'"],
      [
        "apply_patch '*** Begin Patch\n*** Delete File: a\n*** End Patch'",
        "edit --patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"
      ]
    ] as const)
      assert.strictEqual(ofWords(text), command, text)
    assert.match(ofWords("Grep 'a b' src") ?? "", /^grep -rIlE .*'a b' src$/)
    assert.match(ofWords("Glob '**/*.ts'") ?? "", /globstar.*\*\*\/\*\.ts/)
  })

  it("is none where its words are not certain", () => {
    for (const text of [
      "Read",
      "Read a b",
      "Read -n 3 a",
      "Read $x",
      "Glob $x",
      "Glob '$(id)' `id`",
      "Grep 'a",
      "Edit a b",
      "Edit a b c d",
      "Grep a --glob",
      "Grep a --glob $x",
      "Grep -Z a",
      "Grep -A x a",
      "rg --files",
      "fd -e ts",
      "fd '^a'",
      "str_replace_based_edit_tool undo a.ts",
      "str_replace_based_edit_tool view",
      "apply_patch a",
      "Write a",
      "Write $x y",
      "view a",
      "patch a",
      "WebFetch http://example.org",
      "constructor a",
      "__proto__ a",
      "toString a"
    ])
      assert.isUndefined(ofWords(text), text)
  })

  it("is known in the form of a function", () => {
    for (const [text, command] of [
      ['Read("src/a.ts")', "read src/a.ts"],
      ['Read(file_path="src/a.ts", offset=10, limit=5)', "read src/a.ts --offset 9 --limit 5"],
      ["Read({'file_path': 'a'})", undefined],
      ['Edit(file_path="a")', undefined],
      ['Read({"file_path": "a"})', "read ./a"],
      ['mcp__gh__list({"state": "open"})', `mcp:gh:list --json '{"state":"open"}'`],
      ['mcp__gh__list(state="it\'s", n=3, all=true);', `mcp:gh:list --json '{"state":"it'\\''s","n":3,"all":true}'`],
      ["mcp__gh__list()", "mcp:gh:list"],
      ['mcp__gh__list("open")', undefined],
      ["Read(path)", undefined],
      ["Read(os.path.join('a', 'b'))", undefined],
      ["f() { echo; }", undefined],
      ["foo(bar)", undefined],
      [`Read("${"x".repeat(2000)}")`, undefined]
    ] as const)
      assert.strictEqual(ofCall(text), command, text)
  })

  it("takes the words of an MCP tool along", () => {
    const named = (text: string) => ForeignToolCall.withWords("mcp:gh:list", CommandLine.parse(text))
    assert.strictEqual(named("mcp__gh__list --state open 'a b'"), "mcp:gh:list --state open 'a b'")
    assert.strictEqual(named(`mcp__gh__list '{"a":1}'`), `mcp:gh:list --json '{"a":1}'`)
    assert.strictEqual(named("mcp__gh__list"), "mcp:gh:list")
    assert.strictEqual(named("mcp__gh__list $x"), "mcp:gh:list")
  })
})
