import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Reserve } from "../../src/session/SessionDirectory.js"

const failing = (code: string) => Object.assign(new Error(code), { code })

describe("Reserve", () => {
  let directory = ""
  let path = ""
  beforeEach(() => {
    directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "reserve-"))
    path = Path.join(directory, "reserve")
  })
  afterEach(() => Fs.rmSync(directory, { recursive: true, force: true }))

  const size = () => Fs.statSync(path, { throwIfNoEntry: false })?.size

  it("keeps room once something was written", () => {
    const reserve = new Reserve(path)
    assert.strictEqual(size(), undefined)
    reserve.use(() => {})
    assert.strictEqual(size(), 65_536)
  })

  for (const code of ["ENOSPC", "EDQUOT"]) {
    it(`gives the room up for what fails with ${code}, once, and keeps it again afterwards`, () => {
      const reserve = new Reserve(path)
      reserve.use(() => {})
      const seen: Array<number | undefined> = []
      reserve.use(() => {
        seen.push(size())
        if (seen.length === 1) throw failing(code)
      })
      assert.deepStrictEqual(seen, [65_536, undefined])
      reserve.use(() => {})
      assert.strictEqual(size(), 65_536)
    })
  }

  it("throws what fails for another reason, and what fails without the room too", () => {
    const reserve = new Reserve(path)
    let tries = 0
    const write = (code: string) => () => {
      tries++
      throw failing(code)
    }
    assert.throws(() => reserve.use(write("ENOSPC")), "ENOSPC")
    assert.strictEqual(tries, 1)
    reserve.use(() => {})
    assert.throws(() => reserve.use(write("EIO")), "EIO")
    assert.strictEqual(tries, 2)
    assert.throws(() => reserve.use(write("ENOSPC")), "ENOSPC")
    assert.strictEqual(tries, 4)
  })

  it("does without where there is no room for it", () => {
    const reserve = new Reserve(Path.join(directory, "missing", "reserve"))
    reserve.use(() => {})
    assert.deepStrictEqual(Fs.readdirSync(directory), [])
  })
})
