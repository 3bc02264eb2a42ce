import * as Fs from "node:fs"
import { createRequire, syncBuiltinESMExports } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as TaintedPaths from "../../../src/sandbox/config/TaintedPaths.js"

/** The homes that the list of accounts and the environment name. */
const homes = { account: "/nowhere", environment: "/nowhere" }
const os: { homedir: typeof Os.homedir; userInfo: unknown } = createRequire(import.meta.url)("node:os")
const before = { ...os, info: Os.userInfo() }
beforeAll(() => {
  os.homedir = () => homes.environment
  os.userInfo = () => ({ ...before.info, homedir: homes.account })
  syncBuiltinESMExports()
})
afterEach(() => {
  homes.account = homes.environment = "/nowhere"
})
afterAll(() => {
  os.homedir = before.homedir
  os.userInfo = before.userInfo
  syncBuiltinESMExports()
})

const inDirectory = (test: (base: string, home: string) => void) => () => {
  const base = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "places-")))
  try {
    for (const name of ["project", "other/deep"]) Fs.mkdirSync(`${base}/${name}`, { recursive: true })
    test(base, `${base}/.synapse`)
  } finally {
    Fs.rmSync(base, { recursive: true })
  }
}

describe("places that commands could write", () => {
  it(
    "are remembered by path and by identity, in files that only their user reads",
    inDirectory((base, home) => {
      assert.isUndefined(TaintedPaths.doubt(home, `${base}/project`))
      TaintedPaths.remember(home, [`${base}/project`, `${base}/missing`])
      TaintedPaths.remember(home, [`${base}/project`])
      assert.lengthOf(Fs.readdirSync(`${home}/places`), 3)
      assert.strictEqual(Fs.statSync(`${home}/places`).mode & 0o777, 0o700)
      Fs.symlinkSync("../other", `${base}/project/link`)
      const doubt = {
        link: `${base}/project/link`,
        target: `${base}/other`,
        place: `${base}/project`,
        real: `${base}/other/deep`
      }
      assert.deepStrictEqual(TaintedPaths.doubt(home, `${base}/project/link/deep`), doubt)
      Fs.renameSync(`${base}/project`, `${base}/moved`)
      assert.strictEqual(TaintedPaths.doubt(home, `${base}/moved/link`)?.place, `${base}/moved`)
      Fs.mkdirSync(`${base}/project`)
      Fs.symlinkSync("../new", `${base}/project/link`)
      assert.strictEqual(TaintedPaths.doubt(home, `${base}/project/link`)?.real, `${base}/new`)
    })
  )

  it(
    "are left by links only where these lie in them and lead out of them",
    inDirectory((base, home) => {
      TaintedPaths.remember(home, [`${base}/project`])
      Fs.symlinkSync("deep", `${base}/other/near`)
      Fs.mkdirSync(`${base}/project/a`)
      Fs.symlinkSync("a", `${base}/project/b`)
      Fs.symlinkSync("project", `${base}/way`)
      for (const path of ["other/near", "project/b", "way/a", "project/missing/x"]) {
        assert.isUndefined(TaintedPaths.doubt(home, `${base}/${path}`), path)
      }
      Fs.symlinkSync("../projects", `${base}/project/c`)
      assert.strictEqual(TaintedPaths.doubt(home, `${base}/way/c`)?.link, `${base}/project/c`)
    })
  )

  it(
    "are as many as are kept, of which the oldest go",
    inDirectory((base, home) => {
      TaintedPaths.remember(home, [`${base}/project`])
      const [old = ""] = Fs.readdirSync(`${home}/places`)
      Fs.writeFileSync(`${base}/file`, "")
      for (let at = 0; at < 16_400; at++) Fs.linkSync(`${base}/file`, `${home}/places/${at}`)
      Fs.utimesSync(`${home}/places/${old}`, 1, 1)
      // One name of 256 has the others counted.
      for (let at = 0; Fs.readdirSync(`${home}/places`).length > 16_400; at++) {
        assert.isBelow(at, 50)
        TaintedPaths.remember(
          home,
          Array.from({ length: 100 }, (_, next) => `${base}/missing/${at}/${next}`)
        )
      }
      const left = Fs.readdirSync(`${home}/places`)
      assert.isAtMost(left.length, 16_384)
      assert.notInclude(left, old)
    })
  )

  it(
    "are not remembered where nothing can be written, which harms nobody",
    inDirectory((base) => {
      Fs.writeFileSync(`${base}/file`, "")
      assert.throws(() => TaintedPaths.remember(`${base}/file`, [`${base}/project`]))
      assert.doesNotThrow(() => TaintedPaths.remember("relative", [`${base}/project`]))
      assert.isUndefined(TaintedPaths.doubt(`${base}/file`, `${base}/project`))
    })
  )
})

/** A project, the account's home, and what a session of that home left in the project. */
const afterSession = (test: (base: string, own: string) => void) =>
  inDirectory((base) => {
    homes.account = `${base}/ada`
    homes.environment = homes.account
    Fs.mkdirSync(`${base}/ada`)
    TaintedPaths.remember(`${base}/ada/.synapse`, [`${base}/project`])
    Fs.mkdirSync(`${base}/project/.synapse/places`, { recursive: true })
    test(base, `${base}/ada/.synapse`)
  })

describe("a home that commands could write", () => {
  it(
    "is known in the project, by a link through it, by HOME, and after a move",
    afterSession((base, own) => {
      assert.isUndefined(TaintedPaths.writtenAround(own))
      assert.isUndefined(TaintedPaths.writtenAround(`${base}/other`))
      for (const home of [".synapse", "", "a/missing"]) {
        assert.strictEqual(TaintedPaths.writtenAround(Path.join(base, "project", home)), `${base}/project`)
      }
      Fs.symlinkSync(`${base}/project/.synapse`, `${base}/way`)
      assert.strictEqual(TaintedPaths.writtenAround(`${base}/way`), `${base}/project`)
      Fs.symlinkSync(`${base}/other`, `${base}/project/out`)
      assert.strictEqual(TaintedPaths.writtenAround(`${base}/project/out`), `${base}/project`)
      homes.environment = `${base}/project`
      assert.strictEqual(TaintedPaths.writtenAround(`${base}/project/.synapse`), `${base}/project`)
      Fs.renameSync(`${base}/project`, `${base}/moved`)
      assert.strictEqual(TaintedPaths.writtenAround(`${base}/moved/.synapse`), `${base}/moved`)
    })
  )

  it("is the account's own where HOME is relative, which commands of the directory could write", () => {
    homes.account = "/home/ada"
    homes.environment = "."
    assert.strictEqual(SandboxSettings.make().home, "/home/ada/.synapse")
  })

  it(
    "is one in the working directory that grants rights, where the account has no home and HOME names the memory",
    inDirectory((base) => {
      const [project, home] = [`${base}/project`, `${base}/project/.synapse`]
      homes.environment = project
      Fs.symlinkSync(project, `${base}/way`)
      Fs.mkdirSync(`${home}/places`, { recursive: true })
      assert.isUndefined(TaintedPaths.writtenAround(home, project))
      for (const name of ["sandbox.json", "mcp", "settings.json", "agents", "skills"]) {
        Fs.mkdirSync(`${home}/${name}`)
        for (const [at, cwd] of [
          [home, project],
          [`${base}/way/.synapse`, project],
          [home, `${base}/way`]
        ] as const) {
          assert.strictEqual(TaintedPaths.writtenAround(at, cwd), project, name)
        }
        assert.isUndefined(TaintedPaths.writtenAround(home, `${base}/other`))
        homes.account = project
        assert.isUndefined(TaintedPaths.writtenAround(home, project))
        homes.account = "/nowhere"
        Fs.rmdirSync(`${home}/${name}`)
      }
      Fs.mkdirSync(`${base}/other/.synapse/mcp`, { recursive: true })
      Fs.rmSync(home, { recursive: true })
      Fs.symlinkSync(`${base}/other/.synapse`, home)
      assert.strictEqual(TaintedPaths.writtenAround(home, project), project)
    })
  )

  it(
    "is not the user's by what it says itself",
    afterSession((base) => {
      const forged = `${base}/project/.synapse`
      homes.account = `${base}/other`
      homes.environment = `${base}/project`
      TaintedPaths.claim(forged)
      Fs.cpSync(`${base}/other/.synapse/homes`, `${forged}/homes`, { recursive: true })
      assert.isUndefined(TaintedPaths.writtenAround(forged))
      homes.account = `${base}/ada`
      assert.strictEqual(TaintedPaths.writtenAround(forged), `${base}/project`)
    })
  )

  it(
    "is the user's where a session kept it from its commands, or the user says so, until it is another directory",
    afterSession((base, own) => {
      const kept = `${base}/other/.synapse`
      TaintedPaths.remember(kept, [`${base}/other`])
      assert.isUndefined(TaintedPaths.writtenAround(kept))
      TaintedPaths.claim(`${base}/project/.synapse`)
      assert.isUndefined(TaintedPaths.writtenAround(`${base}/project/.synapse`))
      assert.deepStrictEqual([...TaintedPaths.homes()].sort(), [own, kept, `${base}/project/.synapse`].sort())
      Fs.renameSync(kept, `${base}/old`)
      Fs.mkdirSync(kept)
      assert.strictEqual(TaintedPaths.writtenAround(kept), `${base}/other`)
      assert.notInclude(TaintedPaths.homes(), kept)
    })
  )
})
