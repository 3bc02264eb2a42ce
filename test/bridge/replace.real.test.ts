/** Against a real bash: how the caller of `edit` and `write` puts a new content in the place of a file. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as BashText from "../../src/bridge/internal/BashText.js"
import * as Temporary from "../support/Temporary.js"
import { inApp, inApps } from "../support/toolset/App.js"

const hasPerl = ChildProcess.spawnSync("/usr/bin/perl", ["-e", "0"]).status === 0
const isX64 = process.platform === "linux" && process.arch === "x64"

describe("a file that is replaced", () => {
  if (hasPerl && isX64) {
    inApps("keeps extended attributes", ({ bytes, cwd, put, run }) =>
      Effect.gen(function* () {
        put("f", "one\n")
        const named = `my ($file, $name, $value) = ($ARGV[0], "user.synapse", "kept"); `
        const perl = (code: string) =>
          ChildProcess.spawnSync("/usr/bin/perl", ["-e", named + code, `${cwd}/f`], { encoding: "utf8" })
        const made = perl("exit(syscall(188, $file, $name, $value, 4, 0) == 0 ? 0 : $! == 95 ? 3 : 1)")
        // A file system without them has nothing to keep.
        if (made.status === 3) return
        assert.strictEqual(made.status, 0, made.stderr)
        yield* run("edit f one two")
        assert.strictEqual(bytes("f"), "two\n")
        yield* run("write f three")
        const { stdout } = perl('$value = " " x 9; print substr $value, 0, syscall(191, $file, $name, $value, 9)')
        assert.deepStrictEqual([bytes("f"), stdout], ["three", "kept"])
      })
    )
  }

  inApp("is replaced whatever its name, its mode or the caller's descriptors are", ({ bytes, cwd, put, run }) =>
    Effect.gen(function* () {
      for (const name of ["-", "-e", "a\nb", " ", "é", "'", "x".repeat(255)]) {
        put(name, "one\n")
        Fs.chmodSync(`${cwd}/${name}`, 0o754)
        const path = `'${name.replaceAll("'", "'\\''")}'`
        const { exitCode, stderr } = yield* run(`umask 0; edit -- ${path} one two >/dev/null && write -- ${path} three`)
        assert.deepStrictEqual([exitCode, stderr, bytes(name)], [0, "", "three"], name)
        assert.strictEqual(Fs.statSync(`${cwd}/${name}`).mode & 0o777, 0o754)
        Fs.rmSync(`${cwd}/${name}`)
      }
      put("f", "one\n")
      const full = yield* run("edit f one two >/dev/full")
      assert.deepStrictEqual([full.exitCode, bytes("f")], [1, "two\n"])
      assert.match(full.stderr ?? "", /No space left on device/)
      const closed = yield* run("edit f two three <&- >&-")
      assert.deepStrictEqual([closed.exitCode, bytes("f")], [1, "three\n"])
      const ended = yield* run("edit f three four | true; echo ${PIPESTATUS[0]}")
      assert.include(["0\n", "141\n"], ended.stdout)
      assert.strictEqual(bytes("f"), "four\n")
      yield* run("umask 027; write new x; write sub/new x")
      assert.deepStrictEqual(
        ["new", "sub/new"].map((name) => Fs.statSync(`${cwd}/${name}`).mode & 0o777),
        [0o640, 0o640]
      )
      assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), ["f", "new", "sub"])
    })
  )
})

/** Runs functions of the stub in a directory with these files; returns the last reply, and the files that are there then. */
const told = (files: Readonly<Record<string, string>>, script: string) =>
  Temporary.using(async (own) => {
    const cwd = Path.join(own, "files")
    Fs.mkdirSync(cwd)
    for (const [name, content] of Object.entries(files)) Fs.writeFileSync(Path.join(cwd, name), content)
    Fs.writeFileSync(Path.join(own, "rest"), BashText.rest)
    Fs.writeFileSync(Path.join(own, "slot-0-answer"), "")
    ChildProcess.execFileSync("mkfifo", [Path.join(own, "slot-0-down")])
    const [stub = ""] = BashText.stub.replaceAll("@directory@", () => own).split("while next what")
    Fs.writeFileSync(Path.join(own, "stub"), `${stub}replace() { begin "$1"; put "$2"; stage; }\n${script}`)
    const { stderr } = ChildProcess.spawnSync(
      "/bin/bash",
      ["--norc", "-c", '. "$0/stub" 46>"$0/replies"', own, "0", "edit"],
      { cwd, encoding: "utf8", env: { TMPDIR: own, PATH: process.env["PATH"] } }
    )
    const replies = Fs.readFileSync(Path.join(own, "replies"), "latin1").split("\0").slice(0, -1)
    const left = Fs.readdirSync(cwd).map((name) => {
      const path = Path.join(cwd, name)
      return [name, Fs.statSync(path).isFile() ? Fs.readFileSync(path, "utf8") : "directory"]
    })
    const scraps = Fs.readdirSync(own).filter((name) => name.startsWith(".synapse"))
    return { stderr, replies, left: Object.fromEntries(left), scraps }
  })

describe("several files", () => {
  const files = { a: "a", b: "b", c: "c" }

  /** The text that applies the changes, in which something happens before the last of them. */
  const applyWith = (last: number, meanwhile: string) =>
    `eval "original$(declare -f change)"; change() { if (( index == ${last} )); then ${meanwhile}; fi; originalchange; }; apply`

  it.live("have what they had where the last of them fails, and nothing else is there", () =>
    Effect.promise(async () => {
      const { left, replies, scraps, stderr } = await told(
        { ...files, d: "d" },
        `ln d other; replace a new; replace none new; replace d new; doom b; replace c new; ${applyWith(4, "rm c; mkdir c")}`
      )
      assert.deepStrictEqual(left, { ...files, c: "directory", d: "d", other: "d" })
      const [kind, reason] = replies.slice(-2)
      assert.strictEqual(kind, "io")
      assert.match(reason ?? "", /^4\/cannot overwrite directory/)
      assert.deepStrictEqual([scraps, stderr], [[], ""])
    })
  )

  it.live("that can't be given back are told, with the place of their content", () =>
    Effect.promise(async () => {
      const { left, replies } = await told(files, `replace a new; replace c new; ${applyWith(1, "rm a c; mkdir a c")}`)
      const [kind, reason = ""] = replies.slice(-2)
      assert.strictEqual(kind, "partial")
      const place = /but not \.\/a \(its old content is in (.*)\)$/.exec(reason)?.[1] ?? ""
      assert.strictEqual(left[Path.basename(place)], "a")
    })
  )
})
