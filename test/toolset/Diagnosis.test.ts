/** What is told of a failed command: the line, how many bytes it has, who failed, and how to see its usage. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import * as Advice from "../../src/domain/Advice.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as VisibleFiles from "../../src/sandbox/VisibleFiles.js"
import * as Diagnosis from "../../src/toolset/internal/Diagnosis.js"

const cwd = "/home/ada/project"

/** What lies files the shell: `src/cli/Exec.ts`, `app.py`, `run`, and a program `grep`. */
const kinds: Readonly<Record<string, "directory" | "program" | "file">> = {
  "/": "directory",
  "/home": "directory",
  "/home/ada": "directory",
  [cwd]: "directory",
  [`${cwd}/src`]: "directory",
  [`${cwd}/src/cli`]: "directory",
  [`${cwd}/src/cli/Exec.ts`]: "file",
  [`${cwd}/app.py`]: "file",
  [`${cwd}/run`]: "file"
}

const files: VisibleFiles.VisibleFiles = {
  kindOf: (path) => kinds[path],
  entries: (directory, isWanted) =>
    Object.keys(kinds)
      .filter((path) => path.startsWith(`${directory}/`) && !path.slice(directory.length + 1).includes("/"))
      .map((path) => path.slice(directory.length + 1))
      .filter(isWanted),
  programs: (isWanted) => ["df", "grep", "pip", "python3"].filter(isWanted)
}

const commands = ["command:search", "edit", "mcp:*", "read", "skill:*", "skill:load", "TodoWrite", "write"]
const known = [
  "mcp:gh:list_issues",
  "mcp:gh:read-file",
  "mcp:fs:read_text_file",
  "mcp:a:echo",
  "mcp:b:echo",
  "skill:pdf:extract",
  "skill:list"
]

const factsOf = (command: string, result: Partial<CommandResult.CommandResult>): Diagnosis.Facts => ({
  line: CommandLine.parse(command),
  result: CommandResult.make({ exitCode: 1, ...result }),
  cwd,
  files,
  commands,
  here: { offers: (name) => commands.includes(name.split(" ", 1).join()) || name === "mcp:", isOffline: false },
  extensions: () => known
})

const lineOf = (command: string, result: Partial<CommandResult.CommandResult>): string =>
  Diagnosis.make(factsOf(command, result)).remark ?? ""

const hintOf = (command: string, result: Partial<CommandResult.CommandResult> = {}): string | undefined => {
  const { hint } = Diagnosis.make(factsOf(command, result))
  return hint === undefined ? undefined : Advice.render([hint], Advice.model)
}

const notFound = (name: string) => ({ exitCode: 127, notFound: name, stderr: `bash: ${name}: command not found\n` })

const missing = (said: string) => ({ stderr: `${said}: No such file or directory\n` })
const eof = { exitCode: 2, stderr: "bash: line 1: unexpected EOF while looking for matching `''\n" }

/** The lines of ordinary failures. */
const ordinary: ReadonlyArray<readonly [command: string, result: Partial<CommandResult.CommandResult>, line: string]> =
  [
    ["false", {}, "[exit 1]"],
    [
      "mcp:a:b/c; true",
      { exitCode: 0, stderr: "bash: mcp:a:b/c: No such file or directory\n" },
      "bash takes a name with a / for a path: write mcp:a:b:c"
    ],
    ["grep a b", {}, "[exit 1] no match"],
    ["diff a b", {}, "[exit 1] they differ"],
    ["[ -f a ]", {}, "[exit 1] false"],
    ["which a", {}, "[exit 1] not found"],
    ["pgrep a", {}, "[exit 1] no such process"],
    ["git diff --exit-code", {}, "[exit 1] they differ"],
    ["git grep a", {}, "[exit 1] no match"],
    ["read -p '? ' y", {}, "[exit 1] nobody can be asked: read name <<< 'answer'"],
    ["read -rp '? ' y; echo $y", { exitCode: 0, stdout: "\n" }, "[nobody can be asked: read name <<< 'answer']"],
    ["cd a; read -p '? ' y || exit 0", { exitCode: 0 }, "[nobody can be asked: read name <<< 'answer']"],
    ["top", { stderr: "top: failed tty get\n" }, "[exit 1] there is no terminal: top -bn1"],
    ["cat nope", missing("cat: nope"), "[exit 1] (in /home/ada/project)"],
    ["cd src/cil", missing("bash: cd: src/cil"), "[exit 1] did you mean src/cli?"],
    ["cat src/cli/Exce.ts", missing("cat: src/cli/Exce.ts"), "[exit 1] did you mean src/cli/Exec.ts?"],
    ["gerp a", { exitCode: 127, notFound: "gerp" }, "[exit 127] did you mean grep?"],
    ["TodoRead", { exitCode: 127, notFound: "TodoRead" }, "[exit 127] did you mean TodoWrite --show?"],
    ["rg a", { exitCode: 127, notFound: "rg" }, "[exit 127] did you mean grep -rn?"],
    // What is near to these does something else.
    ...["fd a", "pipx install a", "python2 a"].map(
      (command) => [command, notFound(command.split(" ", 1).join()), "[exit 127]"] as const
    ),
    ["str_replace a b c", { exitCode: 127, notFound: "str_replace" }, "[exit 127] did you mean edit?"],
    // A skill's tool that did not find a program of its own.
    ["true; skill:pdf:extract", { exitCode: 127, stderr: "run.sh: line 2: pdftk: command not found\n" }, "[exit 127]"],
    ["constructor", { exitCode: 127, notFound: "constructor" }, "[exit 127]"],
    ["a", { exitCode: 139 }, "[exit 139] Segmentation fault"],
    ["a", { exitCode: 137 }, "[exit 137] Killed (SIGKILL)"]
  ]

/** The lines that may be longer, and why. */
const longer: ReadonlyArray<
  readonly [why: string, command: string, result: Partial<CommandResult.CommandResult>, most: number]
> = [
  ["two ways to go on, each of which is needed", "timeout 1 a", { exitCode: 124 }, 96],
  ["the name, and where it can be called", "env mcp:a:b", { exitCode: 127, notFound: "mcp:a:b" }, 130],
  ["the quote, and a form that needs none", 'echo "a', { ...eof, stderr: eof.stderr.replace("`''", "`\"'") }, 80],
  ["the quote, and a form that needs none", "python3 -c 'print(\"it's\")'", eof, 80],
  ["the directory is as long as its name", "cat a", { ...missing("cat: a"), movedTo: `/${"x".repeat(200)}` }, 220]
]

describe("the line about a failed command", () => {
  it("has at most 60 bytes for an ordinary failure", () => {
    for (const [command, result, line] of ordinary) {
      assert.strictEqual(lineOf(command, result), line)
      assert.isAtMost(Buffer.byteLength(line), 60, line)
    }
  })

  it("is longer only for a reason", () => {
    for (const [why, command, result, most] of longer) {
      const line = lineOf(command, result)
      assert.isAbove(Buffer.byteLength(line), 60, `${why}: ${line}`)
      assert.isAtMost(Buffer.byteLength(line), most, `${why}: ${line}`)
    }
  })

  it("has the command for another agent's tool, wherever it stands", () => {
    for (const [command, line] of [
      ["Read a.ts", "[exit 127] did you mean read?"],
      ["(cd src && Read a.ts)", "[exit 127] did you mean read?"],
      ["Read a.ts | head", "[exit 127] did you mean read?"],
      ["Grep a", "[exit 127] did you mean grep -rn?"],
      ["LS", "[exit 127] did you mean ls?"],
      ["Read $x; Read b.ts", "[exit 127] did you mean read?"],
      ["Write b.txt <<E\na\nE", "[exit 127] did you mean write?"],
      ["BashOutput 4", "[exit 127] did you mean job:output 4?"],
      ["KillShell $n", "[exit 127] job:list lists the jobs, and job:stop N ends one"],
      ["ExitPlanMode x", "[exit 127] there is no tool for plans; give the plan as your answer"]
    ] as const) {
      const [name = ""] = /[A-Z]\w+|^str\w+/.exec(command) ?? []
      assert.strictEqual(lineOf(command, { exitCode: 127, notFound: name }), line, command)
    }
    const movedTo = `${cwd}/src`
    assert.strictEqual(lineOf("cd src; echo ok", { exitCode: 0, movedTo, stdout: "ok\n" }), `(in ${movedTo})`)
    assert.strictEqual(lineOf("cd -", { exitCode: 0, movedTo, stdout: `${movedTo}\n` }), "")
    assert.strictEqual(
      lineOf("cd src; Read a", { exitCode: 127, notFound: "Read", movedTo }),
      `[exit 127] did you mean read? (in ${movedTo})`
    )
  })

  it("has the MCP tool that was meant by the name that another agent has for it", () => {
    for (const [text, name] of [
      ["mcp__fs__read_text_file a 'b c'", "mcp:fs:read_text_file"],
      ["mcp__new__tool $x", "mcp:new:tool"]
    ] as const) {
      const [first = ""] = text.split(" ")
      assert.strictEqual(lineOf(text, notFound(first)), `[exit 127] did you mean ${name}?`, text)
    }
    for (const text of ["x.echo", "file", "a:b"]) assert.strictEqual(lineOf(text, notFound(text)), "[exit 127]", text)
    assert.strictEqual(
      lineOf("mcp:gh:list_isues 3 | cat", notFound("mcp:gh:list_isues")),
      "[exit 127] did you mean mcp:gh:list_issues?"
    )
  })

  it("knows nothing of what it can't see", () => {
    const facts = { ...factsOf("cat /nope", missing("cat: nope")), files: VisibleFiles.none }
    assert.strictEqual(Diagnosis.make(facts).remark, "[exit 1] (in /home/ada/project)")
  })

  it("names curly quotes where a command failed by them", () => {
    const double = '“ and ” are letters to bash: quote with "'
    const curly = (text: string, exitCode: number, stderr: string) =>
      Diagnosis.curlyQuotes(CommandLine.parse(text), { exitCode, stderr })
    assert.strictEqual(curly("“ls” -l", 127, ""), double)
    assert.strictEqual(curly("cat “a b”", 1, "cat: “a: No such file or directory\n"), double)
    assert.strictEqual(curly("x --name=“a b”", 2, "x: unknown b”\n"), double)
    assert.strictEqual(curly("ls ‘a’", 2, "ls: cannot access '‘a’'\n"), "‘ and ’ are letters to bash: quote with '")
    assert.isUndefined(curly('echo "“a”" && nofile', 127, ""))
    assert.isUndefined(curly("grep “a” f", 1, ""))
    assert.isUndefined(curly("cat don’t", 1, "cat: don’t: No such file or directory\n"))
    assert.isUndefined(curly("cat <<EOF\n“a”\nEOF\nnofile", 127, ""))
  })
})

describe("the table of failures", () => {
  interface Failure extends Partial<CommandResult.CommandResult> {
    readonly command: string
    readonly means?: string
    /** The transcript or report that the failure comes from, if it is known. */
    readonly source?: string
  }
  const failures: ReadonlyArray<Failure> = JSON.parse(Fs.readFileSync("test/fixtures/failures.json", "utf8"))

  it("says what each report means, and has a report for each row", () => {
    for (const { command, means, source: _, ...result } of failures)
      assert.strictEqual(Diagnosis.ofTable(command, CommandResult.make(result)), means, command)
    const meant = new Set(failures.map(({ means }) => means))
    for (const { means } of Diagnosis.rows)
      assert.isTrue(
        ["exec", "'"].some((group) => meant.has(means.replace("$1", group))),
        means
      )
  })
})

describe("the command that failed", () => {
  const culprit = (command: string, fields: Partial<CommandResult.CommandResult> = {}) =>
    /^Bash\(command="(?:help )?([^"]+?)(?: --help)?"\)/.exec(hintOf(command, fields) ?? "")?.[1]

  it("S16: is named with its help", () => {
    assert.strictEqual(hintOf("ls /x"), 'Bash(command="ls --help") shows how to use ls.')
    assert.strictEqual(
      hintOf("false"),
      'Bash(command="help false") (for the program of that name, Bash(command="false --help")) shows how to use false.'
    )
    assert.strictEqual(
      hintOf("nosuch", notFound("nosuch")),
      'Bash(command="command:search nosuch") finds commands like it; Bash(command="nosuch --help") shows how to use nosuch, where there is one.'
    )
    assert.strictEqual(
      hintOf("gerp a", notFound("gerp")),
      'Bash(command="grep --help") shows how to use grep, if gerp was to be that.'
    )
    assert.strictEqual(
      hintOf("Read a", notFound("Read")),
      'Bash(command="read --help") shows how to use read, the command here for Read.'
    )
    for (const name of ['x"y', "a b"]) assert.isUndefined(hintOf(`'${name}'`, notFound(name)))
    assert.isUndefined(hintOf("edit a", { category: "invalid_usage" }))
  })

  it("is the one that decides the exit code", () => {
    for (const [command, name] of [
      ["A=1 nice make all", "make"],
      ["echo begun; make", "make"],
      ["cd src && make", "make"],
      ["bash make all", "make"],
      ["make; ls /x", "ls"],
      ["make || exit 1", "make"],
      ["sudo -u www-data -- psql x", "psql"],
      ["env -i A=1 B=2 node x.js", "node"],
      ["python3 - <<'EOF'\nls 'x && y\nEOF\n", "python3"]
    ] as const)
      assert.strictEqual(culprit(command), name, command)
    assert.strictEqual(culprit("cat f | sort -k", { exitCode: 2, stderr: "sort: option requires\n" }), "sort")
    assert.strictEqual(culprit("cd /x && make", { stderr: "bash: cd: /x: No such file or directory\n" }), "cd")
  })

  it("is unknown where it may be another", () => {
    const unknown = [
      "npm ci && make",
      "cd src 2>/dev/null && make",
      "xargs ls",
      "eval ls",
      "(make)",
      "exit 3",
      "make | grep x",
      "bash -c 'make'",
      "bash x.sh",
      "if make; then ls; fi",
      "f() { ls; }; f",
      "! grep x f",
      "$CMD --flag",
      "A=$(false)",
      "set -e; make; ls",
      "make &",
      "ls 'open"
    ]
    for (const command of unknown) assert.isUndefined(culprit(command), command)
    for (const exitCode of [124, 125, 126, 137, 139]) assert.isUndefined(culprit("make", { exitCode }), `${exitCode}`)
    assert.isUndefined(culprit("echo $x", { stderr: "bash: x: unbound variable\n" }))
    assert.isUndefined(culprit("cat <x", { stderr: "bash: x: No such file or directory\n" }))
  })
})
