import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PolicyDecision from "../../../src/sandbox/policy/PolicyDecision.js"
import * as PrivateTemporary from "../../../src/sandbox/policy/PrivateTemporary.js"
import type { SandboxPolicy } from "../../../src/sandbox/policy/SandboxPolicy.js"
import * as Directory from "../../support/sandbox/Directory.js"
import { rule } from "../../support/sandbox/Sandboxed.js"

const own = "/home/ada/.synapse/tmp/1"
const policy = (temporary: string, ...whitelist: ReadonlyArray<string>): SandboxPolicy => ({
  cwd: "/project",
  whitelist: [...whitelist.map((path) => rule(path, "user")), rule(temporary, "tmp")],
  blacklist: [],
  readonly: [rule("/home/ada/.synapse", "own")],
  temporary: rule(own, "tmp"),
  allowNetwork: false
})

describe("a private /tmp", () => {
  it("is seen at /tmp and at TMPDIR, but in no place of work", () => {
    const { places, toInside, toOutside, whitelist } = PrivateTemporary.make(
      policy("/scratch", "/project", "/tmp/work")
    )
    assert.deepStrictEqual([...places].sort(), ["/scratch", "/tmp"])
    assert.deepStrictEqual(["/tmp/a", "/scratch/a/b", "/tmp/work/a", "/project/a", "/tmpx", own].map(toOutside), [
      `${own}/a`,
      `${own}/a/b`,
      "/tmp/work/a",
      "/project/a",
      "/tmpx",
      own
    ])
    assert.deepStrictEqual(["/tmp/../etc/a", "/tmp/a/..", "/tmp/a/../.."].map(toOutside), ["/etc/a", own, "/"])
    assert.deepStrictEqual([`${own}/a`, "/project"].map(toInside), ["/tmp/a", "/project"])
    assert.deepStrictEqual(
      whitelist.map(({ path }) => path),
      ["/project", "/tmp/work"]
    )
  })

  for (const [what, temporary, whitelist] of [
    ["/tmp is a place of work", "/tmp", ["/tmp"]],
    ["TMPDIR is the home", "/home/ada", ["/tmp"]]
  ] as const) {
    it(`is none where ${what}`, () => {
      assert.deepStrictEqual(PrivateTemporary.make(policy(temporary, ...whitelist)).places, [])
    })
  }

  it.scopedLive("hides what is outside, also where a place to mount it on is left from before", () =>
    Effect.gen(function* () {
      const [outside, inside] = [yield* Directory.make, yield* Directory.make]
      const { isHidden } = PrivateTemporary.make({ ...policy(outside), temporary: rule(inside, "tmp") })
      for (const name of ["machine", "place", "both", "inner"]) {
        if (name !== "inner") Fs.writeFileSync(`${outside}/${name}`, "")
        if (name === "place") Fs.writeFileSync(`${inside}/${name}`, "", { mode: 0 })
        if (name === "both" || name === "inner") Fs.writeFileSync(`${inside}/${name}`, "")
      }
      assert.deepStrictEqual(
        ["machine", "place", "both", "inner", "none"].map((name) => isHidden(`${outside}/${name}`)),
        [true, true, false, false, false]
      )
    })
  )

  it.scopedLive("has links that lead to where they do in the sandbox", () =>
    Effect.gen(function* () {
      const inside = yield* Directory.make
      Fs.mkdirSync(`${inside}/a`)
      Fs.symlinkSync("../etc/hostname", `${inside}/out`)
      Fs.symlinkSync("../../project/.env", `${inside}/a/hidden`)
      Fs.symlinkSync("/tmp/a/hidden", `${inside}/twice`)
      Fs.symlinkSync("b", `${inside}/near`)
      const blacklist = [rule("/project/.env", "file")]
      const { explain } = PolicyDecision.make({ ...policy("/tmp"), blacklist, temporary: rule(inside, "tmp") })
      assert.deepStrictEqual(
        ["out", "a/hidden", "twice", "a/../twice", "near"].map((name) => {
          const { allowed, real } = explain(`/tmp/${name}`, "/", "read")
          return [allowed, real]
        }),
        [[true, "/etc/hostname"], ...Array.from({ length: 3 }, () => [false, "/project/.env"]), [true, "/tmp/b"]]
      )
    })
  )

  it("may be written by its own path too, and the others beside it may not", () => {
    const { decide } = PolicyDecision.make(policy("/tmp"))
    const paths = ["/tmp/a", `${own}/a`, "/home/ada/.synapse/tmp/2/a"]
    assert.deepStrictEqual(
      paths.map((path) => decide(path, "write").allowed),
      [true, true, false]
    )
  })
})
