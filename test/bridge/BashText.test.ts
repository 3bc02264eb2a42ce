import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"

const src = Path.resolve(import.meta.dirname, "../../src")
const files = Fs.readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".bash"))

describe("the bash of the bridge and of the supervisor", () => {
  it.skipIf(ChildProcess.spawnSync("shellcheck", ["--version"]).error !== undefined)("satisfies shellcheck", () => {
    assert.isAbove(files.length, 5)
    // Each is a part of one text: what one sets, calls or sources is another's.
    const parts = ["--exclude", "SC1091,SC2034,SC2154,SC2168,SC2317"]
    const { status, stdout } = ChildProcess.spawnSync("shellcheck", [...parts, ...files], {
      cwd: src,
      encoding: "utf8"
    })
    assert.deepStrictEqual([stdout, status], ["", 0])
  })
})
