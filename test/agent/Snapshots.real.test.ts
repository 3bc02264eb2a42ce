import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Snapshots from "../../src/agent/Snapshots.js"
import * as Temporary from "../support/Temporary.js"

const run = Effect.runPromise

/** The files of a directory, links as `-> target`; without what git and the tests keep. */
const filesIn = (directory: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fs
      .readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !entry.parentPath.includes("/.git"))
      .map((entry) => {
        const file = path.join(entry.parentPath, entry.name)
        return [
          path.relative(directory, file),
          entry.isSymbolicLink() ? `-> ${fs.readlinkSync(file)}` : fs.readFileSync(file, "utf8")
        ] as const
      })
      .sort(([a], [b]) => (a < b ? -1 : 1))
  )

interface World {
  readonly cwd: string
  readonly write: (name: string, text: string) => void
  /** A turn that makes these changes. */
  readonly turn: (change: () => void, isHidden?: (path: string) => boolean) => Promise<void>
  readonly last: () => Promise<Snapshots.Last>
  readonly undo: () => Promise<ReadonlyArray<Snapshots.Outcome>>
}

const using = (use: (world: World) => Promise<void>) =>
  Temporary.using(async (directory) => {
    const cwd = path.join(directory, "project")
    fs.mkdirSync(cwd)
    const place = { home: path.join(directory, "home"), cwd }
    let turns = 0
    const last = () => run(Snapshots.last(place))
    await use({
      cwd,
      write: (name, text) => {
        fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true })
        fs.writeFileSync(path.join(cwd, name), text)
      },
      turn: async (change, isHidden = () => false) => {
        const { end } = await run(Snapshots.begin(place, `session${++turns}`, isHidden))
        change()
        await run(end)
      },
      last,
      undo: async () => run((await last()).undo)
    })
  })

const reason = (last: Promise<unknown>): Promise<string> =>
  last.then(
    () => "",
    (error) => String(error.message)
  )

describe("snapshots", () => {
  it("take back files that a turn wrote, removed and replaced, turn by turn", () =>
    using(async ({ cwd, last, turn, undo, write }) => {
      write("a.txt", "one\r\ntwo\n")
      write("deep/er/b.txt", "b")
      fs.chmodSync(path.join(cwd, "deep/er/b.txt"), 0o600)
      write("name \n\u00e9", "odd")
      write("file", "file")
      write("run.sh", "#!/bin/sh\n")
      fs.chmodSync(path.join(cwd, "run.sh"), 0o755)
      fs.symlinkSync("a.txt", path.join(cwd, "link"))
      // Attributes of the project change no content.
      write(".gitattributes", "* text=auto eol=lf ident filter=evil working-tree-encoding=UTF-16\n")
      const before = filesIn(cwd)
      await turn(() => {
        write("a.txt", "three\n")
        fs.chmodSync(path.join(cwd, "run.sh"), 0o644)
        fs.rmSync(path.join(cwd, "deep"), { recursive: true })
        for (const name of ["file", "link", "name \n\u00e9"]) fs.rmSync(path.join(cwd, name))
        write("file/now/a/directory", "x")
        fs.symlinkSync("/etc", path.join(cwd, "link"))
      })
      const between = filesIn(cwd)
      await turn(() => write("new.txt", "n"))
      // A turn that changes nothing is not one to take back.
      await turn(() => {})
      assert.include(await run((await last()).diff), "+++ b/new.txt")
      assert.deepStrictEqual(await undo(), [{ path: "new.txt", state: "removed" }])
      assert.deepStrictEqual(filesIn(cwd), between)
      const outcomes = await undo()
      assert.deepStrictEqual(
        outcomes.find(({ state }) => state !== "restored" && state !== "removed"),
        undefined
      )
      assert.deepStrictEqual(filesIn(cwd), before)
      assert.strictEqual(fs.statSync(path.join(cwd, "run.sh")).mode & 0o111, 0o111)
      assert.strictEqual(fs.statSync(path.join(cwd, "deep/er/b.txt")).mode & 0o777, 0o600)
      assert.strictEqual(await reason(last()), "No turn here has changed anything that could be taken back.")
    }))

  it("leave what somebody has changed since, and what a link leads elsewhere", () =>
    using(async ({ cwd, turn, undo, write }) => {
      for (const name of ["mine.txt", "its.txt", "d/x.txt"]) write(name, "before")
      const outside = path.join(path.dirname(cwd), "outside")
      fs.mkdirSync(outside)
      fs.writeFileSync(path.join(outside, "x.txt"), "after")
      await turn(() => {
        for (const name of ["mine.txt", "its.txt", "d/x.txt", "new.txt"]) write(name, "after")
      })
      write("mine.txt", "mine")
      write("new.txt", "mine too")
      fs.renameSync(path.join(cwd, "d"), path.join(cwd, "e"))
      fs.symlinkSync(outside, path.join(cwd, "d"))
      const expected: ReadonlyArray<Snapshots.Outcome> = [
        { path: "new.txt", state: "changed since" },
        { path: "d/x.txt", state: "changed since" },
        { path: "its.txt", state: "restored" },
        { path: "mine.txt", state: "changed since" }
      ]
      assert.deepStrictEqual(await undo(), expected)
      assert.strictEqual(fs.readFileSync(path.join(outside, "x.txt"), "utf8"), "after")
      assert.deepStrictEqual(
        ["mine.txt", "its.txt", "new.txt"].map((name) => fs.readFileSync(path.join(cwd, name), "utf8")),
        ["mine", "before", "mine too"]
      )
      // It can be tried again, and says the same.
      assert.deepStrictEqual(await undo(), expected)
    }))

  it("run nothing that the repository names, and leave its index and its objects alone", () =>
    using(async ({ cwd, turn, undo, write }) => {
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" })
      git("init", "--quiet")
      write(".gitignore", "ignored\n")
      write("a.txt", "a")
      git("add", "-A")
      git("commit", "--quiet", "-m", "one")
      const evil = `touch ${cwd}/../evil; cat`
      for (const [key, value] of [
        ["core.fsmonitor", `${evil} #`],
        ["filter.evil.clean", evil],
        ["filter.evil.smudge", evil],
        ["diff.evil.textconv", evil],
        ["diff.external", evil]
      ] as const)
        git("config", key, value)
      fs.rmSync(path.join(cwd, "../evil"), { force: true })
      fs.writeFileSync(path.join(cwd, ".gitattributes"), "* filter=evil diff=evil\n")
      fs.cpSync(path.join(cwd, ".git"), path.join(cwd, "within/.git"), { recursive: true })
      const index = fs.readFileSync(path.join(cwd, ".git/index"))
      await turn(() => {
        write("a.txt", "b")
        write("ignored", "i")
        write("within/c.txt", "c")
      })
      assert.deepStrictEqual(await undo(), [{ path: "a.txt", state: "restored" }])
      assert.isFalse(fs.existsSync(path.join(cwd, "../evil")))
      assert.deepStrictEqual(fs.readFileSync(path.join(cwd, ".git/index")), index)
      assert.isTrue(fs.existsSync(path.join(cwd, "ignored")) && fs.existsSync(path.join(cwd, "within/c.txt")))
    }))

  it("cover the working directory alone, without hidden and large files, and say so", () =>
    using(async ({ cwd, last, turn, write }) => {
      fs.mkdirSync(path.join(cwd, ".git"))
      write(".env", "SECRET=1")
      write("large", "x".repeat(11 * 1024 ** 2))
      await turn(
        () => {
          write("a.txt", "a")
          write("large", "y".repeat(11 * 1024 ** 2))
          write(".env", "SECRET=2")
        },
        (file) => file.endsWith(".env")
      )
      const { changes, turn: kept } = await last()
      assert.deepStrictEqual([changes.map(({ path }) => path), kept.large], [["a.txt"], 1])
      const found = spawnSync("grep", ["-r", "SECRET", path.join(cwd, "../home")])
      assert.strictEqual(found.status, 1)
    }))

  it("look at known files whatever a turn ignores, and take nothing for new that was ignored", () =>
    using(async ({ cwd, turn, undo, write }) => {
      write("src/a.js", "a")
      write("b/b.js", "b")
      write("c/c.js", "c")
      write("built/x.js", "x")
      write(".env", "SECRET")
      write("large", "x".repeat(11 * 1024 ** 2))
      execFileSync("git", ["init", "--quiet", "within"], { cwd })
      write("within/d.js", "d")
      write(".gitignore", "built/\n.env\n")
      const outside = path.join(cwd, "../outside")
      fs.mkdirSync(outside)
      fs.writeFileSync(path.join(outside, "c.js"), "c")
      await turn(() => write("base.txt", "base"))
      const before = filesIn(cwd)
      await turn(() => {
        write("src/a.js", "evil")
        write("b/b.js", "evil")
        write(".gitignore", "*\n")
        execFileSync("git", ["init", "--quiet", "b"], { cwd })
      })
      const names = async () => (await undo()).map(({ path, state }) => `${state} ${path}`).sort()
      assert.deepStrictEqual(
        await names(),
        [".gitignore", "b/b.js", "src/a.js"].map((name) => `restored ${name}`)
      )
      assert.deepStrictEqual(filesIn(cwd), before)
      fs.rmSync(path.join(cwd, "base.txt"))
      await turn(() => {
        fs.rmSync(path.join(cwd, ".gitignore"))
        fs.rmSync(path.join(cwd, "within/.git"), { recursive: true })
        fs.rmSync(path.join(cwd, "c"), { recursive: true })
        fs.symlinkSync(outside, path.join(cwd, "c"))
        write("large", "")
        write("base.txt", "again")
        write("new", "n")
      })
      assert.deepStrictEqual(await names(), [
        "removed base.txt",
        "removed c",
        "removed new",
        "restored .gitignore",
        "restored c/c.js"
      ])
      const { "base.txt": _, ...rest } = before
      assert.deepStrictEqual(filesIn(cwd), { ...rest, large: "" })
    }))

  it("cover what a turn does where git is not installed, but no repositories within", () =>
    using(async ({ cwd, last, undo, write }) => {
      const place = { home: path.join(cwd, "../home"), cwd }
      write(".gitignore", "ignored\n")
      write("ignored", "i")
      write("d/a.js", "a\n")
      write("within/.git", "gitdir: elsewhere")
      write("within/b.js", "b")
      fs.symlinkSync("..", path.join(cwd, "d/up"))
      const { end } = await run(Snapshots.begin(place, "session", () => false, ""))
      write("ignored", "")
      write("d/a.js", "evil\n")
      write("within/b.js", "evil")
      write("new/n", "n\n")
      fs.rmSync(path.join(cwd, "within/.git"))
      await run(end)
      const parts = ["diff --git a/d/a.js b/d/a.js", "--- a/d/a.js", "+++ b/d/a.js", "@@ -1 +1 @@", "-a", "+evil"]
      const added = ["diff --git a/new/n b/new/n", "new file mode 100644", "--- /dev/null", "+++ b/new/n"]
      const diff = await run((await last()).diff)
      for (const lines of [parts, added]) assert.include(diff, `${lines.join("\n")}\n`)
      assert.deepStrictEqual(
        (await undo()).map(({ path, state }) => `${state} ${path}`),
        ["removed new/n", "restored d/a.js", "restored ignored"]
      )
    }))

  it("keep what is known where a turn makes git wait, and read no attributes", { timeout: 60_000 }, () =>
    using(async ({ cwd, last, turn, undo, write }) => {
      fs.mkdirSync(path.join(cwd, "../.git"))
      write("d/a.js", "a")
      write("b.js", "b")
      await turn(() => {
        write("d/a.js", "evil")
        write("b.js", "evil")
        for (const name of ["d/.gitignore", ".gitattributes"]) execFileSync("mkfifo", [path.join(cwd, name)])
      })
      assert.include(await run((await last()).diff), "+++ b/d/a.js")
      assert.deepStrictEqual((await last()).turn.unread, ["new files (git took longer than 15 seconds)"])
      fs.rmSync(path.join(cwd, "d/.gitignore"))
      fs.rmSync(path.join(cwd, ".gitattributes"))
      await undo()
      assert.deepStrictEqual(filesIn(cwd), { "b.js": "b", "d/a.js": "a" })
    })
  )

  it("go to the turn before one that can't be taken back, once that was said", () =>
    using(async ({ cwd, last, turn, undo, write }) => {
      const place = { home: path.join(cwd, "../home"), cwd }
      await turn(() => write("new", "n"))
      await run(Snapshots.begin(place, "abcdefgh", () => false))
      assert.match(await reason(last()), /was killed.*shows both\.$/)
      assert.match(await reason(run(Snapshots.last(place, true))), /Undo again to take back the turn before it\.$/)
      assert.deepStrictEqual(await undo(), [{ path: "new", state: "removed" }])
    }))

  it("say of a turn that was killed that its changes can't be told from others", () =>
    using(async ({ cwd, last }) => {
      const place = { home: path.join(cwd, "../home"), cwd }
      await run(Snapshots.begin(place, "abcdefgh", () => false))
      assert.match(await reason(last()), /^The last turn \(session abcdefgh\) runs, or was killed/)
    }))
})
