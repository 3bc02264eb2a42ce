/** The user's own code cache, which runs as code: when it is made, and when it is used. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as vm from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

interface Installed {
  readonly home: string
  /** The directory of the caches, and the one of this build. */
  readonly cache: string
  readonly own: () => string
  readonly run: (
    env?: Readonly<Record<string, string>>,
    cwd?: string
  ) => { readonly status: number | null; readonly stdout: string }
  /** Puts a cache of other code in the place of the entry's. */
  readonly poison: () => void
}

/** The program as a package has it: without the caches of the build. */
const install = (directory: string): Installed => {
  const bin = path.join(directory, "package/dist/bin")
  const home = path.join(directory, "home/.synapse")
  const cache = path.join(home, "cache")
  fs.mkdirSync(bin, { recursive: true })
  fs.mkdirSync(path.dirname(home))
  fs.writeFileSync(path.join(directory, "package/package.json"), "{}")
  // The cache lies in the home that the system's list of accounts names.
  const account = path.join(directory, "account.cjs")
  const info = JSON.stringify({ ...os.userInfo(), homedir: path.dirname(home) })
  fs.writeFileSync(account, `require("node:os").userInfo = () => (${info})`)
  for (const name of fs.readdirSync("dist/bin")) {
    if (!name.endsWith(".cache")) fs.copyFileSync(path.join("dist/bin", name), path.join(bin, name))
  }
  const own = () => path.join(cache, fs.readdirSync(cache).find((name) => name.startsWith("main-")) ?? "none")
  const { SYNAPSE_SESSION: _, ...environment } = process.env
  return {
    home,
    cache,
    own,
    run: (env = {}, cwd = process.cwd()) => {
      const { status, stdout } = spawnSync(process.execPath, [path.join(bin, "synapse.cjs"), "--help"], {
        encoding: "utf8",
        cwd,
        env: { ...environment, NODE_OPTIONS: `--require=${account}`, ...env }
      })
      return { status, stdout: stdout.split("\n")[0] ?? "" }
    },
    poison: () => {
      const entry = fs.readdirSync(bin).find((name) => name.startsWith("main-")) ?? ""
      const { length } = fs.readFileSync(path.join(bin, entry), "latin1")
      const code = 'if (exports === undefined) return; process.stdout.write("poisoned"); process.exit(7)'
      // V8 takes a cache for any source of the same length.
      const [open, close] = ["(function (exports, require, module, __filename) {", "})"] as const
      const source = `${open}${code.padEnd(length - open.length - close.length)}${close}`
      const script = new vm.Script(source, { filename: path.join(bin, entry) })
      script.runInThisContext()()
      fs.writeFileSync(path.join(own(), `main-${entry}.cache`), script.createCachedData())
    }
  }
}

const using = (use: (installed: Installed) => void) => Temporary.using(async (directory) => use(install(directory)))

const modeOf = (file: string) => (fs.statSync(file).mode & 0o777).toString(8)

const isRoot = process.getuid?.() === 0

describe("the user's own code cache", () => {
  it("is made by the first run, for the user alone, and used by the next", () =>
    using(({ cache, home, own, poison, run }) => {
      const first = run()
      assert.strictEqual(first.status, 0)
      assert.deepStrictEqual([home, cache, own()].map(modeOf), ["700", "700", "700"])
      const files = fs.readdirSync(own())
      assert.isAbove(files.length, 2)
      assert.deepStrictEqual([...new Set(files.map((name) => modeOf(path.join(own(), name))))], ["600"])
      assert.deepStrictEqual(run(), first)
      poison()
      assert.deepStrictEqual(run(), { status: 7, stdout: "poisoned" })
    }))

  it("is not used where it is somebody else's, or somebody else can write it, or could", () =>
    using(({ cache, home, own, poison, run }) => {
      const right = run()
      poison()
      const directories = [home, cache, own()]
      for (const directory of directories) {
        fs.chmodSync(directory, 0o770)
        assert.deepStrictEqual(run(), right, `${directory}, writable by a group`)
        fs.chmodSync(directory, 0o700)
      }
      for (const directory of directories) {
        fs.renameSync(directory, `${directory}.aside`)
        fs.symlinkSync(`${directory}.aside`, directory)
        assert.deepStrictEqual(run(), right, `${directory}, a link`)
        fs.rmSync(directory)
        fs.renameSync(`${directory}.aside`, directory)
      }
      if (isRoot) {
        for (const directory of directories) {
          fs.chownSync(directory, 65534, 65534)
          assert.deepStrictEqual(run(), right, `${directory}, somebody else's`)
          fs.chownSync(directory, 0, 0)
        }
      }
      assert.strictEqual(run().stdout, "poisoned")
    }))

  it("is neither made nor used in a shell of Synapse, nor where node is told to do without", () =>
    using(({ home, poison, run }) => {
      for (const variable of ["SYNAPSE_SESSION", "NODE_DISABLE_COMPILE_CACHE"]) run({ [variable]: "1" })
      assert.isFalse(fs.existsSync(home))
      const right = run()
      poison()
      for (const variable of ["SYNAPSE_SESSION", "NODE_DISABLE_COMPILE_CACHE"]) {
        assert.deepStrictEqual(run({ [variable]: "1" }), right)
      }
    }))

  it("is neither made nor used where a variable says", () =>
    using(({ home, poison, run }) => {
      const right = run()
      poison()
      const other = `${home}/other`
      fs.mkdirSync(other, { mode: 0o700 })
      fs.renameSync(`${home}/cache`, `${other}/cache`)
      fs.mkdirSync(`${other}/.synapse`, { mode: 0o700 })
      fs.cpSync(`${other}/cache`, `${other}/.synapse/cache`, { recursive: true })
      for (const env of [{ SYNAPSE_HOME: other }, { HOME: other }, { HOME: ".", SYNAPSE_HOME: "" }]) {
        assert.deepStrictEqual(run(env, other), right)
      }
      assert.strictEqual(fs.readdirSync(`${other}/cache`).length, 1)
    }))

  it("goes when later builds have one, and is left out where it can't be made", () =>
    using(({ cache, home, own, run }) => {
      fs.mkdirSync(cache, { recursive: true, mode: 0o700 })
      for (let at = 1; at <= 6; at++) {
        fs.mkdirSync(path.join(cache, `build-${at}`))
        fs.utimesSync(path.join(cache, `build-${at}`), at, at)
      }
      const right = run()
      assert.deepStrictEqual(fs.readdirSync(cache).sort(), ["build-4", "build-5", "build-6", path.basename(own())])
      fs.rmSync(home, { recursive: true })
      fs.writeFileSync(home, "a file")
      assert.deepStrictEqual(run(), right)
      assert.strictEqual(fs.readFileSync(home, "utf8"), "a file")
    }))
})
