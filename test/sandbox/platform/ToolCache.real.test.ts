/** The directory for the caches of tools, and the variables that lead to it. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ToolCache from "../../../src/sandbox/platform/ToolCache.js"
import * as Directory from "../../support/sandbox/Directory.js"
import { rule } from "../../support/sandbox/Sandboxed.js"

const scoped = (name: string, test: (home: string) => void) =>
  it.scoped(name, () => Effect.map(Directory.make, (directory) => test(Fs.realpathSync(directory))))

const at = (home: string) => rule(`${home}/own/tool-cache/0123`, "cache")
const modeOf = (path: string) => Fs.statSync(path).mode & 0o7777

describe("the directory for the caches of tools", () => {
  scoped("is made with what is around it, for this user alone, and kept", (home) => {
    const path = ToolCache.open(at(home))
    assert.strictEqual(path, `${home}/own/tool-cache/0123`)
    assert.deepStrictEqual([modeOf(path), modeOf(`${home}/own/tool-cache`)], [0o700, 0o700])
    Fs.writeFileSync(`${path}/kept`, "")
    Fs.chmodSync(path, 0o000)
    ToolCache.open(at(home))
    assert.deepStrictEqual([modeOf(path), Fs.readdirSync(path)], [0o700, ["kept"]])
  })

  for (const [what, put] of [
    ["a link in its place", (path: string, to: string) => Fs.symlinkSync(to, path)],
    ["a file in its place", (path: string) => Fs.writeFileSync(path, "")]
  ] as const) {
    for (const place of ["tool-cache", "tool-cache/0123"]) {
      scoped(`is none where there is ${what} (${place})`, (home) => {
        Fs.mkdirSync(`${home}/elsewhere/0123`, { recursive: true })
        Fs.mkdirSync(`${home}/own/${place}/..`, { recursive: true })
        if (Fs.existsSync(`${home}/own/${place}`)) Fs.rmdirSync(`${home}/own/${place}`)
        put(`${home}/own/${place}`, `${home}/elsewhere`)
        assert.strictEqual(ToolCache.find({ toolCache: at(home) }), undefined)
        assert.deepStrictEqual(Fs.readdirSync(`${home}/elsewhere`), ["0123"])
      })
    }
  }

  scoped("is none where everybody may write around it", (home) => {
    Fs.mkdirSync(`${home}/own`)
    Fs.chmodSync(`${home}/own`, 0o777)
    assert.strictEqual(ToolCache.find({ toolCache: at(home) }), undefined)
  })
})

describe("the variables of the caches", () => {
  const never = () => false

  scoped("are those of tools whose own place is not writable, and that nobody has set", (home) => {
    const made = ToolCache.variables("/c", { HOME: home, PIP_CACHE_DIR: "/mine" }, (path) => path === `${home}/.npm`)
    assert.strictEqual(made["npm_config_cache"], undefined)
    assert.strictEqual(made["PIP_CACHE_DIR"], undefined)
    assert.strictEqual(made["UV_CACHE_DIR"], "/c/uv")
    // There is no such directory to put a file for apt into.
    assert.strictEqual(made["APT_CONFIG"], undefined)
    // As npm hands it to what it starts.
    const byNpm = ToolCache.variables("/c", { HOME: home, npm_config_cache: `${home}/.npm` }, never)
    assert.strictEqual(byNpm["npm_config_cache"], "/c/npm")
  })

  scoped("leave the places that hold what a tool needs to the user, where there are any", (home) => {
    assert.strictEqual(ToolCache.variables("/c", { HOME: home }, never)["CARGO_HOME"], "/c/cargo")
    assert.strictEqual(ToolCache.variables("/c", { HOME: home, GOPATH: "/go" }, never)["GOMODCACHE"], undefined)
    assert.strictEqual(ToolCache.variables("/c", { HOME: home }, never)["PNPM_HOME"], "/c/pnpm")
    for (const name of [".cargo", ".cache"]) Fs.mkdirSync(`${home}/${name}`)
    const made = ToolCache.variables("/c", { HOME: home }, never)
    assert.deepStrictEqual(
      [made["CARGO_HOME"], made["XDG_CACHE_HOME"], made["GOMODCACHE"]],
      [undefined, process.platform === "linux" ? "/c/xdg" : undefined, "/c/go-mod"]
    )
  })
})

describe.skipIf(process.platform !== "linux")("the cache of commands beside the user's", () => {
  const cached = (home: string) => {
    const { XDG_CACHE_HOME = "" } = ToolCache.variables(`${home}/own`, { HOME: home }, () => false)
    return (name: string) =>
      Fs.existsSync(`${XDG_CACHE_HOME}/${name}`) ? Fs.realpathSync(`${XDG_CACHE_HOME}/${name}`) : undefined
  }
  const prepare = (home: string) => {
    Fs.mkdirSync(`${home}/own`)
    for (const name of ["full", "own", "empty"]) Fs.mkdirSync(`${home}/.cache/${name}`, { recursive: true })
    for (const name of ["full/x", "own/x", "file"]) Fs.writeFileSync(`${home}/.cache/${name}`, "")
  }

  scoped("is empty where the user has none", (home) => {
    Fs.mkdirSync(`${home}/own`)
    cached(home)
    assert.notInclude(Fs.readdirSync(`${home}/own`), "xdg")
  })

  scoped("leads to what the user has, but for empty directories, and what commands have made themselves", (home) => {
    prepare(home)
    Fs.mkdirSync(`${home}/own/xdg/own`, { recursive: true })
    const at = cached(home)
    assert.deepStrictEqual(["full", "file", "own", "empty"].map(at), [
      `${home}/.cache/full`,
      `${home}/.cache/file`,
      `${home}/own/xdg/own`,
      undefined
    ])
  })

  scoped("leads to what is there by now, and to nothing that has gone", (home) => {
    prepare(home)
    cached(home)
    Fs.rmSync(`${home}/.cache/full`, { recursive: true })
    Fs.writeFileSync(`${home}/.cache/new`, "")
    assert.strictEqual(cached(home)("new"), `${home}/.cache/new`)
    assert.isFalse(Fs.existsSync(`${home}/own/xdg/full`))
    assert.isUndefined(Fs.lstatSync(`${home}/own/xdg/full`, { throwIfNoEntry: false }))
  })

  for (const [what, put] of [
    ["a link", (path: string, to: string) => Fs.symlinkSync(to, path)],
    ["a dangling link", (path: string, to: string) => Fs.symlinkSync(`${to}/none`, path)],
    ["a file", (path: string) => Fs.writeFileSync(path, "")]
  ] as const) {
    scoped(`follows ${what} of a command nowhere`, (home) => {
      prepare(home)
      Fs.mkdirSync(`${home}/elsewhere`)
      put(`${home}/own/xdg`, `${home}/elsewhere`)
      assert.strictEqual(cached(home)("full"), `${home}/.cache/full`)
      assert.deepStrictEqual(Fs.readdirSync(`${home}/elsewhere`), [])
      assert.isTrue(Fs.lstatSync(`${home}/own/xdg`).isDirectory())
    })
  }
})
