/** A patch is applied as a whole or not at all, whatever happens while it is written. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type App, inApp, inApps } from "../../support/toolset/App.js"

const count = 30
const names = Array.from({ length: count }, (_, index) => `d${index % 3}/f${index}`)

const patch = (from: string, to: string, ...more: ReadonlyArray<string>) => [
  "*** Begin Patch",
  ...names.flatMap((name) => [`*** Update File: ${name}`, `-${from}`, `+${to}`]),
  ...more,
  "*** End Patch",
  ""
]

const fill = ({ cwd, put }: App) => {
  for (const directory of ["d0", "d1", "d2"]) Fs.mkdirSync(`${cwd}/${directory}`)
  for (const name of names) put(name, "1\n")
  put("up", patch("1", "2", "*** Add File: new/deep/n", "+n").join("\n"))
  put("down", patch("2", "1", "*** Delete File: new/deep/n").join("\n"))
}

/** All that lies below a directory, but for what a patch changes. */
const others = (cwd: string) =>
  Fs.readdirSync(cwd, { recursive: true, encoding: "utf8" })
    .filter((name) => !names.includes(name))
    .sort()

/** The state of all files: the one that they share, or what differs. */
const stateOf = ({ bytes, cwd }: App): string => {
  const states = new Set(names.map((name) => bytes(name).trim()))
  if (Fs.existsSync(`${cwd}/new/deep/n`) !== states.has("2")) states.add(`the added file against ${[...states]}`)
  return [...states].join()
}

describe("a patch that is stopped", () => {
  inApp("is applied to all of its files or to none, and leaves nothing behind", (app) =>
    Effect.gen(function* () {
      const { cwd, handle } = app
      fill(app)
      const seen = new Set<string>()
      let state = "1"
      for (let round = 0; round < 10; round++) {
        const command = { command: `edit --patch < ${state === "1" ? "up" : "down"}` }
        const running = yield* Effect.fork(handle(command, String(round)))
        yield* Effect.sleep(Math.random() * 250)
        if (round % 4 === 3) yield* handle({ command: "true", restart: true }, "restart")
        else yield* Fiber.interrupt(running)
        yield* Fiber.await(running)
        const now = stateOf(app)
        assert.include(["1", "2"], now)
        seen.add(now === state ? "none" : "all")
        state = now
        const made = state === "2" ? ["new", "new/deep", "new/deep/n"] : []
        const left = others(cwd).filter((name) => state === "2" || !name.startsWith("new"))
        assert.deepStrictEqual(left, ["d0", "d1", "d2", "down", ...made, "up"])
        if (state === "1") Fs.rmSync(`${cwd}/new`, { recursive: true, force: true })
      }
      assert.isTrue(seen.has("none"))
    })
  )
})

const isRoot = process.getuid?.() === 0

/** Whether a file can be made so that not even root replaces it: not every file system knows that. */
const canFreeze = (() => {
  const directory = Fs.mkdtempSync(Path.join(Os.tmpdir(), "freeze-"))
  try {
    const chattr = (flag: string) => ChildProcess.spawnSync("chattr", [flag, directory]).status === 0
    return chattr("+i") && chattr("-i")
  } finally {
    Fs.rmdirSync(directory)
  }
})()

/** Whether a file system of its own can be mounted, in a namespace of its own. */
const canMount = ChildProcess.spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", Os.tmpdir()]).status === 0

/** Lets a directory refuse new entries; undoes it at the end. */
const immutable = (path: string) =>
  Effect.acquireRelease(
    Effect.sync(() => ChildProcess.spawnSync("chattr", ["+i", path]).status === 0),
    () => Effect.sync(() => ChildProcess.spawnSync("chattr", ["-i", path]))
  )

describe("a patch that can't be written", () => {
  inApps("changes no file, and makes no directory, where one target is a directory's child that can't be made", (app) =>
    Effect.gen(function* () {
      const { cwd, put, run } = app
      fill(app)
      put("file", "")
      for (const last of ["file/x", "d1"]) {
        put("up", patch("1", "2", "*** Add File: new/deep/n", "+n", `*** Add File: ${last}`, "+x").join("\n"))
        const { exitCode, stderr } = yield* run("edit --patch < up")
        assert.strictEqual(exitCode, 1)
        assert.match(stderr ?? "", new RegExp(`^edit: ${last}: .*\nNo file was changed\\.\n$`))
        assert.strictEqual(stateOf(app), "1")
        assert.deepStrictEqual(others(cwd), ["d0", "d1", "d2", "down", "file", "up"])
      }
    })
  )
})

describe.skipIf(isRoot && !canFreeze)("a patch over a file that stays as it is", () => {
  inApp(
    "gives all files back what they had where one can't be replaced, or removed",
    (app) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { bytes, cwd, put, run } = app
          fill(app)
          Fs.mkdirSync(`${cwd}/z`)
          put("z/a", "1\n")
          Fs.linkSync(`${cwd}/d0/f0`, `${cwd}/other`)
          if (isRoot) assert.isTrue(yield* immutable(`${cwd}/z/a`), "chattr")
          else Fs.chmodSync(`${cwd}/z`, 0o555)
          for (const last of ["*** Delete File: z/a", "*** Update File: z/a\n-1\n+2\n*** Delete File: z/a"]) {
            put("up", patch("1", "2", "*** Add File: new/deep/n", "+n", last).join("\n"))
            const { exitCode, stderr } = yield* run("edit --patch < up")
            assert.deepStrictEqual([exitCode, stderr?.split("\n")[1]], [1, "No file was changed."], stderr)
            assert.deepStrictEqual([stateOf(app), bytes("z/a"), bytes("other")], ["1", "1\n", "1\n"])
            assert.deepStrictEqual(others(cwd), ["d0", "d1", "d2", "down", "other", "up", "z", "z/a"])
          }
          if (!isRoot) Fs.chmodSync(`${cwd}/z`, 0o755)
        })
      ),
    process.platform === "linux"
  )
})

describe.skipIf(!canMount)("a patch on a full disk", () => {
  inApp(
    "changes no file",
    (app) =>
      Effect.gen(function* () {
        const { cwd, put, run } = app
        const script = `mount -t tmpfs -o size=64k none small && cd small && echo 1 >a && echo 1 >b && edit --patch <../big
          echo $?; cat a b; ls -A; cd ..; umount small`
        Fs.mkdirSync(`${cwd}/small`)
        const line = `+${"x".repeat(100_000)}`
        const all = ["*** Update File: a", "-1", "+2", "*** Add File: n/b", line, "*** Update File: b", "-1", "+2"]
        put("big", ["*** Begin Patch", ...all, "*** End Patch", ""].join("\n"))
        const { stderr, stdout } = yield* run(`unshare -m bash -c '${script}'`)
        assert.deepStrictEqual(
          [stdout, stderr],
          ["1\n1\n1\na\nb\n", "edit: n/b: No space left on device\nNo file was changed.\n"]
        )
      }),
    false
  )
})
