/** The files of the configuration as they lie on a disk: what is read of them, and what is refused. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as OwnFile from "../../../src/extension/mcp/OwnFile.js"
import * as ServerFile from "../../../src/extension/mcp/ServerFile.js"
import * as TrustFile from "../../../src/extension/mcp/TrustFile.js"
import * as Directory from "../../support/sandbox/Directory.js"

const reasonOf = Either.match({
  onLeft: (reason: string) => reason,
  onRight: (content: unknown) => (content === undefined ? "Missing" : "Content")
})

describe("a file whose content is to be believed", () => {
  it.scoped("is read once, with the hash of the same bytes", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      Fs.writeFileSync(`${directory}/f`, "abc")
      const found = OwnFile.read(`${directory}/f`, { most: 3, isAlone: true })
      assert.deepStrictEqual(OwnFile.textOf(found), Either.right("abc"))
      assert.strictEqual(Either.getOrThrow(found)?.sha256, OwnFile.hash("abc"))
      assert.strictEqual(reasonOf(OwnFile.read(`${directory}/none/f`, { most: 1 })), "Missing")
      assert.strictEqual(reasonOf(OwnFile.read(`${directory}/f/x`, { most: 1 })), "Missing")
    })
  )

  it.scoped("is no link, FIFO, device, directory, nor too large, and has one name", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      const at = (name: string) => `${directory}/${name}`
      Fs.writeFileSync(at("f"), "abcd")
      Fs.symlinkSync("f", at("link"))
      Fs.symlinkSync("loop", at("loop"))
      Fs.linkSync(at("f"), at("second"))
      ChildProcess.execFileSync("mkfifo", [at("fifo")])
      const read = (path: string, more = {}) => reasonOf(OwnFile.read(path, { most: 3, ...more }))
      assert.deepStrictEqual(
        [read(at("link")), read(at("fifo")), read("/dev/zero"), read(directory), read(at("f"))],
        [
          "it is a symbolic link, which is not followed here",
          "it is no regular file",
          "it is no regular file",
          "it is a directory",
          "it is larger than 3 bytes"
        ]
      )
      assert.match(read(at("loop"), { mayBeLink: true }), /symbolic link/)
      assert.match(read(at("second"), { most: 9, isAlone: true }), /second name/)
      assert.strictEqual(read(at("link"), { most: 9, mayBeLink: true }), "Content")
    })
  )

  it.scoped.skipIf(!Directory.isRoot)("belongs to the user or to root", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      Fs.writeFileSync(`${directory}/f`, "x")
      Fs.chownSync(`${directory}/f`, 12345, 12345)
      assert.strictEqual(reasonOf(OwnFile.read(`${directory}/f`, { most: 9 })), "it belongs to another user (12345)")
      assert.strictEqual(reasonOf(OwnFile.read(`${directory}/f`, { most: 9, mayBeForeign: true })), "Content")
    })
  )
})

const add = (home: string, path: string, content: string) =>
  Effect.provide(TrustFile.add(home, [{ path, sha256: OwnFile.hash(content) }]), NodeFileSystem.layer)

describe("the list of what is trusted", () => {
  it.scopedLive("keeps both of two changes at once, for the user alone", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      yield* Effect.all(
        [1, 2, 3, 4].map((n) => add(home, `/p/${n}`, `${n}`)),
        { concurrency: "unbounded" }
      )
      const file = TrustFile.pathIn(home)
      assert.deepStrictEqual(
        [...Either.getOrThrow(TrustFile.read(home))].sort(),
        [1, 2, 3, 4].map((n) => [`/p/${n}`, OwnFile.hash(`${n}`)] as [string, string])
      )
      assert.strictEqual(Fs.statSync(file).mode & 0o7777, 0o600)
      assert.strictEqual(Fs.statSync(`${home}/mcp`).mode & 0o077, 0)
      assert.deepStrictEqual(Directory.list(`${home}/mcp`), ["trust.json"])
    })
  )

  it.scopedLive("is never overwritten where it can't be read, nor where it is a link", () =>
    Effect.gen(function* () {
      const home = yield* Directory.make
      const file = TrustFile.pathIn(home)
      Fs.mkdirSync(`${home}/mcp`)
      for (const text of ["", "{", "[]", '{"trusted":{"/a":"short"}}', '{"trusted":{"/a":1}}', "\xff"]) {
        Fs.writeFileSync(file, text, "latin1")
        assert.isTrue(Either.isLeft(TrustFile.read(home)), text)
        assert.match((yield* Effect.flip(add(home, "/p", "x"))).message, /Nothing was written/)
        assert.strictEqual(Fs.readFileSync(file, "latin1"), text)
      }
      Fs.renameSync(file, `${home}/elsewhere`)
      Fs.symlinkSync(`${home}/elsewhere`, file)
      assert.match((yield* Effect.flip(add(home, "/p", "x"))).message, /symbolic link/)
      Fs.rmSync(`${home}/mcp`, { recursive: true })
      Fs.mkdirSync(`${home}/other`)
      Fs.symlinkSync(`${home}/other`, `${home}/mcp`)
      assert.match((yield* Effect.flip(add(home, "/p", "x"))).message, /symbolic link/)
      assert.deepStrictEqual(Directory.list(`${home}/other`), [])
    })
  )
})

describe("a change of a list of servers", () => {
  const edit = (effect: ReturnType<typeof ServerFile.remove>) => Effect.provide(effect, NodeFileSystem.layer)

  it.scopedLive("leaves everything else as it is written", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.make
      const target = { path: `${directory}/mcp/mcp_servers.json`, isHome: true }
      const value = { url: "https://e" }
      assert.isDefined(yield* edit(ServerFile.add(target, new Map([["a", value]]))))
      const text =
        '{\n\t"other":  1e400,\n\t"mcpServers": {\n\t\t"x": {"command": "c",   "args":[]},\n\t\t"y": {}\n\t}\n}\n'
      Fs.writeFileSync(target.path, text)
      yield* edit(ServerFile.add(target, new Map([["a", value]])))
      assert.match((yield* Effect.flip(edit(ServerFile.add(target, new Map([["a", value]]))))).message, /already/)
      yield* edit(ServerFile.add(target, new Map([["a", { url: "https://f" }]]), true))
      const changed = Fs.readFileSync(target.path, "utf8")
      assert.include(changed, '"other":  1e400')
      assert.include(changed, '{"command": "c",   "args":[]}')
      assert.deepStrictEqual(JSON.parse(changed).mcpServers.a, { url: "https://f" })
      assert.isDefined(yield* edit(ServerFile.remove(target, "a")))
      assert.isUndefined(yield* edit(ServerFile.remove(target, "a")))
      assert.deepStrictEqual(JSON.parse(Fs.readFileSync(target.path, "utf8")), JSON.parse(text))
    })
  )
})
