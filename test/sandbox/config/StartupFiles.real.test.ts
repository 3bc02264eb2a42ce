import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as StartupFiles from "../../../src/sandbox/config/StartupFiles.js"

describe("start-up files", () => {
  it("are found where a command has put a named pipe in the place of git's index", async () => {
    const cwd = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-startup-")))
    try {
      execFileSync("git", ["init", "-q", cwd])
      Fs.mkdirSync(`${cwd}/.vscode`)
      const index = `${cwd}/.git/index`
      execFileSync("mkfifo", [index])
      // It waits until someone opens the pipe to read it.
      const writer = spawn("timeout", ["1", "sh", "-c", ': >"$0"', index], { stdio: "ignore" })
      const found = StartupFiles.find({ cwd, userHome: "/nonexistent", writable: [cwd], named: [] })
      assert.deepStrictEqual(found, [`${cwd}/.vscode`, `${cwd}/.git/hooks`])
      assert.deepStrictEqual(await once(writer, "exit"), [124, null])
    } finally {
      Fs.rmSync(cwd, { recursive: true })
    }
  })
})
