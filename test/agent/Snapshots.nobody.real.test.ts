import * as fs from "node:fs"
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Snapshots from "../../src/agent/Snapshots.js"
import * as Ground from "../support/escape/Ground.js"
import * as Temporary from "../support/Temporary.js"

const ground = Ground.take("nobody")

it.skipIf(ground === undefined)("a snapshot leaves out and names a file that can't be read, and keeps the others", () =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "project")
    const place = { home: path.join(directory, "home"), cwd }
    const file = (name: string) => path.join(cwd, name)
    fs.mkdirSync(cwd)
    for (const name of ["a", "b", "c"]) fs.writeFileSync(file(name), name)
    fs.chmodSync(file("a"), 0)
    const { end } = await Effect.runPromise(Snapshots.begin(place, "session", () => false))
    fs.chmodSync(file("a"), 0o600)
    fs.chmodSync(file("b"), 0)
    fs.writeFileSync(file("c"), "evil")
    await Effect.runPromise(end)
    const { turn, undo } = await Effect.runPromise(Snapshots.last(place))
    assert.deepStrictEqual(turn.unread, ["a", "b"])
    assert.deepStrictEqual(await Effect.runPromise(undo), [{ path: "c", state: "restored" }])
    assert.isTrue(fs.existsSync(file("a")) && fs.existsSync(file("b")))
  })
)
