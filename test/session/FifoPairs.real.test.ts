import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { FifoPairs } from "../../src/session/Fifo.js"
import * as Temporary from "../support/Temporary.js"

describe("the pairs of FIFOs", () => {
  it("are made one first and then a few at a time, with the others that are named, and each is taken once", () =>
    Temporary.using(async (directory) => {
      const pairs = new FifoPairs(directory)
      assert.deepStrictEqual([pairs.isEmpty, pairs.take()], [true, undefined])
      await pairs.add([`${directory}/state`])
      await pairs.add()
      const taken = Array.from({ length: 5 }, () => pairs.take())
      assert.deepStrictEqual([pairs.isEmpty, pairs.take()], [true, undefined])
      const paths = [`${directory}/state`, ...taken.flatMap((pair) => [pair?.stdout ?? "", pair?.stderr ?? ""])]
      assert.deepStrictEqual(
        Fs.readdirSync(directory)
          .map((name) => `${directory}/${name}`)
          .sort(),
        [...paths].sort()
      )
      for (const path of paths) {
        const at = Fs.lstatSync(path)
        assert.deepStrictEqual([at.isFIFO(), at.mode & 0o777], [true, 0o600])
      }
    }))

  it("reject with mkfifo's own words", () =>
    Temporary.using(async (directory) => {
      const added = new FifoPairs(`${directory}/missing`).add()
      const message = await added.then(
        () => "made",
        (error) => (error as Error).message
      )
      assert.match(message, /^mkfifo failed: .*missing\/0o/)
    }))
})
