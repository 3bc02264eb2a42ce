import { assert, describe, it } from "@effect/vitest"
import * as HostPath from "../../../src/sandbox/policy/HostPath.js"

describe("HostPath", () => {
  it("tells what lies in what by whole names", () => {
    assert.isTrue(HostPath.isWithin("/a/b", "/a"))
    assert.isTrue(HostPath.isWithin("/a", "/a"))
    assert.isTrue(HostPath.isWithin("/a", "/"))
    assert.isFalse(HostPath.isWithin("/ab", "/a"))
  })
})
