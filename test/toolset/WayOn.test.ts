import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import * as Surroundings from "../../src/sandbox/Surroundings.js"
import * as WayOn from "../../src/toolset/internal/WayOn.js"

const of = (command: string, result: Partial<CommandResult>) =>
  WayOn.of(CommandLine.parse(command), {
    command,
    result: { stdout: "", stderr: "", exitCode: 1, ...result },
    cwd: "/",
    around: Surroundings.none,
    commands: [],
    extensions: () => []
  })

const missing = (name: string) => ({ stderr: `bash: ${name}: command not found\n`, exitCode: 127 })

describe("the way on", () => {
  it("is told for programs that asked somebody", () => {
    const empty = { stderr: "Aborting commit due to empty commit message.\n" }
    assert.strictEqual(of("git commit", empty), "git commit -m '<message>'")
    assert.isUndefined(of("git commit -m ''", empty))
    assert.isUndefined(of("git commit -am ''", empty))
    assert.isUndefined(of("git commit; ls", empty))
    assert.strictEqual(of("npm init", { stdout: "Press ^C\npackage name: (p) " }), "npm init -y takes the defaults")
    const key = { stdout: "Enter file in which to save the key (/root/.ssh/id_rsa): " }
    assert.strictEqual(of("ssh-keygen -t rsa", key), "ssh-keygen -f <file> -N ''")
    assert.strictEqual(
      of("apt-get install jq", { stdout: "Do you want to continue? [Y/n] Abort.\n" }),
      "-y answers yes"
    )
    assert.isUndefined(of("apt-get install jq", { stderr: "E: Unable to locate package jq\n", exitCode: 100 }))
    assert.strictEqual(of("sudo ls", missing("sudo")), "there is no sudo: leave it out")
  })

  it("is told for slips that are certain", () => {
    assert.strictEqual(of("x = 5", missing("x")), "no blanks around the =: x=5")
    assert.strictEqual(of('x ="a b"', missing("x")), 'no blanks around the =: x="a b"')
    assert.strictEqual(of("x = a b", missing("x")), "no blanks around the = of an assignment")
    assert.isUndefined(of("x == 5", missing("x")))
    assert.isUndefined(of("x a=5", missing("x")))
    assert.strictEqual(
      of("find . -exec ls {}", { stderr: "find: missing argument to `-exec'\n" }),
      "-exec ends with \\; or +"
    )
    const blank = "a no-break space (U+00A0) stands in it: write a plain one"
    assert.strictEqual(of("ls\u00a0-la", missing("ls\u00a0-la")), blank)
    assert.isUndefined(of("grep '\u00a0' a", { stderr: "grep: a: No such file or directory\n", exitCode: 2 }))
    const crlf = "its lines end in CRLF: write LF"
    assert.strictEqual(of("cd a\r\nls\r\n", { stderr: "bash: cd: $'a\\r': No such file or directory\n" }), crlf)
    assert.isUndefined(of("cat <<EOF\r\na\r\nEOF\r\n", { stderr: "x\r\n" }))
    assert.isUndefined(of("cd a\r\nls\n", { stderr: "x\r\n" }))
  })
})
