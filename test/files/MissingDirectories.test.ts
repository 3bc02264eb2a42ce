import * as fs from "node:fs"
import * as path from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as MissingDirectories from "../../src/files/MissingDirectories.js"
import * as Temporary from "../support/Temporary.js"

const bySystem = async (at: string): Promise<void> => MissingDirectories.make(at)

const byService = (at: string): Promise<void> =>
  Effect.runPromise(
    Effect.flatMap(FileSystem.FileSystem, (files) => MissingDirectories.makeBy(files, at)).pipe(
      Effect.provide(NodeFileSystem.layer)
    )
  )

const ways = { "by the system": bySystem, "by the service": byService }

describe.each(Object.entries(ways))("MissingDirectories, %s", (_, make) => {
  it("creates what is missing for this user alone, and leaves what is there", () =>
    Temporary.using(async (directory) => {
      fs.chmodSync(directory, 0o755)
      const deep = path.join(directory, "a", "b", "c")
      await Promise.all([make(deep), make(deep)])
      const modeOf = (each: string) => fs.statSync(each).mode & 0o777
      assert.deepStrictEqual([directory, path.dirname(deep), deep].map(modeOf), [0o755, 0o700, 0o700])
    }))

  it("fails below a file, and below /proc, where node's own function never returns", () =>
    Temporary.using(async (directory) => {
      const file = path.join(directory, "file")
      fs.writeFileSync(file, "")
      const places = [path.join(file, "a", "b"), "/proc/self/.synapse/run", "/proc/1/x", "/proc/synapse"]
      const tell = (place: string) =>
        make(place).then(
          () => "made",
          () => "failed"
        )
      assert.deepStrictEqual(await Promise.all(places.map(tell)), ["failed", "failed", "failed", "failed"])
    }))
})
