import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as History from "../../src/terminal/History.js"
import * as Temporary from "../support/Temporary.js"

/** Starts a shell's history, adds commands, and returns what it has then. */
const shell = (path: string, ...commands: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const history = yield* History.History
    for (const command of commands) yield* history.add(command)
    return { entries: [...history.entries()] }
  }).pipe(Effect.provide(History.layer(path)), Effect.runPromise)

describe("History", () => {
  it("keeps commands from shell to shell, several lines as one, for nobody else to read", () =>
    Temporary.using(async (directory) => {
      const path = Path.join(directory, "new", "history")
      await shell(path, "ls", "ls", " secret", "", "for x in a\\nb; do\n\techo $x\ndone", "ls")
      const { entries } = await shell(path)
      assert.deepStrictEqual(entries, ["ls", "for x in a\\nb; do\n\techo $x\ndone", "ls"])
      assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
      Fs.chmodSync(path, 0o644)
      await shell(path)
      assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
    }))

  it("keeps every text as it is, or not at all", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.fullUnicodeString(), (text) => {
        const line = History.toLine(text)
        if (line === undefined || text.trim() === "") return
        assert.strictEqual(line.indexOf("\n"), line.length - 1)
        assert.deepStrictEqual(History.fromText(line), [text])
      })
    )
  })

  it("keeps what several shells add at a time", () =>
    Temporary.using(async (directory) => {
      const path = Path.join(directory, "history")
      const commands = (name: string) => Array.from({ length: 50 }, (_, at) => `${name} ${at}`)
      const names = ["a", "b", "c", "d"]
      await Promise.all(names.map((name) => shell(path, ...commands(name))))
      const { entries } = await shell(path)
      assert.deepStrictEqual(entries.toSorted(), names.flatMap(commands).toSorted())
    }))

  it("goes on without a file that it can't use", () =>
    Temporary.using(async (directory) => {
      Fs.writeFileSync(Path.join(directory, "target"), "mine\n")
      Fs.symlinkSync("target", Path.join(directory, "link"))
      for (const path of ["link", "."]) {
        const { entries } = await shell(Path.join(directory, path), "ls", "pwd")
        assert.deepStrictEqual(entries, ["ls", "pwd"])
      }
      assert.strictEqual(Fs.readFileSync(Path.join(directory, "target"), "utf8"), "mine\n")
    }))

  it("leaves out lines that nobody has typed", () =>
    Temporary.using(async (directory) => {
      const path = Path.join(directory, "history")
      Fs.writeFileSync(path, Buffer.from("ls\n\x1b[31mred\n\0\x01\xff\npwd\n\nhalf", "latin1"))
      assert.deepStrictEqual((await shell(path)).entries, ["ls", "pwd", "half"])
    }))

  it("shortens a file that has grown too long, and keeps the last commands", () =>
    Temporary.using(async (directory) => {
      const path = Path.join(directory, "history")
      const lines = Array.from({ length: 60_000 }, (_, at) => `command number ${at}\n`)
      Fs.writeFileSync(path, lines.join(""))
      const { entries } = await shell(path)
      assert.strictEqual(entries.length, History.mostEntries)
      assert.strictEqual(entries.at(-1), "command number 59999")
      assert.isBelow(Fs.statSync(path).size, 600_000)
      const again = await shell(path, "ls")
      assert.deepStrictEqual(again.entries.slice(-2), ["command number 59999", "ls"])
      assert.deepStrictEqual(Fs.readdirSync(directory), ["history"])
      assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
    }))

  it("adds to a line that a crash has left half, as another line", () =>
    Temporary.using(async (directory) => {
      const path = Path.join(directory, "history")
      Fs.writeFileSync(path, "ls\nhal")
      await shell(path, "pwd")
      assert.deepStrictEqual((await shell(path)).entries, ["ls", "hal", "pwd"])
    }))
})
