import * as Fs from "node:fs"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TrustFile from "../../../src/extension/mcp/TrustFile.js"
import * as Directory from "../../support/sandbox/Directory.js"

it.scoped("a trusted file is held until another takes its place, or it has a second name", () =>
  Effect.gen(function* () {
    const file = `${yield* Directory.make}/server.js`
    Fs.writeFileSync(file, "one")
    const held = TrustFile.make([file], () => false)
    assert.isUndefined(held(file))
    Fs.linkSync(file, `${file}.link`)
    assert.match(held(file)?.why ?? "", /second name/)
    Fs.rmSync(`${file}.link`)
    assert.isUndefined(held(file))
    Fs.writeFileSync(`${file}.next`, "one")
    Fs.renameSync(`${file}.next`, file)
    assert.isTrue(held(file)?.isLate)
  })
)
