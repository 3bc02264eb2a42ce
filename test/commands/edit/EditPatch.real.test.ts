import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApp, shareApp } from "../../support/toolset/App.js"

const patch = (...lines: ReadonlyArray<string>) => ["edit --patch <<'EOF'", ...lines, "EOF"].join("\n")
const envelope = (...lines: ReadonlyArray<string>) => patch("*** Begin Patch", ...lines, "*** End Patch")

const modeOf = (path: string) => (Fs.statSync(path).mode & 0o777).toString(8)

shareApp("edit --patch in the shell", (test) => {
  test("changes, makes, moves and deletes files, whose modes stay", ({ bytes, cwd, put, run }) =>
    Effect.gen(function* () {
      put("a b.txt", "one\ntwo\n")
      put("run.sh", "echo 1\n")
      put("gone", "x")
      Fs.chmodSync(`${cwd}/run.sh`, 0o750)
      const command = envelope(
        "*** Update File: a b.txt",
        "-two",
        "+2",
        "*** Update File: run.sh",
        "*** Move to: bin/run.sh",
        "-echo 1",
        "+echo 2",
        "*** Add File: new/$x.txt",
        "+it's",
        "*** Delete File: gone"
      )
      assert.deepStrictEqual(yield* run(command), {
        exitCode: 0,
        stdout:
          "Updated a b.txt (+1 -1)\nMoved run.sh to bin/run.sh (+1 -1)\nAdded new/$x.txt (1 line)\nDeleted gone\n",
        stderr: ""
      })
      assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), ["a b.txt", "bin", "new"])
      assert.deepStrictEqual(
        [bytes("a b.txt"), bytes("bin/run.sh"), bytes("new/$x.txt"), modeOf(`${cwd}/bin/run.sh`)],
        ["one\n2\n", "echo 2\n", "it's\n", "750"]
      )
      const git = "cp bin/run.sh r; git diff --no-index bin/run.sh r; sed -i s/2/3/ r; chmod -x r"
      yield* run(`${git}; git diff --no-index r bin/run.sh >d; edit -p <<<"$(cat d)"`)
      const made = patch(
        "diff --git a/x.sh b/x.sh",
        "new file mode 100755",
        "--- /dev/null",
        "+++ b/x.sh",
        "@@ -0,0 +1 @@",
        "+echo x",
        "diff --git a/bin/run.sh b/bin/run.sh",
        "old mode 100750",
        "new mode 100640"
      )
      assert.strictEqual(
        (yield* run(`umask 027; ${made}\n./x.sh`)).stdout,
        "Added x.sh (1 line)\nUpdated bin/run.sh (mode)\nx\n"
      )
      assert.deepStrictEqual([modeOf(`${cwd}/x.sh`), modeOf(`${cwd}/bin/run.sh`)], ["750", "640"])
    }))

  test("follows links as edit does, deletes none, and knows two names of one file", ({ bytes, cwd, put, run }) =>
    Effect.gen(function* () {
      put("f", "1\n")
      put("g", "1\n")
      Fs.symlinkSync("f", `${cwd}/link`)
      Fs.linkSync(`${cwd}/g`, `${cwd}/hard`)
      assert.strictEqual((yield* run(envelope("*** Update File: link", "-1", "+2"))).stdout, "Updated link (+1 -1)\n")
      assert.strictEqual(bytes("f"), "2\n")
      assert.isTrue(Fs.lstatSync(`${cwd}/link`).isSymbolicLink())
      const refusals = {
        [envelope("*** Update File: f", "-2", "+3", "*** Delete File: link")]: "link: not a regular file",
        [envelope("*** Update File: g", "-1", "+3", "*** Delete File: link")]: "link: not a regular file",
        [envelope("*** Update File: g", "-1", "+3", "*** Update File: hard", "-1", "+4")]: "hard: the same file as g",
        [envelope("*** Delete File: g", "*** Add File: f/x", "+x")]: "f/x: File exists"
      }
      for (const [command, reason] of Object.entries(refusals)) {
        const { exitCode, stderr } = yield* run(command)
        assert.deepStrictEqual([exitCode, stderr?.split("\n")[0]], [1, `edit: ${reason}`], command)
        assert.deepStrictEqual([bytes("f"), bytes("g"), bytes("hard")], ["2\n", "1\n", "1\n"], command)
      }
      assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), ["f", "g", "hard", "link"])
    }))

  test("follows no link out of the directory", ({ bytes, cwd, put, run }) =>
    Effect.gen(function* () {
      Fs.mkdirSync(`${cwd}/in/deep`, { recursive: true })
      Fs.mkdirSync(`${cwd}/out`)
      put("out/f", "1\n")
      put("in/deep/f", "1\n")
      Fs.symlinkSync("../out", `${cwd}/in/away`)
      Fs.symlinkSync(`${cwd}/out/f`, `${cwd}/in/link`)
      Fs.symlinkSync("../out/none", `${cwd}/in/none`)
      Fs.symlinkSync("deep", `${cwd}/in/near`)
      const refusals = {
        "Update File: away/f\n-1\n+2":
          "away/f: no file was changed: away is a link that leads out of the current directory",
        "Update File: link\n-1\n+2": "link: no file was changed: it is a link that leads out of the current directory",
        "Delete File: away/f": "away/f: no file was changed: away is a link that leads out of the current directory",
        "Add File: away/new\n+1":
          "away/new: no file was changed: away is a link that leads out of the current directory",
        "Add File: none\n+1": "none: no file was changed: it is a link that leads out of the current directory",
        "Update File: deep/f\n*** Move to: away/f\n-1\n+2":
          "away/f: no file was changed: away is a link that leads out of the current directory",
        "Add File: ../x\n+1": 'no file was changed: line 2 of the patch: "../x" is no file below the current directory',
        "Add File: /tmp/x\n+1":
          'no file was changed: line 2 of the patch: "/tmp/x" is no file below the current directory'
      }
      for (const [change, reason] of Object.entries(refusals)) {
        const { exitCode, stderr } = yield* run(`cd ${cwd}/in; ${envelope(`*** ${change}`)}`)
        assert.deepStrictEqual([exitCode, stderr?.split("\n")[0]], [1, `edit: ${reason}`], change)
        assert.deepStrictEqual([bytes("out/f"), bytes("in/deep/f")], ["1\n", "1\n"], change)
        assert.deepStrictEqual(Fs.readdirSync(`${cwd}/out`), ["f"])
      }
      assert.strictEqual(
        (yield* run(envelope("*** Update File: near/f", "-1", "+2"))).stdout,
        "Updated near/f (+1 -1)\n"
      )
      assert.strictEqual(bytes("in/deep/f"), "2\n")
    }))

  test("runs one at a time with other edits of its files, in whatever order it names them", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      put("a", "0\n")
      put("b", "0\n")
      const one = (name: string, line: string) => [`*** Update File: ${name}`, "@@", `+${line}`]
      const edits = Array.from({ length: 6 }, (_, index) => {
        const both = index % 2 === 0 ? ["a", "b"] : ["b", "a"]
        return `(${envelope(...both.flatMap((name) => one(name, String(index))))}\n) &\n`
      })
      assert.strictEqual((yield* run(`${edits.join("")}wait`)).exitCode, 0)
      for (const name of ["a", "b"]) assert.deepStrictEqual([...bytes(name)].sort().join("").trim(), "0012345")
    }))
})

inApp("edit --patch leaves all files as they are where the policy denies one of them", ({ bytes, cwd, handle, put }) =>
  Effect.gen(function* () {
    put("a", "1\n")
    put("b", "1\n")
    put(".env", "KEY=1\n")
    const command = envelope("*** Update File: a", "-1", "+2", "*** Delete File: b", "*** Delete File: .env")
    const { extras } = yield* handle({ command })
    assert.deepStrictEqual(
      [extras.stderr, extras.failureCategory],
      ["edit: .env: Permission denied\nNo file was changed.\n", "blocked"]
    )
    assert.deepStrictEqual([bytes("a"), bytes("b")], ["1\n", "1\n"])
    assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), [".env", "a", "b"])
  })
)
