import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as PassingDenial from "../../../src/sandbox/denial/PassingDenial.js"
import { glob } from "../../support/denial/World.js"

const withTree = (body: (top: string, git: (...args: ReadonlyArray<string>) => void) => void) => {
  const top = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "hidden-change-")))
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" }
  try {
    Fs.mkdirSync(`${top}/sub`)
    for (const name of ["sub/.env", "a.env", ".env"]) Fs.writeFileSync(`${top}/${name}`, "x")
    const git = (...args: ReadonlyArray<string>) => ChildProcess.execFileSync("git", args, { cwd: top, env })
    git("init", "-q")
    body(top, git)
  } finally {
    Fs.rmSync(top, { recursive: true, force: true })
  }
}

describe("the hidden file that git takes for changed", () => {
  const stderr = "error: cannot pull with rebase: You have unstaged changes.\n"
  const failed = (top: string, command = "git pull --rebase") => ({
    command: CommandLine.parse(command),
    directories: [`${top}/sub`],
    stdout: "",
    stderr,
    policy: { cwd: top, whitelist: [], blacklist: [], readonly: [], allowNetwork: false } as const,
    masks: [{ path: `${top}/.env`, kind: "file", rule: glob("**/.env") } as const]
  })

  it("is one that the index has", () =>
    withTree((top, git) => {
      const told = (command?: string, said = stderr) =>
        new PassingDenial.PassingDenials().hidden({ ...failed(top, command), stderr: said })
      assert.isUndefined(told())
      git("add", "sub", "a.env")
      assert.isUndefined(told())
      git("add", ".env")
      assert.include(told(), `The sandbox hides ${top}/.env `)
      // Only git refuses to go on for changes.
      assert.isUndefined(told("cat log >&2"))
      assert.isUndefined(told(undefined, "fatal: invalid upstream 'x'\n"))
      git("update-index", "--assume-unchanged", ".env")
      assert.isUndefined(told())
    }))
})
