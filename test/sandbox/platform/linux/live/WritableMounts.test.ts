import { assert, describe, it } from "@effect/vitest"
import * as LiveNamespace from "../../../../../src/sandbox/platform/linux/live/LiveNamespace.js"
import * as MountTable from "../../../../../src/sandbox/platform/linux/plan/MountTable.js"

const table = (...lines: ReadonlyArray<string>) =>
  MountTable.parse(lines.map((line, at) => `${at} 1 ${line},relatime - ext4 x rw\n`).join(""))

const outside = table("8:1 / / rw", "8:2 /@data /srv rw", "0:5 / /dev rw")
const roots = ["/home/ada/app", "/srv/data"]
const app = "8:1 /home/ada/app /home/ada/app rw"
const data = "8:2 /@data/data /srv/data rw"
const base = ["8:1 / / ro", "8:2 /@data /srv ro", "0:9 / /dev rw"]

const stray = (inside: ReadonlyArray<string>, isReadOnly = false) =>
  LiveNamespace.strayWritableMounts({ isReadOnly, roots }, ["/tmp/plan"], outside, table(...inside))

describe("what a sandbox may write", () => {
  it("is what it was to write, with what is mounted within, and what is its own", () => {
    assert.isUndefined(stray([...base, app, data]))
    assert.isUndefined(stray([...base, app, "8:1 /home/ada/app/x /home/ada/app/x rw", app, data]))
    assert.isUndefined(stray([...base, app, data, "8:1 /tmp/plan/p /tmp/plan/p rw", "0:7 / /home/ada/app/.env ro"]))
  })

  it("is something else where a link led there, or another directory took its place", () => {
    assert.strictEqual(stray([...base, data, "8:1 /home/ada/other /home/ada/other rw"]), "/home/ada/app")
    assert.strictEqual(stray([...base, data, "8:1 /home/ada/other /home/ada/app rw"]), "/home/ada/app")
    assert.strictEqual(stray([...base, data, "8:2 /home/ada/app /home/ada/app rw"]), "/home/ada/app")
    assert.strictEqual(stray([...base, data, "8:1 /home/ada/app//deleted /home/ada/app rw"]), "/home/ada/app")
    assert.strictEqual(stray([...base, app]), "/srv/data")
  })

  it("is more than it was to write where a link led elsewhere for a while", () => {
    assert.strictEqual(stray([...base, "8:1 /home/ada/other /home/ada/other rw", app, data]), "/home/ada/other")
    assert.strictEqual(stray(["8:1 / / rw", base[1] ?? "", app, data]), "/")
    assert.strictEqual(stray([...base, app, data], true), "/home/ada/app")
  })
})
