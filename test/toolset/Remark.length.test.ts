/** How many bytes the line about a failed command has, for every kind of line that there is. */
import { assert, describe, it } from "@effect/vitest"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import * as Surroundings from "../../src/sandbox/Surroundings.js"
import * as Remark from "../../src/toolset/internal/Remark.js"

const cwd = "/home/ada/project"

/** What lies around the shell: `src/cli/Exec.ts`, `app.py`, `run`, and a program `grep`. */
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

const around: Surroundings.Surroundings = {
  kindOf: (path) => kinds[path],
  entries: (directory, isWanted) =>
    Object.keys(kinds)
      .filter((path) => path.startsWith(`${directory}/`) && !path.slice(directory.length + 1).includes("/"))
      .map((path) => path.slice(directory.length + 1))
      .filter(isWanted),
  programs: (isWanted) => ["grep"].filter(isWanted)
}

const lineOf = (command: string, result: Partial<CommandResult>): string =>
  Remark.make({
    command,
    result: { stdout: "", stderr: "", exitCode: 1, ...result },
    cwd,
    around,
    commands: ["edit", "read", "TodoWrite", "write"],
    extensions: () => []
  }) ?? ""

const missing = (said: string) => ({ stderr: `${said}: No such file or directory\n` })
const eof = { exitCode: 2, stderr: "bash: line 1: unexpected EOF while looking for matching `''\n" }

/** The lines of ordinary failures. */
const ordinary: ReadonlyArray<readonly [command: string, result: Partial<CommandResult>, line: string]> = [
  ["false", {}, "[exit 1]"],
  ["grep a b", {}, "[exit 1] no match"],
  ["diff a b", {}, "[exit 1] they differ"],
  ["[ -f a ]", {}, "[exit 1] false"],
  ["which a", {}, "[exit 1] not found"],
  ["pgrep a", {}, "[exit 1] no such process"],
  ["git diff --exit-code", {}, "[exit 1] they differ"],
  ["git grep a", {}, "[exit 1] no match"],
  ["read -p '? ' y", {}, "[exit 1] nobody can be asked: read name <<< 'answer'"],
  ["top", { stderr: "top: failed tty get\n" }, "[exit 1] there is no terminal: top -bn1"],
  ["cat nope", missing("cat: nope"), "[exit 1] (in /home/ada/project)"],
  ["cd src/cil", missing("bash: cd: src/cil"), "[exit 1] did you mean src/cli?"],
  ["cat src/cli/Exce.ts", missing("cat: src/cli/Exce.ts"), "[exit 1] did you mean src/cli/Exec.ts?"],
  ["gerp a", { exitCode: 127, notFound: "gerp" }, "[exit 127] did you mean grep?"],
  ["apply_patch <x", { exitCode: 127, notFound: "apply_patch" }, "[exit 127] did you mean edit --patch?"],
  ["TodoRead", { exitCode: 127, notFound: "TodoRead" }, "[exit 127] did you mean TodoWrite --show?"],
  ["rg a", { exitCode: 127, notFound: "rg" }, "[exit 127] here it is: grep -rInE --exclude{,-dir}='.?*' a ."],
  ["str_replace a b c", { exitCode: 127, notFound: "str_replace" }, "[exit 127] here it is: edit a 'b' 'c'"],
  ["constructor", { exitCode: 127, notFound: "constructor" }, "[exit 127]"],
  ["./run", { exitCode: 126, stderr: "bash: ./run: Permission denied\n" }, "[exit 126] not executable: chmod +x ./run"],
  ["a", { exitCode: 139 }, "[exit 139] Segmentation fault"],
  ["a", { exitCode: 137 }, "[exit 137] Killed (SIGKILL)"],
  ["touch don't", eof, "[exit 2] the ' in don't opens a quote: write don\\'t"]
]

/** The lines that may be longer, and why. */
const longer: ReadonlyArray<readonly [why: string, command: string, result: Partial<CommandResult>, most: number]> = [
  ["two ways to go on, each of which is needed", "timeout 1 a", { exitCode: 124 }, 96],
  [
    "two ways to run it, each with its path",
    "./app.py",
    { exitCode: 126, stderr: "bash: ./app.py: Permission denied\n" },
    80
  ],
  ["the name, and where it can be called", "env mcp:a:b", { exitCode: 127, notFound: "mcp:a:b" }, 130],
  ["the words that are right, and a form that needs no quotes", "python3 -c 'print(\"it's\")'", eof, 100],
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

  it("has the directory before a correction of several lines, whose end has to stay alone", () => {
    const movedTo = `${cwd}/src`
    const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
    const missed = (notFound: string) => ({ exitCode: 127, notFound, movedTo })
    assert.match(
      lineOf(`cd src; apply_patch '${patch}'`, missed("apply_patch")),
      /^\[exit 127\] \(in \/home\/ada\/project\/src\) here it is: [\s\S]*\nEOF$/
    )
    assert.match(
      lineOf("cd src; Write x.txt 'a\nb'", missed("Write")),
      /^\[exit 127\] \(in \/home\/ada\/project\/src\) here it is: write x\.txt 'a\nb'$/
    )
    const stderr = "bash: Write: command not found\n"
    assert.match(
      lineOf("cd src; Write x.txt 'a\nb' | cat", { exitCode: 0, stderr, pipeline: [127, 0], movedTo }),
      / \(in \/home\/ada\/project\/src\) here it is: write x\.txt 'a\nb'$/
    )
    assert.strictEqual(lineOf("cd src; Read a", missed("Read")), `[exit 127] here it is: read ./a (in ${movedTo})`)
  })

  it("has a command for the place of a tool, where it would do something else behind the line", () => {
    const missed = { exitCode: 127, notFound: "Read" }
    const grep = "grep -rIlE --exclude-dir={.git,node_modules} --exclude='.env*' 'a' ."
    for (const [command, line] of [
      ["(cd src && Read a.ts)", "[exit 127] in its place: read a.ts"],
      ["cd src; Read a.ts; cd ..", "[exit 127] in its place: read a.ts"],
      ["(cd src; Read a.ts); Grep a", `[exit 127] in their places:\nread a.ts\n${grep}`],
      ["x=$(cd src; Read a.ts)", "[exit 127] in its place: read a.ts"],
      ["(Read a.ts)", "[exit 127] here it is: read a.ts"],
      ["bash -c 'cd src; Read a.ts'", "[exit 127] in its place: read a.ts"],
      ["Read a.ts; Read a.ts", "[exit 127] here it is: read a.ts"],
      ["Read a.ts; Grep a", `[exit 127] here they are:\nread a.ts\n${grep}`],
      // Where one is not certain, none is.
      ["Read a.ts; Grep $x", "[exit 127]"],
      ["cat a.txt | Write b.txt", "[exit 127] did you mean write?"],
      ["Write b.txt <<E\na\nE", "[exit 127] did you mean write?"]
    ] as const) {
      const notFound = command.includes("Write") ? "Write" : "Read"
      assert.strictEqual(lineOf(command, { ...missed, notFound }), line, command)
    }
  })

  it("knows the tools that bash did not find in a line that succeeded", () => {
    const stderr = "bash: Read: command not found\n"
    const passed = { exitCode: 0, stderr }
    assert.strictEqual(lineOf("x=$(Read a.ts); echo $x", passed), "[exit 0] here it is: read a.ts")
    assert.strictEqual(lineOf("if Read a.ts; then ls; fi", passed), "[exit 0] here it is: read a.ts")
    assert.strictEqual(lineOf('Read "$x" || true', passed), "")
    assert.strictEqual(lineOf("x=$(gerp a); echo", { exitCode: 0, stderr: "bash: gerp: command not found\n" }), "")
  })

  it("knows nothing of what it can't see", () => {
    const result = { stdout: "", exitCode: 1, ...missing("cat: nope") }
    const facts = { command: "cat /nope", result, cwd, around: Surroundings.none, commands: [], extensions: () => [] }
    assert.strictEqual(Remark.make(facts), "[exit 1] (in /home/ada/project)")
  })
})
