import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { SandboxPolicy } from "../../src/sandbox/policy/SandboxPolicy.js"
import * as VisibleFiles from "../../src/sandbox/VisibleFiles.js"
import * as Directory from "../support/sandbox/Directory.js"

const everything = () => true

describe("the visible files of a shell", () => {
  it.scoped("are the files and programs that the policy lets commands read", () =>
    Effect.gen(function* () {
      const cwd = yield* Directory.make
      Fs.mkdirSync(`${cwd}/bin`)
      Fs.writeFileSync(`${cwd}/bin/run`, "")
      Fs.chmodSync(`${cwd}/bin/run`, 0o755)
      Fs.writeFileSync(`${cwd}/bin/notes`, "")
      Fs.writeFileSync(`${cwd}/secret`, "")
      const free = VisibleFiles.make(undefined, `bin:${cwd}/bin:${cwd}/none`)
      assert.deepStrictEqual([...free.entries(cwd, everything)].sort(), ["bin", "secret"])
      assert.deepStrictEqual(
        free.entries(cwd, (name) => name === "bin"),
        ["bin"]
      )
      assert.deepStrictEqual(free.entries(`${cwd}/secret`, everything), [])
      assert.deepStrictEqual(free.programs(everything), ["run"])
      assert.deepStrictEqual(
        ["bin", "bin/run", "bin/notes", "none", "secret/x"].map((name) => free.kindOf(`${cwd}/${name}`)),
        ["directory", "program", "file", undefined, undefined]
      )
      assert.isUndefined(free.kindOf("bin"))

      const policy: SandboxPolicy = {
        cwd,
        whitelist: [],
        blacklist: [{ pattern: `${cwd}/secret`, path: `${cwd}/secret`, kind: "path", source: "file" }],
        readonly: [],
        allowNetwork: false
      }
      const bounded = VisibleFiles.make(policy, "")
      assert.deepStrictEqual(bounded.entries(cwd, everything), ["bin"])
      assert.isUndefined(bounded.kindOf(`${cwd}/secret`))
    })
  )
})
