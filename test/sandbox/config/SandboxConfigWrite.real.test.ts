import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Config from "../../support/sandbox/Config.js"
import * as Directory from "../../support/sandbox/Directory.js"

const modeOf = (path: string) => Fs.statSync(path).mode & 0o7777

describe("writing sandbox.json", () => {
  it.scoped("S63 adds a path for every session to come", () =>
    Effect.gen(function* () {
      const { config, home, text } = yield* Config.make()
      assert.isTrue(yield* config.addWhitelist("/extra"))
      const other = yield* Config.open(home)
      assert.deepStrictEqual((yield* other.load).policy.filesystem.whitelist, ["/extra"])
      assert.strictEqual(
        text(),
        '{\n  "policy": {\n    "filesystem": {\n      "whitelist": [\n        "/extra"\n      ]\n    }\n  }\n}\n'
      )
      assert.deepStrictEqual(Directory.list(home), ["sandbox.json"])
    })
  )

  it.scoped("keeps what other programs read, and what the file looks like", () =>
    Effect.gen(function* () {
      const before = `{
\t"$schema": "s",
\t"policy": {
\t\t"filesystem": { "blacklist": ["*.pem"] },
\t\t"network": { "allowNetwork": true }
\t},
\t"providerOptions": {
\t\t"x": { "y": [1.50, { "__proto__": null }], "z": 123456789012345678901, "w": "$HOME" } }
}
`
      const { config, text } = yield* Config.make(before)
      yield* config.addBlacklist("$DATA/**/*.key")
      const after = text()
      for (const kept of ["1.50", "123456789012345678901", '\n\t\t"x": {', '"__proto__": null'])
        assert.include(after, kept)
      const expected = JSON.parse(before)
      expected.policy.filesystem.blacklist.push("$DATA/**/*.key")
      assert.deepStrictEqual(JSON.parse(after), expected)
      assert.deepStrictEqual(Object.keys(JSON.parse(after)), ["$schema", "policy", "providerOptions"])
    })
  )

  it.scoped("changes nothing where there is nothing to change", () =>
    Effect.gen(function* () {
      const { config, file } = yield* Config.make(
        '{"policy":{"filesystem":{"blacklist":["*.pem"],"whitelist":["/a"]}}}'
      )
      const before = Fs.statSync(file)
      assert.isFalse(yield* config.addBlacklist("*.pem"))
      assert.isFalse(yield* config.addWhitelist("/a"))
      assert.deepStrictEqual(yield* config.forget("/b", "/"), [])
      const after = Fs.statSync(file)
      assert.deepStrictEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs])
    })
  )

  it.scoped("keeps an exact path exact, whatever characters it has", () =>
    Effect.gen(function* () {
      const { config } = yield* Config.make()
      for (const path of ["/w/[id]/$DATA", "/w/{a,b}*?", "/w/a\\b", "/w/ü x ", "/w/!(a)@(b|c)", "/w/~ !\n"]) {
        assert.isTrue(yield* config.addWhitelist(path))
        assert.isFalse(yield* config.addWhitelist(path))
        assert.deepStrictEqual(
          (yield* config.forget(path, "/")).map(({ list }) => list),
          ["whitelist"],
          path
        )
      }
    })
  )

  it.scoped("refuses what no list may hold, and writes nothing", () =>
    Effect.gen(function* () {
      const { config, home } = yield* Config.make()
      assert.match(
        yield* Config.messageOf(config.addWhitelist("a")),
        /^a can't be on the whitelist: it is not absolute\.$/
      )
      assert.match(yield* Config.messageOf(config.addWhitelist("/")), /it would match everything/)
      assert.match(yield* Config.messageOf(config.addWhitelist("/proc/self")), /kernel/)
      assert.match(yield* Config.messageOf(config.addWhitelist("/a\0")), /NUL/)
      assert.match(yield* Config.messageOf(config.addBlacklist("!x")), /^!x can't be on the blacklist: /)
      assert.match(yield* Config.messageOf(config.addBlacklist("")), /empty/)
      assert.deepStrictEqual(Directory.list(home), [])
    })
  )

  it.scoped("forgets an entry however it is written, on both lists", () =>
    Effect.gen(function* () {
      const { config, text } = yield* Config.make(
        JSON.stringify({
          policy: { filesystem: { whitelist: ["~/x", "/y"], blacklist: ["/home/ada/x/", "*.pem", "x"] } }
        })
      )
      assert.deepStrictEqual(yield* config.forget("/home/ada/x", "/home/ada"), [
        { list: "whitelist", entry: "~/x" },
        { list: "blacklist", entry: "/home/ada/x/" },
        { list: "blacklist", entry: "x" }
      ])
      assert.deepStrictEqual(JSON.parse(text()).policy.filesystem, { whitelist: ["/y"], blacklist: ["*.pem"] })
    })
  )

  it.scoped("keeps how an entry hides what it names", () =>
    Effect.gen(function* () {
      const empty = { path: "**/.env", hidden: "empty" }
      const { config, text } = yield* Config.make(
        JSON.stringify({ policy: { filesystem: { blacklist: [empty, "/x"], hidden: "empty" } } })
      )
      const blacklist = () => JSON.parse(text()).policy.filesystem.blacklist
      assert.isFalse(yield* config.addBlacklist("**/.env"))
      assert.isTrue(yield* config.addBlacklist("/y"))
      yield* config.forget("/x", "/")
      assert.deepStrictEqual(blacklist(), [empty, "/y"])
      assert.deepStrictEqual(yield* config.forget("**/.env", "/"), [{ list: "blacklist", entry: "**/.env" }])
      assert.deepStrictEqual(blacklist(), ["/y"])
    })
  )

  it.scoped("makes a file that is its owner's alone, in a directory that is", () =>
    Effect.gen(function* () {
      const { home } = yield* Config.make()
      const config = yield* Config.open(`${home}/a/b`)
      yield* config.addBlacklist("*.pem")
      assert.deepStrictEqual([modeOf(`${home}/a/b/sandbox.json`), modeOf(`${home}/a/b`)], [0o600, 0o700])
    })
  )

  it.scoped("keeps the file's mode", () =>
    Effect.gen(function* () {
      const { config, file } = yield* Config.make("{}")
      for (const mode of [0o644, 0o660, 0o600]) {
        Fs.chmodSync(file, mode)
        yield* config.addBlacklist(`/${mode}`)
        assert.strictEqual(modeOf(file), mode)
      }
    })
  )

  it.scoped.skipIf(!Directory.isRoot)("keeps the file's owner", () =>
    Effect.gen(function* () {
      const { config, file } = yield* Config.make("{}")
      Fs.chownSync(file, 65534, 65533)
      yield* config.addBlacklist("/a")
      const { gid, uid } = Fs.statSync(file)
      assert.deepStrictEqual([uid, gid], [65534, 65533])
    })
  )

  it.scoped("follows a link to the file, and leaves the link", () =>
    Effect.gen(function* () {
      const { config, file, home } = yield* Config.make()
      Fs.mkdirSync(`${home}/dotfiles`)
      Fs.writeFileSync(`${home}/dotfiles/s.json`, "{}")
      Fs.symlinkSync("dotfiles/s.json", file)
      yield* config.addBlacklist("/a")
      assert.strictEqual(Fs.readlinkSync(file), "dotfiles/s.json")
      assert.deepStrictEqual((yield* config.load).policy.filesystem.blacklist, ["/a"])
      assert.deepStrictEqual(Directory.list(`${home}/dotfiles`), ["s.json"])
    })
  )
})

/** Root may do anything; as root, this is somebody else for a while. */
const asOrdinaryUser = <A, E, R>(home: string, effect: Effect.Effect<A, E, R>) => {
  if (!Directory.isRoot) return effect
  Fs.chownSync(home, 65534, 65534)
  return Effect.acquireUseRelease(
    Effect.sync(() => process.seteuid?.(65534)),
    () => effect,
    () => Effect.sync(() => process.seteuid?.(0))
  )
}

describe("for an ordinary user", () => {
  it.scoped("a file that can't be read is an error, and no missing file", () =>
    Effect.gen(function* () {
      const { config, file, home } = yield* Config.make("{}")
      Fs.chmodSync(file, 0)
      const messages = yield* asOrdinaryUser(
        home,
        Effect.all([Config.messageOf(config.load), Config.messageOf(config.addBlacklist("/a"))])
      )
      for (const message of messages)
        assert.match(message, /sandbox\.json: it can't be read: EACCES.*Nothing runs until/)
    })
  )

  it.scoped("a directory that can't be entered is an error, and no missing file", () =>
    Effect.gen(function* () {
      const { config, home } = yield* Config.make("{}")
      Fs.chmodSync(home, 0)
      const message = yield* asOrdinaryUser(home, Config.messageOf(config.load))
      Fs.chmodSync(home, 0o700)
      assert.match(message, /sandbox\.json: it can't be read: EACCES/)
    })
  )

  it.scoped("a file or a directory that can't be written stays as it is", () =>
    Effect.gen(function* () {
      const { config, file, home, text } = yield* Config.make("{}")
      Fs.chmodSync(file, 0o444)
      assert.match(
        yield* asOrdinaryUser(home, Config.messageOf(config.addBlacklist("/a"))),
        /sandbox\.json: it can't be written: EACCES.*Nothing was written\.$/
      )
      Fs.chmodSync(file, 0o666)
      Fs.chmodSync(home, 0o555)
      const message = yield* asOrdinaryUser(home, Config.messageOf(config.addBlacklist("/a")))
      Fs.chmodSync(home, 0o700)
      assert.match(message, /sandbox\.json: it can't be written: EACCES/)
      assert.deepStrictEqual([text(), Directory.list(home)], ["{}", ["sandbox.json"]])
    })
  )
})
