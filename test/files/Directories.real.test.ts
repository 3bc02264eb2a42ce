import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Directories from "../../src/files/Directories.js"
import * as Directory from "../support/sandbox/Directory.js"

const codeOf = (run: () => void): string | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

const sources = (directory: string): ReadonlyArray<string> =>
  Fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = Path.join(directory, entry.name)
    return entry.isDirectory() ? sources(path) : path.endsWith(".ts") ? [path] : []
  })

describe("Directories", () => {
  it.scoped("makes a directory and those around it, for their user alone, and takes what is there", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Directories.make(`${root}/a/b/c`)
      Directories.make(`${root}/a/b/c`)
      assert.deepStrictEqual(
        ["a", "a/b", "a/b/c"].map((name) => Fs.statSync(`${root}/${name}`).mode & 0o7777),
        [0o700, 0o700, 0o700]
      )
      yield* Directories.makeEffect(`${root}/d/e`)
      assert.isTrue(Fs.existsSync(`${root}/d/e`))
    })
  )

  it.scoped("makes names that are no text", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      const bytes = (path: string) => Buffer.from(path.replaceAll("?", "\xff"), "latin1")
      Directories.make(`${root}/n?/m`, bytes)
      assert.deepStrictEqual(Fs.readdirSync(root, "buffer"), [Buffer.from([110, 255])])
    })
  )

  it.scoped("fails, and ends, wherever a link leads", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      Fs.symlinkSync("nowhere", `${root}/dangling`)
      Fs.symlinkSync("loop", `${root}/loop`)
      Fs.symlinkSync("/proc/self", `${root}/proc`)
      Fs.writeFileSync(`${root}/file`, "")
      assert.deepStrictEqual(
        ["dangling/a/b", "loop/a/b", "file/a/b"].map((path) => codeOf(() => Directories.make(`${root}/${path}`))),
        ["ENOENT", "ELOOP", "ENOTDIR"]
      )
      if (process.platform !== "linux") return
      assert.strictEqual(
        codeOf(() => Directories.make(`${root}/proc/a/b`)),
        "ENOENT"
      )
      // A directory that was removed, and that a process still stands in.
      Fs.mkdirSync(`${root}/gone`)
      const child = ChildProcess.spawn("/bin/sh", ["-c", "read -r _"], { cwd: `${root}/gone`, stdio: "pipe" })
      Fs.symlinkSync(`/proc/${child.pid}/cwd`, `${root}/removed`)
      Fs.rmdirSync(`${root}/gone`)
      assert.strictEqual(
        codeOf(() => Directories.make(`${root}/removed/a`)),
        "ENOENT"
      )
      const failure = yield* Effect.flip(Directories.makeEffect(`${root}/removed/a`))
      assert.strictEqual(failure.reason, "NotFound")
      yield* Effect.promise(() => new Promise((resolve) => child.once("close", resolve).stdin.end()))
    })
  )

  it.scoped("can be made with the one around it alone", () =>
    Effect.gen(function* () {
      const root = yield* Directory.make
      assert.strictEqual(
        codeOf(() => Directories.makeBoth(`${root}/a/b/c`)),
        "ENOENT"
      )
      for (let times = 0; times < 2; times++) Directories.makeBoth(`${root}/a/b`)
      const modes = ["a", "a/b"].map((path) => Fs.statSync(`${root}/${path}`).mode & 0o777)
      assert.deepStrictEqual([modes, Fs.readdirSync(`${root}/a`)], [[0o700, 0o700], ["b"]])
    })
  )

  it("is what all of the app makes them with: node's own recursion may never end", () => {
    const users = sources("src").filter((path) =>
      /(?:mkdir\w*|makeDirectory)\([^;{]*\{[^}]*recursive: true/.test(Fs.readFileSync(path, "utf8"))
    )
    assert.deepStrictEqual(users, [])
  })
})
