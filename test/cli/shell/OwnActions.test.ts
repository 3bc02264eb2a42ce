import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as OwnActions from "../../../src/cli/shell/OwnActions.js"
import { type Services, ShellApp } from "../../../src/cli/shell/ShellApp.js"
import { SandboxManager } from "../../../src/sandbox/SandboxManager.js"
import * as Temporary from "../../support/Temporary.js"

/**
 * Runs `/allow` in the project `home/project`, for a person who says yes or no; returns what it says, what it has asked,
 * and what it has allowed.
 */
const allow = (written: string, isSure = true, granted: ReadonlyArray<string> = []) =>
  Temporary.using(async (directory) => {
    const home = Path.join(Fs.realpathSync(directory), "home")
    const cwd = Path.join(home, "project")
    for (const each of [cwd, Path.join(home, "other")]) Fs.mkdirSync(each, { recursive: true })
    const allowed: Array<string> = []
    const rule = (name: string, source: string) => ({
      pattern: name,
      path: Path.join(home, name),
      kind: "path",
      source
    })
    const blacklist = [rule("hidden", "default"), rule("mine", "file")]
    for (const { path } of blacklist) Fs.writeFileSync(path, "")
    const policy = {
      cwd,
      whitelist: [],
      blacklist,
      granted: granted.map((name) => rule(name, "runtime")),
      readonly: [],
      allowNetwork: false
    }
    const sandbox = {
      cwd: Effect.succeed(cwd),
      inForce: Effect.succeed({ policy, provider: "none" }),
      allow: (path: string, access: string) => Effect.sync(() => void allowed.push(`${access} ${path}`)),
      allowHost: (host: string) => Effect.sync(() => void allowed.push(`reach ${host}`))
    } as unknown as Context.Tag.Service<SandboxManager>
    const asked: Array<string> = []
    const confirm = (question: string) =>
      Effect.sync(() => {
        asked.push(question)
        return isSure
      })
    const services = Context.make(SandboxManager, sandbox).pipe(
      Context.add(ShellApp, { home, confirm } as ShellApp["Type"])
    ) as Context.Context<Services>
    const said = await Effect.runPromise(Effect.provide(OwnActions.run("allow", written), services))
    const short = (text: string) => text.replaceAll(home, "@")
    return { said: short(said), asked: asked.map(short), allowed: allowed.map(short) }
  })

const outside = (path: string) =>
  `To let commands write there, run the command that makes it, and allow it where you are asked; where you are not, make it outside of this shell, and then: /allow ${path}`

describe("/allow", () => {
  it("asks the person, and says so where the directory holds much else", async () => {
    const wide = "Let commands write to @ and everything in it until you leave? It holds much else."
    assert.deepStrictEqual(await allow("~", false), { said: "Nothing was allowed.", asked: [wide], allowed: [] })
    assert.deepStrictEqual((await allow("~")).allowed, ["write @"])
    for (const path of ["/etc", "/", "/usr", "/proc/self/root/etc"]) {
      const { allowed, asked, said } = await allow(path)
      assert.deepStrictEqual([...allowed, ...asked], [])
      assert.match(said, / can't be allowed: .*\.$/, path)
    }
    const { allowed, asked } = await allow("~/other")
    assert.deepStrictEqual(asked, ["Let commands write to @/other and everything in it until you leave?"])
    assert.deepStrictEqual(allowed, ["write @/other"])
    assert.strictEqual((await allow("")).said, "Usage: /allow <path>")
  })

  it("allows a host, where no such file is there", async () => {
    for (const [written, host] of [
      ["a.org", "a.org"],
      ["a.test:8080", "a.test:8080"],
      ["--host mirror", "mirror"]
    ] as const) {
      const { allowed, asked, said } = await allow(written)
      assert.deepStrictEqual([asked, allowed], [[`Let commands reach ${host} until you leave?`], [`reach ${host}`]])
      assert.isTrue(said.endsWith(` To allow it for good: synapse sandbox allow ${written}`), said)
    }
    assert.deepStrictEqual((await allow("a.org", false)).allowed, [])
    assert.match((await allow("a.org:0")).said, /^a.org:0 can't be allowed: a port is /)
    for (const written of ["mirror", "mirror.corp", "https://mirror.corp/x"])
      assert.match(
        (await allow(written)).said,
        / does not exist: [\s\S]*\nIf it is a host: \/allow --host mirror(\.corp)?$/
      )
  })

  it("allows what a built-in rule hides to be read, and what another rule hides not at all", async () => {
    const { allowed, asked, said } = await allow("~/hidden")
    assert.deepStrictEqual([asked, allowed], [["Let commands read @/hidden until you leave?"], ["read @/hidden"]])
    assert.match(said, /^Commands may read @\/hidden until you leave\. To allow it for good: synapse sandbox allow @/)
    assert.strictEqual((await allow("~/hidden", true, ["hidden"])).said, "Commands may read @/hidden already.")
    const refused = await allow("~/mine")
    assert.match(refused.said, /can't be allowed: on the blacklist \(sandbox\.json\) \(rule mine\)/)
    assert.deepStrictEqual(refused.allowed, [])
  })

  it("names of a missing path its directory only where that may be allowed", async () => {
    const missing = (path: string) => `${path} does not exist: only what exists can be allowed.`
    assert.deepStrictEqual(await allow("~/other/new.txt"), {
      said: `${missing("@/other/new.txt")} Name its directory.`,
      asked: [],
      allowed: []
    })
    assert.strictEqual((await allow("~/new.txt")).said, `${missing("@/new.txt")}\n${outside("@/new.txt")}`)
    assert.strictEqual((await allow("~/new/a")).said, `${missing("@/new/a")}\n${outside("@/new")}`)
    const hidden = `${missing("@/hidden/new")} Outside of this shell: synapse sandbox allow --write @/hidden/new`
    assert.strictEqual((await allow("~/hidden/new")).said, hidden)
    assert.strictEqual((await allow("~/mine/new")).said, missing("@/mine/new"))
    assert.strictEqual((await allow("/proc/nosuch")).said, missing("/proc/nosuch"))
  })
})
