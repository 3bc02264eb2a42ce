import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as OwnActions from "../../../src/cli/shell/OwnActions.js"
import type { ShellApp } from "../../../src/cli/shell/ShellApp.js"
import { SandboxManager } from "../../../src/sandbox/SandboxManager.js"
import * as Temporary from "../../support/Temporary.js"

/** Runs `/allow` in the project `home/project`; returns what it says, and what it has allowed. */
const allow = (written: string) =>
  Temporary.using(async (directory) => {
    const home = Path.join(Fs.realpathSync(directory), "home")
    const cwd = Path.join(home, "project")
    for (const each of [cwd, Path.join(home, "other")]) Fs.mkdirSync(each, { recursive: true })
    const allowed: Array<string> = []
    const policy = { cwd, whitelist: [], blacklist: [], readonly: [], allowNetwork: false }
    const sandbox = {
      cwd: Effect.succeed(cwd),
      inForce: Effect.succeed({ policy, provider: "none" }),
      allow: (path: string) => Effect.sync(() => void allowed.push(path))
    } as unknown as Context.Tag.Service<SandboxManager>
    const app = { home, services: Effect.succeed(Context.make(SandboxManager, sandbox)) } as unknown as ShellApp
    const said = await Effect.runPromise(OwnActions.run("allow", written, app))
    return { said: said.replaceAll(home, "@"), allowed: allowed.map((each) => each.replaceAll(home, "@")) }
  })

const outside = (path: string) =>
  `To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow ${path}`

describe("/allow", () => {
  it("takes a directory that holds much else with --yes only", async () => {
    const warned = "@ holds much else, and commands could change all of it. To allow that: /allow --yes @"
    assert.deepStrictEqual(await allow("~"), { said: warned, allowed: [] })
    assert.deepStrictEqual((await allow("--yes ~")).allowed, ["@"])
    assert.match((await allow("/var")).said, /^\/var holds much else, .*: \/allow --yes \/var$/)
    for (const path of ["/etc", "--yes /etc", "/", "/usr", "/proc/self/root/etc"]) {
      const { allowed, said } = await allow(path)
      assert.deepStrictEqual(allowed, [])
      assert.match(said, / can't be allowed: .*\.$/, path)
    }
    assert.deepStrictEqual((await allow("~/other")).allowed, ["@/other"])
    assert.strictEqual((await allow("--yes")).said, "Usage: /allow <path>")
  })

  it("names of a missing path its directory only where that may be allowed", async () => {
    const missing = (path: string) => `${path} does not exist: only what exists can be allowed.`
    assert.deepStrictEqual(await allow("~/other/new.txt"), {
      said: `${missing("@/other/new.txt")} Name its directory.`,
      allowed: []
    })
    assert.strictEqual((await allow("~/new.txt")).said, `${missing("@/new.txt")}\n${outside("@/new.txt")}`)
    assert.strictEqual((await allow("~/new/a")).said, `${missing("@/new/a")}\n${outside("@/new")}`)
    assert.strictEqual((await allow("/proc/nosuch")).said, missing("/proc/nosuch"))
  })
})
