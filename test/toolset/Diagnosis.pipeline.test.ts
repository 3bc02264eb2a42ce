import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../src/bash/CommandLine.js"
import type { CommandResult } from "../../src/domain/CommandResult.js"
import * as Diagnosis from "../../src/toolset/internal/Diagnosis.js"

const plain = { exitCode: 0, stderr: "" }

type Result = Pick<CommandResult, "exitCode" | "pipeline" | "stderr">

const remarkOn = (command: string, result: Result): string | undefined => {
  const line = CommandLine.parse(command)
  const failed = Diagnosis.failuresIn(line, result, false)
  const text = failed.map(({ text }) => text).join(", ")
  return failed.length === 0 ? undefined : `[${text}]`
}

describe("who failed before the end of a pipeline", () => {
  for (const [command, pipeline, remark] of [
    ["pytest | tail -3", [1, 0], "[pytest exited 1]"],
    ["make 2>&1 | ./filter | tail", [2, 3, 0], "[make exited 2, ./filter exited 3]"],
    ["(cd x && make) | tail", [2, 0], "[part 1 of the pipeline exited 2]"],
    ["yes | head -1", [141, 0], undefined],
    ["grep x f | wc -l", [1, 0], undefined],
    ["/usr/bin/diff a b | head", [1, 0], undefined],
    ["grep x nosuch | wc -l", [2, 0], "[grep exited 2]"],
    ["true | false", [0, 1], undefined],
    // The exit codes are of another pipeline than the one that the text ends with.
    ["a | b | c", [1, 0], undefined],
    ["f", [1, 0], undefined],
    ["f", undefined, undefined]
  ] as const) {
    it(`${command}: ${JSON.stringify(pipeline)}`, () => {
      assert.strictEqual(remarkOn(command, { ...plain, ...(pipeline === undefined ? {} : { pipeline }) }), remark)
    })
  }

  for (const [command, code, stderr, remark] of [
    ["sudo ls | cat", 127, "bash: sudo: command not found\n", "[sudo exited 127]"],
    ["sudo -n ls | cat", 1, "sudo: a password is required\n", "[sudo exited 1]"],
    ["sudo ls x | cat", 2, "sudo: unable to resolve host a\nls: x: No such file\n", "[ls exited 2]"],
    ["timeout 1 sleep 5 | cat", 124, "", "[sleep exited 124: timeout ended it]"],
    ["./own | cat", 124, "", "[./own exited 124]"],
    ["./seg | cat", 139, "", "[./seg exited 139: Segmentation fault]"],
    ["./seg | cat", 139, "bash: line 1:  5 Segmentation fault  ./seg\n", "[./seg exited 139]"]
  ] as const) {
    it(`${command}: ${code}, by name and cause`, () => {
      assert.strictEqual(remarkOn(command, { exitCode: 0, stderr, pipeline: [code, 0] }), remark)
    })
  }

  it("is told with the last part where that is asked for", () => {
    const failed = (command: string, exitCode: number, pipeline: ReadonlyArray<number>, withLast: boolean) =>
      Diagnosis.failuresIn(CommandLine.parse(command), { exitCode, stderr: "", pipeline }, withLast).map(
        ({ text }) => text
      )
    assert.deepStrictEqual(failed("make | grep x", 1, [2, 1], false), ["make exited 2"])
    assert.deepStrictEqual(failed("make | ./filter", 3, [2, 3], true), ["make exited 2", "./filter exited 3"])
    assert.deepStrictEqual(failed("a | grep x | wc", 1, [0, 1], false), [])
  })
})
