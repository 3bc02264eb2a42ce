import * as ChildProcess from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as LiveNamespace from "../../../../../src/sandbox/platform/linux/live/LiveNamespace.js"
import type * as MountTable from "../../../../../src/sandbox/platform/linux/plan/MountTable.js"
import * as HostPath from "../../../../../src/sandbox/policy/HostPath.js"
import * as Temporary from "../../../../support/Temporary.js"

const mask = (point: string): MountTable.Mount => ({ device: "0:1", root: "/mask", point, isWritable: false })
const bind = (root: string, point: string): MountTable.Mount => ({ device: "8:1", root, point, isWritable: true })

/** Changes one table of mounts into another at a path, in a sandbox of one process; tells whether it went well, and lives. */
const change = (
  path: string,
  before: ReadonlyArray<MountTable.Mount>,
  after: ReadonlyArray<MountTable.Mount>,
  identity = HostPath.identityOf(path)
) =>
  Effect.gen(function* () {
    const child = ChildProcess.spawn("sleep", ["60"])
    const ended = new Promise<boolean>((resolve) => child.once("exit", () => resolve(true)))
    let now = before
    const options = {
      ...{ inner: child.pid ?? 0, what: "x", path, identity, stage: "/stage" },
      mounts: () => now,
      isMask: ({ root }: MountTable.Mount) => root === "/mask",
      source: { device: "8:1", root: path }
    }
    const changing = Effect.sync(() => {
      now = after
    })
    const result = yield* Effect.either(LiveNamespace.run(changing, options))
    const isAlive = child.signalCode === null && !(yield* Effect.promise(() => Promise.race([ended, pause()])))
    child.kill("SIGKILL")
    return [Either.isRight(result), isAlive]
  })

const pause = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 100))

describe.skipIf(process.platform !== "linux")("a change of mounts at a path", () => {
  it("is taken where it is what was meant, and ends the sandbox where it is not", () =>
    Temporary.using(async (path) => {
      const others = [mask("/other"), bind("/p", "/p")]
      const run = (...given: Parameters<typeof change>) => Effect.runPromise(change(...given))
      const good = [true, true]
      const bad = [false, false]
      assert.deepStrictEqual(await run(path, [...others, mask(path)], others), good)
      assert.deepStrictEqual(await run(path, others, [...others, bind(path, path), mask(`${path}/.env`)]), good)
      assert.deepStrictEqual(await run(path, others, [...others, bind("/any", "/stage")]), good)
      assert.deepStrictEqual(await run(path, [...others, mask(path), mask("/stage")], others), good)
      assert.deepStrictEqual(await run(path, [...others, mask(path)], [bind("/p", "/p"), mask(path)]), bad)
      assert.deepStrictEqual(await run(path, others, [...others, bind("/victim", "/victim")]), bad)
      assert.deepStrictEqual(await run(path, others, [...others, bind("/victim", path)]), bad)
    }))

  it("does nothing where a link leads to it, or something else is there", () =>
    Temporary.using(async (directory) => {
      const [file, link] = [`${directory}/file`, `${directory}/link`]
      fs.writeFileSync(file, "")
      fs.symlinkSync(file, link)
      const run = (...given: Parameters<typeof change>) => Effect.runPromise(change(...given))
      assert.deepStrictEqual(await run(link, [mask("/other")], []), [false, true])
      assert.deepStrictEqual(await run(file, [mask("/other")], [], "1:1"), [false, true])
    }))
})
