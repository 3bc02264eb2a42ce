import { assert, describe, it } from "@effect/vitest"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Culprit from "../../src/toolset/internal/Culprit.js"

const find = (command: string, fields: Partial<CommandResult.CommandResult> = {}) =>
  Culprit.find(Culprit.lineOf(command), CommandResult.make({ exitCode: 1, ...fields }))

describe("the command that failed", () => {
  it("is the one that decides the exit code", () => {
    assert.strictEqual(find("ls /x"), "ls")
    assert.strictEqual(find("A=1 nice make all"), "make")
    assert.strictEqual(find("echo begun; make"), "make")
    assert.strictEqual(find("cd src && make"), "make")
    assert.strictEqual(find("gti", { exitCode: 127, notFound: "gti" }), "gti")
  })

  it("is the one that bash itself names", () => {
    assert.strictEqual(find("cd /x && make", { stderr: "bash: cd: /x: No such file or directory\n" }), "cd")
    assert.isUndefined(find("echo $x", { stderr: "bash: x: unbound variable\n" }))
    assert.isUndefined(find("cat <x", { stderr: "bash: x: No such file or directory\n" }))
    assert.isUndefined(find("cat <<<$(", { stderr: "bash: line 1: syntax error: unexpected end of file\n" }))
  })

  it("is the last of a pipe only where it says so itself", () => {
    assert.isUndefined(find("a && b | head"))
    assert.isUndefined(find("make | grep x"))
    assert.strictEqual(find("cat f | sort -k", { exitCode: 2, stderr: "sort: option requires an argument\n" }), "sort")
  })

  it("stands behind the word bash, unless that runs a script", () => {
    assert.strictEqual(find("bash make all"), "make")
    for (const command of ["bash -c 'make'", "bash x.sh", "bash 'make'", "bash"])
      assert.isUndefined(find(command), command)
  })

  it("is unknown where it may be another", () => {
    for (const command of ["npm ci && make", "cd src 2>/dev/null && make", "xargs ls", "eval ls", "(make)", "exit 3"]) {
      assert.isUndefined(find(command), command)
    }
    for (const exitCode of [124, 125, 126, 137, 139])
      assert.isUndefined(find("timeout 1 make", { exitCode }), `${exitCode}`)
  })
})
