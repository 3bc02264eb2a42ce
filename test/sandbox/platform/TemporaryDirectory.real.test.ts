import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TemporaryDirectory from "../../../src/sandbox/platform/TemporaryDirectory.js"
import * as Directory from "../../support/sandbox/Directory.js"
import { rule } from "../../support/sandbox/Sandboxed.js"

const test = (title: string, use: (all: string, path: string) => void) =>
  it.scoped(title, () =>
    Effect.map(Directory.make, (home) => use(`${home}/own/tmp`, `${home}/own/tmp/0123456789abcdef`))
  )
const open = (path: string) => TemporaryDirectory.open(rule(path, "tmp"))
const modeOf = (path: string) => Fs.statSync(path).mode & 0o7777
const old = new Date(Date.now() - 8 * 24 * 3600 * 1000)

describe.skipIf(process.platform !== "linux")("the directory in the place of /tmp", () => {
  test("is everybody's, in one that only its user can enter", (all, path) => {
    const held = open(path)
    assert.deepStrictEqual([modeOf(all), modeOf(path)], [0o700, 0o1777])
    held.release()
    assert.deepStrictEqual(Fs.readdirSync(all).sort(), ["0123456789abcdef", "swept"])
  })

  test("is none where others may write around it, or something else is there", (all, path) => {
    Fs.mkdirSync(all, { recursive: true })
    Fs.chmodSync(`${all}/..`, 0o777)
    assert.isUndefined(TemporaryDirectory.find({ temporary: rule(path, "tmp") }))
    Fs.chmodSync(`${all}/..`, 0o700)
    Fs.symlinkSync("/etc", path)
    assert.isUndefined(TemporaryDirectory.find({ temporary: rule(path, "tmp") }))
  })

  test("is removed where nobody has used it for a week, or it is full, unless it is held", (all, path) => {
    const names = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc", "dddddddddddddddd"]
    const [unused = "", full = "", young = "", used = ""] = names.map((name) => `${all}/${name}`)
    const held = names.map((name) => open(`${all}/${name}`))
    for (const one of held.slice(0, 3)) one.release()
    Fs.writeFileSync(`${full}.full`, "")
    for (const one of [unused, used]) Fs.utimesSync(one, old, old)
    Fs.utimesSync(`${all}/swept`, old, old)
    open(path)
    assert.deepStrictEqual(
      [unused, full, young, used].map((one) => Fs.existsSync(one)),
      [false, false, true, true]
    )
  })

  test("is made anew where it is full", (_, path) => {
    const first = open(path)
    Fs.writeFileSync(`${path}/big`, "")
    Fs.writeFileSync(`${path}.full`, "")
    open(path).release()
    assert.isTrue(Fs.existsSync(`${path}/big`))
    first.release()
    open(path)
    assert.deepStrictEqual([Fs.readdirSync(path), Fs.existsSync(`${path}.full`)], [[], false])
  })

  test("has mount points that no link leads elsewhere", (all, path) => {
    const held = open(path)
    Fs.mkdirSync(`${all}/outside`)
    Fs.symlinkSync(`${all}/outside`, `${path}/a`)
    Fs.symlinkSync("/etc/passwd", `${path}/file`)
    assert.strictEqual(held.point("a/b", "directory"), `${path}/a/b`)
    held.point("file", "file")
    assert.deepStrictEqual(Fs.readdirSync(`${all}/outside`), [])
    assert.isTrue(Fs.lstatSync(`${path}/a/b`).isDirectory())
    assert.isTrue(Fs.lstatSync(`${path}/file`).isFile())
    held.release()
    assert.deepStrictEqual(Fs.readdirSync(path), ["a"])
    assert.deepStrictEqual(Fs.readdirSync(`${path}/a`), [])
  })

  test("removes no entry of a directory outside that a command has linked to", (all, path) => {
    const held = open(path)
    held.point("a/b", "directory")
    Fs.renameSync(`${path}/a`, `${path}/c`)
    Fs.mkdirSync(`${all}/outside/b`, { recursive: true })
    Fs.symlinkSync(`${all}/outside`, `${path}/a`)
    held.release()
    assert.isTrue(Fs.existsSync(`${all}/outside/b`))
  })

  test("keeps a mount point until the last session that has it lets go", (_, path) => {
    const [first, second] = [open(path), open(path)]
    Fs.writeFileSync(`${path}/own`, "")
    for (const held of [first, second]) for (const name of ["file", "own"]) held.point(name, "file")
    first.unpoint("file")
    first.release()
    assert.deepStrictEqual(Fs.readdirSync(path), ["file", "own"])
    second.release()
    assert.deepStrictEqual(Fs.readdirSync(path), ["own"])
  })

  test("loses what a killed session has left for a mount", (_, path) => {
    open(path).point("file", "file")
    // The name of an owner that has ended.
    const [name = ""] = Fs.readdirSync(`${path}.in-use`)
    const { pid = 0 } = ChildProcess.spawnSync("true")
    Fs.renameSync(`${path}.in-use/${name}`, `${path}.in-use/${name.replace(/-[^.]*/, `-${pid.toString(36)}`)}`)
    open(path)
    assert.deepStrictEqual(Fs.readdirSync(path), [])
  })
})
