import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { quote } from "../../src/bash/Quote.js"

describe("quote", () => {
  it("is read by a real bash as exactly that text", () => {
    const texts = FastCheck.sample(
      FastCheck.string({ unit: "binary" }).map((text) => text.replaceAll("\0", "")),
      { numRuns: 500, seed: 7 }
    ).concat(["", "'", "''", "\\", "\n", '!$`"', "$(exit)", "-n", " a\tb ", "*?[x]", "~", "ü😀"])
    const script = texts.map((text) => `printf '%s\\0' ${quote(text)}`).join("\n")
    const { stdout } = ChildProcess.spawnSync("/bin/bash", { input: script, encoding: "utf8" })
    assert.deepStrictEqual(
      stdout.split("\0").slice(0, -1),
      texts.map((text) => Buffer.from(text).toString())
    )
  })
})
