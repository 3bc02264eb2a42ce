import { assert, describe, it } from "@effect/vitest"
import { Entry, makeShellPrompt, read } from "../../../src/cli/shell/ShellLoop.js"

describe("an entry at the prompt", () => {
  it("is the shell's own only if its name is exactly a name of one of its commands", () => {
    assert.deepStrictEqual(read(" /allow  ~/x y "), Entry.Own({ name: "allow", rest: "~/x y" }))
    assert.deepStrictEqual(read("/help"), Entry.Own({ name: "help", rest: "" }))
    assert.deepStrictEqual(read("?why is\nthis"), Entry.Own({ name: "ask", rest: "why is\nthis" }))
    assert.deepStrictEqual(read("/halp"), Entry.Unknown({ name: "/halp", meant: "help" }))
    assert.deepStrictEqual(read("/zzzzz"), Entry.Unknown({ name: "/zzzzz", meant: undefined }))
    for (const text of ["/bin/ls -l", "/tmp", "/help/x", "ls /help", "/help; ls"])
      assert.deepStrictEqual(read(text), Entry.Command({ text }))
    assert.deepStrictEqual(read(" \n"), Entry.Blank())
  })

  it("leaves where bash's own words to leave stand alone", () => {
    for (const text of ["exit", " exit\n", "logout"])
      assert.deepStrictEqual(read(text), Entry.Own({ name: "exit", rest: "" }))
    assert.deepStrictEqual(read("exit 4"), Entry.Own({ name: "exit", rest: "4" }))
    for (const text of ["exit;", "cd /; exit", "exit x", "exits", "(exit 4)"])
      assert.deepStrictEqual(read(text), Entry.Command({ text }))
  })

  it("stands behind a prompt that tells the directory, a failure, and that there is no sandbox", () => {
    const facts = { cwd: "/home/ada/x", home: "/home/ada", code: 0, isConfined: true, isRoot: false, hasColours: false }
    assert.strictEqual(makeShellPrompt(facts), "~/x $ ")
    assert.strictEqual(
      makeShellPrompt({ ...facts, cwd: "/home/adam/\x1b[2J", code: 2, isConfined: false, isRoot: true }),
      "/home/adam/\\u001b[2J NO SANDBOX [2] # "
    )
  })
})
