import { assert, describe, it } from "@effect/vitest"
import * as Launch from "../../../../../src/sandbox/platform/linux/start/Launch.js"

const find = (instances: number, watches: number) =>
  Launch.find((name) => (name === "max_inotify_instances" ? instances : watches))

describe("the limits of inotify", () => {
  it("leave a part of what the user has to other programs", () => {
    assert.deepStrictEqual(find(128, 8192), [64, 6144])
    assert.deepStrictEqual(find(8192, 1_048_576), [64, 786_432])
    assert.deepStrictEqual(find(40, 8192), [20, 6144])
  })

  it("are none where the kernel has none, or the user has nothing to share", () => {
    assert.isUndefined(find(Number.NaN, Number.NaN))
    assert.isUndefined(find(1, 8192))
    assert.isUndefined(find(0, 0))
  })
})
