import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as ToolHosts from "../../../src/sandbox/config/ToolHosts.js"
import * as Directory from "../../support/sandbox/Directory.js"

/** Finds the hosts of a tool in a home with these files; the machine's own settings of it are out of sight. */
const find = (
  tool: ToolHosts.Tool,
  files: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string>> = {}
) =>
  Effect.map(Directory.make, (userHome) => {
    for (const [name, text] of Object.entries(files)) {
      Fs.mkdirSync(Path.dirname(`${userHome}/${name}`), { recursive: true })
      Fs.writeFileSync(`${userHome}/${name}`, text)
    }
    const known = { npm_config_prefix: `${userHome}/prefix`, ...variables }
    const place = { cwd: userHome, userHome, variables: known, etc: `${userHome}/etc` }
    return ToolHosts.find(tool, place).map(({ entry, origin }) => [entry, origin.replace(userHome, "~")])
  })

const entries = (...given: Parameters<typeof find>) => Effect.map(find(...given), (all) => all.map(([entry]) => entry))

describe("the hosts of a tool", () => {
  it.scoped("are none where it is not configured", () =>
    Effect.gen(function* () {
      for (const tool of ["npm", "pip", "uv", "cargo", "go", "git", "apt"] as const) {
        assert.deepStrictEqual(yield* entries(tool), [])
      }
    })
  )

  it.scoped("of npm are its registries, with the nearest setting", () =>
    Effect.gen(function* () {
      const npmrc = [
        "; registry=https://comment.test/",
        "registry = https://user:secret@npm.test:8443/path/",
        "@scope:registry=https://${TEAM}.test/",
        "//npm.test/:_authToken=https://token.test/"
      ].join("\n")
      const files = { ".npmrc": npmrc, "prefix/etc/npmrc": "registry=https://global.test/" }
      const found = yield* find("npm", files, { TEAM: "team" })
      assert.deepStrictEqual(found, [
        ["npm.test:8443", "~/.npmrc"],
        ["team.test", "~/.npmrc"]
      ])
      const local = { TEAM: "team", NPM_CONFIG_REGISTRY: "http://127.0.0.1:4873" }
      assert.deepStrictEqual(yield* entries("npm", files, local), ["localhost:4873", "team.test"])
    })
  )

  it.scoped("of pip are its indexes, on several lines too, and no paths", () =>
    Effect.gen(function* () {
      const conf = [
        "[global]",
        "index-url = https://one.test/simple",
        "extra_index_url =",
        "    https://two.test/simple",
        "    file:///opt/simple",
        "[install]",
        "find-links: http://three.test:8080/wheels /opt/wheels"
      ].join("\n")
      const found = yield* entries("pip", { ".config/pip/pip.conf": conf }, { PIP_CONFIG_FILE: "/nonexistent" })
      assert.includeMembers(found, ["one.test", "two.test", "three.test:8080"])
      const both = yield* entries("pip", {}, { PIP_EXTRA_INDEX_URL: "https://extra.test/ https://more.test" })
      assert.includeMembers(both, ["extra.test", "more.test"])
    })
  )

  it.scoped("of uv are its indexes, the default one first", () =>
    Effect.gen(function* () {
      const index = '[[index]]\nname = "a"\nurl = "https://a.test/simple"\n'
      assert.deepStrictEqual(yield* entries("uv", { ".config/uv/uv.toml": index }), ["a.test"])
      const toml = `${index}default = true\n\n[pip]\nextra-index-url = [\n  "https://b.test",\n  "https://c.test",\n]\n`
      assert.deepStrictEqual(yield* entries("uv", { ".config/uv/uv.toml": toml }), ["a.test", "b.test", "c.test"])
    })
  )

  it.scoped("of cargo are its registries, unless a directory replaces them", () =>
    Effect.gen(function* () {
      const own = '[registries.own]\nindex = "sparse+https://own.test/index/"\n'
      assert.deepStrictEqual(yield* entries("cargo", { ".cargo/config.toml": own }), ["own.test"])
      const source =
        '[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+https://m.test/"\n'
      assert.deepStrictEqual(yield* entries("cargo", { ".cargo/config.toml": source }), ["m.test"])
      const vendored = '[source.crates-io]\nreplace-with = "v"\n[source.v]\ndirectory = "/v"\n'
      assert.deepStrictEqual(yield* entries("cargo", { ".cargo/config.toml": vendored }), [])
    })
  )

  it.scoped("of go are its proxies", () =>
    Effect.gen(function* () {
      const files = { ".config/go/env": "GOPROXY=https://one.test|https://two.test:8443,direct\nGOSUMDB=off\n" }
      assert.deepStrictEqual(yield* entries("go", files), ["one.test", "two.test:8443"])
      assert.deepStrictEqual(yield* entries("go", files, { GOPROXY: "off", GOSUMDB: "off" }), [])
    })
  )

  it.scoped("of apt are its sources in both forms, but for those that are off", () =>
    Effect.gen(function* () {
      const off = "Types: deb\nURIs: https://off.test/\nEnabled: no\n\nTypes: deb\nURIs: https://two.test/\n"
      const files = { "sources.list": "deb http://one.test/debian stable main\n", "sources.list.d/a.sources": off }
      const found = yield* entries(
        "apt",
        Record.mapKeys(files, (name) => `etc/apt/${name}`)
      )
      assert.deepStrictEqual(found, ["one.test", "two.test"])
    })
  )

  it.scoped("of git are the remotes of the repository, as the user's settings rewrite them", () =>
    Effect.gen(function* () {
      const place = yield* Directory.make
      const [repository, userHome] = [`${place}/r/inner`, `${place}/home`]
      for (const path of [repository, userHome]) Fs.mkdirSync(path, { recursive: true })
      execFileSync("git", ["-C", `${place}/r`, "init", "-q"])
      const urls = [
        "git@one.test:a/b.git",
        "ssh://git@two.test:7999/a.git",
        "https://user:secret@three.test/a.git",
        "/srv/local.git",
        "short:a/b",
        "https://one.test:22/same"
      ]
      const remotes = urls.map((url, at) => `[remote "r${at}"]\n\turl = ${url}\n`)
      Fs.appendFileSync(`${place}/r/.git/config`, remotes.join(""))
      Fs.writeFileSync(`${userHome}/.gitconfig`, '[url "https://four.test/"]\n\tinsteadOf = short:\n')
      const found = ToolHosts.find("git", { cwd: repository, userHome, variables: {} })
      assert.deepStrictEqual(
        found.map(({ entry }) => entry),
        ["one.test:22", "two.test:7999", "three.test", "four.test"]
      )
      assert.strictEqual(found[0]?.origin, `${Fs.realpathSync(place)}/r/.git/config`)
      // A command may have put a pipe there.
      Fs.rmSync(`${place}/r/.git/config`)
      execFileSync("mkfifo", [`${place}/r/.git/config`])
      assert.deepStrictEqual(ToolHosts.find("git", { cwd: repository, userHome, variables: {} }), [])
    })
  )
})
