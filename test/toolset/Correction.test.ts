import { assert, describe, it } from "@effect/vitest"
import * as Advice from "../../src/domain/Advice.js"
import * as Correction from "../../src/toolset/internal/Correction.js"
import * as Entry from "../support/corpus/Entry.js"

const advise = (
  name: string,
  params: unknown,
  offered: ReadonlyArray<string> = [],
  isOffline = false
): string | undefined => {
  const advice = Correction.advise(name, params, { offers: (command) => offered.includes(command), isOffline })
  return advice === undefined ? undefined : Advice.render([advice], { ...Advice.model, run: (command) => command })
}

const all = (cases: ReadonlyArray<readonly [string, unknown, string]>) => {
  for (const [name, params, right] of cases) assert.strictEqual(advise(name, params), right)
}

describe("a tool of another name that runs a command line", () => {
  it("is answered with that command line; another tool is not", () => {
    all([
      ["run_in_shell", { command: "ls -l" }, "ls -l"],
      ["exec", { cmd: ["echo", "a b"] }, "echo 'a b'"]
    ])
    assert.strictEqual(advise("database", { command: "start" }), undefined)
    assert.strictEqual(advise("run_tests", { suite: "unit" }), undefined)
  })
})

describe("the command for another agent's tool", () => {
  it("reads files, whose lines others count from 1", () => {
    all([
      ["Read", { file_path: "/a b/c.ts", offset: 10, limit: 5 }, "read '/a b/c.ts' --offset 9 --limit 5"],
      ["read", { filePath: "src/a.ts", offset: 1, limit: 0 }, "read src/a.ts"],
      ["read_file", { absolute_path: "-x" }, "read ./-x"],
      ["Read", { file_path: "Makefile", offset: null }, "read ./Makefile"],
      ["read_file", { path: "src/x", start_line: 2, end_line: 4 }, "read src/x:2-4"],
      ["read_file", { path: "src/x", start_line: 7 }, "read src/x:7-"],
      ["read_file", { path: "src/x", end_line: 7 }, "read src/x:1-7"],
      ["Read", { file_path: "~/a b" }, "read ~/'a b'"],
      ["Read", {}, "read <file>"],
      ["Read", "a.ts", "read <file>"]
    ])
  })

  it("writes and edits files, byte for byte", () => {
    all([
      ["Write", { file_path: "a", content: "x\ny's\n" }, "write a <<'EOF'\nx\ny's\nEOF"],
      ["write", { filePath: "a", content: "EOF\n" }, "write a <<'EOF_'\nEOF\nEOF_"],
      ["Write", { file_path: "-a", content: "-x" }, "write -- ./-a '-x'"],
      ["Write", { file_path: "a", content: "" }, "write a ''"],
      ["Write", { file_path: "a", content: "x".repeat(3000) }, "write a <content>"],
      ["Write", { file_path: "a", content: "\0" }, "write a <content>"],
      ["Edit", { file_path: "a", old_string: "it's", new_string: "$x" }, "edit a 'it'\\''s' '$x'"],
      ["edit", { filePath: "a", oldString: "-a", newString: "b", replaceAll: true }, "edit --all -- a '-a' 'b'"],
      ["Edit", { file_path: "a", old_string: "b", new_string: "-c" }, "edit -- a 'b' '-c'"],
      ["Edit", { file_path: "a", old_string: "", new_string: "x\n" }, "[ ! -s a ] && write a 'x\n'"],
      ["Edit", { file_path: "a" }, "edit a <old> <new>"],
      [
        "MultiEdit",
        {
          file_path: "a",
          edits: [
            { old_string: "a", new_string: "b" },
            { old_string: "c", new_string: "", replace_all: true }
          ]
        },
        "edit a 'a' 'b' &&\nedit --all a 'c' ''"
      ]
    ])
  })

  it("calls tools of MCP servers, and loads skills", () => {
    const offered = ["mcp:", "skill:load"]
    assert.deepStrictEqual(
      (
        [
          ["mcp__gh__list_issues", { state: "it's" }],
          ["mcp__gh__list", {}],
          ["mcp__gh__list", "x"],
          ["mcp__gh-x__a__b", { a: 1 }],
          ["Skill", { skill: "pdf" }],
          ["Skill", {}]
        ] as const
      ).map(([name, params]) => advise(name, params, offered)),
      [
        "mcp:gh:list_issues --json '{\"state\":\"it'\\''s\"}'",
        "mcp:gh:list",
        "mcp:gh:list --json '{…}'",
        "mcp:gh-x:a__b --json '{\"a\":1}'",
        "skill:load pdf",
        "skill:list"
      ]
    )
    assert.deepStrictEqual([advise("mcp__gh__list", {}), advise("Skill", { skill: "pdf" })], [undefined, undefined])
  })

  it("does what the editor with commands would", () => {
    const name = "str_replace_based_edit_tool"
    all([
      [name, { command: "view", path: "src/x.c" }, "read src/x.c"],
      [name, { command: "view", path: "src/x" }, "[ -d src/x ] && ls -la src/x || read src/x"],
      [name, { command: "view", path: "src/x", view_range: [2, 3] }, "read src/x:2-3"],
      [name, { command: "view", path: "src/x", view_range: [5, -1] }, "read src/x:5-"],
      [name, { command: "create", path: "n", file_text: "hi\n" }, "write n <<'EOF'\nhi\nEOF"],
      ["str_replace_editor", { command: "str_replace", path: "x", old_str: "a", new_str: "b" }, "edit x 'a' 'b'"],
      [
        name,
        { command: "insert", path: "x", insert_line: 2, insert_text: "a\n" },
        "sed -i '2r /dev/stdin' x <<'EOF'\na\nEOF"
      ],
      [name, { command: "insert", path: "x", insert_line: 0, new_str: "a" }, "<<'EOF' cat - x | write x\na\nEOF"]
    ])
    assert.isUndefined(advise(name, { command: "undo_edit", path: "x" }))
  })

  it("applies a patch", () => {
    const patch = "*** Begin Patch\n*** Update File: c\n@@\n-y\n+z\n*** End Patch"
    for (const given of [patch, { input: patch }, { patch }])
      assert.strictEqual(advise("apply_patch", given), `edit --patch <<'EOF'\n${patch}\nEOF`)
    const sentence = "edit <file> <old> <new> for each change; edit --help says more"
    for (const other of ["", "diff", "*** Begin Patch\nx"])
      assert.strictEqual(advise("apply_patch", { input: other }), sentence)
  })

  it("searches as the tool would", () => {
    const skipped = "--exclude-dir={.git,node_modules}"
    all([
      ["Grep", { pattern: "it's" }, `grep -rIlE ${skipped} --exclude='.env*' 'it'\\''s' .`],
      [
        "Grep",
        { pattern: "-x", path: "a b", output_mode: "count" },
        `grep -rIcE ${skipped} --exclude='.env*' -e '-x' 'a b'`
      ],
      [
        "Grep",
        { pattern: "\\d+", "-i": true, "-C": 2, output_mode: "content", glob: "src/**/*.{ts,tsx}", head_limit: 5 },
        `grep -rIniP -C 2 ${skipped} --include='*.ts' --include='*.tsx' '\\d+' . | head -n 5`
      ],
      ["grep", { pattern: "a", include: "*.js" }, `grep -rIlE ${skipped} --include='*.js' 'a' .`],
      ["Grep", { pattern: "a", type: "py" }, `grep -rIlE ${skipped} --include='*.py' 'a' .`],
      ["Grep", {}, `grep -rIlE ${skipped} --exclude='.env*' <pattern> .`],
      [
        "Glob",
        { pattern: "**/*.{ts,js}", path: "a b" },
        `(cd 'a b' && shopt -s globstar nullglob && for f in **/*.{ts,js}; do printf '%s\\n' "$f"; done)`
      ],
      ["LS", { path: "/a b" }, "ls -la '/a b'"],
      ["list", {}, "ls -la ."]
    ])
  })

  it("runs a program's words as a command line", () => {
    all([
      ["shell", { command: ["bash", "-lc", "a && b"] }, "a && b"],
      ["shell", { command: ["a", "b c"], workdir: "/x", timeout_ms: 5 }, "(cd /x && a 'b c'), with timeout=5"],
      ["exec_command", { cmd: "a" }, "a"],
      ["execute_command", { command: "ls -la", requires_approval: false }, "ls -la"],
      ["run_terminal_cmd", { command: "a b", is_background: false }, "a b"],
      ["run_terminal_cmd", { command: "a b", is_background: true }, "a b &"],
      ["BashOutput", { bash_id: "1" }, "job:list lists the jobs, and job:output N prints what is new of one"],
      ["KillShell", { shell_id: "1" }, "job:list lists the jobs, and job:stop N ends one"],
      ["KillBash", {}, "job:list lists the jobs, and job:stop N ends one"],
      ["run_shell_command", { command: "a; b", directory: "x" }, "(cd x && {\na; b\n})"]
    ])
    assert.isUndefined(advise("shell", {}))
    assert.isUndefined(advise("shell", { command: [] }))
  })

  it("writes todos with the keys that ours have", () => {
    all([
      [
        "TodoWrite",
        {
          todos: [
            { content: "it's", status: "pending", id: "1" },
            { content: "b", status: "cancelled" }
          ]
        },
        `TodoWrite '{"todos":[{"content":"it'\\''s","activeForm":"it'\\''s","status":"pending"}]}'`
      ],
      [
        "update_plan",
        { plan: [{ step: "a", status: "completed" }] },
        `TodoWrite '{"todos":[{"content":"a","activeForm":"a","status":"completed"}]}'`
      ]
    ])
    assert.isUndefined(advise("TodoRead", {}))
    assert.strictEqual(advise("TodoRead", {}, ["TodoWrite"]), "TodoWrite --show")
  })

  it("says where there is nothing like it", () => {
    const given = { prompt: "a b", description: "c", subagent_type: "general" }
    assert.strictEqual(advise("Task", given), "there are no sub-agents: do the task yourself, with Bash")
    assert.strictEqual(advise("Task", given, ["task:general"]), "task:general --prompt 'a b' --description c")
    const none = "the sandbox has no network"
    for (const [name, url, isOffline, right] of [
      ["WebFetch", "https://a/?b&c", false, "curl -sSL 'https://a/?b&c'"],
      ["WebFetch", "https://a/?b&c", true, none],
      ["WebFetch", "https://localhost.a/", true, none],
      ["web_fetch", undefined, true, none],
      ["WebFetch", "http://localhost:80/x", true, "curl -sSL http://localhost:80/x"],
      ["WebSearch", undefined, true, "there is no tool that searches the web"]
    ] as const) {
      assert.strictEqual(advise(name, { url }, [], isOffline), right, `${name} ${url}`)
    }
    for (const name of ["UnknownTool", "Bash", "constructor", "", "42"]) assert.isUndefined(advise(name, {}))
  })
})

describe("the table of tools", () => {
  it("has a call in the corpus for each row", () => {
    const plain = (name = "") => name.toLowerCase().replace(/[^a-z]/g, "")
    const called = new Set(Entry.load("calls").map(({ tool }) => plain(tool)))
    for (const { names } of Correction.rows)
      assert.isTrue(
        names.split(" ").some((name) => called.has(name)),
        names
      )
  })
})
