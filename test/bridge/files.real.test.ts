import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Handlers from "../support/Handlers.js"
import { result, type Subject, withSession } from "../support/Session.js"

const inSession = (name: string, body: (subject: Subject) => Effect.Effect<void, unknown>) =>
  it.live(name, () => withSession(body, {}, Handlers.all), 60_000)

const isRoot = process.getuid?.() === 0

/** A test that means something to one kind of user only. */
const inSessionOf = (who: "root" | "an ordinary user", ...[name, body]: Parameters<typeof inSession>) =>
  isRoot === (who === "root") ? inSession(name, body) : it.skip(`${name} (only of ${who})`)

describe("a file", () => {
  inSession("is read from where the caller is, whatever its name", ({ run }) =>
    Effect.gen(function* () {
      const names = ["a b", "-n", "'\"", "new\nline", "ünï", "*", "\\", "--"]
      for (const name of names) {
        const quoted = `'${name.replaceAll("'", "'\\''")}'`
        const seen = yield* run(`mkdir -p d; cd d; write ./${quoted} x${quoted}; read ./${quoted}; cd ..; rm -r d`)
        assert.deepStrictEqual(seen, result({ stdout: `written\nx${name}` }))
      }
    })
  )

  inSession("that can't be read is told by what is wrong with it", ({ run }) =>
    Effect.gen(function* () {
      yield* run("mkdir dir; touch file; ln -s nowhere dangling; ln -s loop loop")
      for (const [path, stderr] of Object.entries({
        missing: "missing: missing: No such file or directory\n",
        dir: "directory: dir: Is a directory\n",
        "file/x": "missing: file/x: Not a directory\n",
        dangling: "missing: dangling: No such file or directory\n",
        loop: "io: loop: Too many levels of symbolic links\n"
      })) {
        const seen = yield* run(`read ${path}`)
        assert.deepStrictEqual(seen, result({ stderr, exitCode: 1, category: "execution_error" }))
      }
    })
  )

  inSession("that could not be begun gets no content, nor does a descriptor of the caller's", ({ directory, run }) =>
    Effect.gen(function* () {
      yield* run("mkdir dir; touch file; ln -s loop loop; mkfifo fifo; exec 40>leak 41>&40 42>&40 43>&40 44>&40")
      for (const path of ["dir", "dir/", "file/x", "loop", "fifo"]) {
        for (const command of [
          `write ${path} secret`,
          `echo secret | write ${path}`,
          `write ${path} "$(printf %4000d 1)"`
        ]) {
          assert.strictEqual((yield* run(command)).exitCode, 1, command)
        }
      }
      assert.strictEqual(Fs.readFileSync(`${directory}/leak`, "utf8"), "")
    })
  )

  // The sandbox's own tests show that root is held to the policy.
  inSessionOf("an ordinary user", "that is not to be read is denied", ({ run }) =>
    Effect.gen(function* () {
      const seen = yield* run("touch f; chmod 0 f; read ./f; write f x")
      assert.strictEqual(seen.stderr, "denied: ./f: Permission denied\ndenied: f: Permission denied\n")
    })
  )

  inSession("keeps its mode and its owner, and so does the target of a link", ({ directory, run }) =>
    Effect.gen(function* () {
      yield* run("umask 027; echo old >f; chmod 751 f; ln -s f link; write link new; write fresh x")
      assert.strictEqual(Fs.readFileSync(`${directory}/f`, "utf8"), "new")
      assert.strictEqual(Fs.statSync(`${directory}/f`).mode & 0o7777, 0o751)
      assert.isTrue(Fs.lstatSync(`${directory}/link`).isSymbolicLink())
      assert.strictEqual(Fs.statSync(`${directory}/fresh`).mode & 0o7777, 0o640)
    })
  )

  inSessionOf("root", "keeps an owner that is another", ({ directory, run }) =>
    Effect.gen(function* () {
      yield* run("echo old >f; chmod 751 f")
      Fs.chownSync(`${directory}/f`, 65534, 65533)
      yield* run("write f newer")
      const { gid, mode, uid } = Fs.statSync(`${directory}/f`)
      assert.deepStrictEqual([uid, gid, mode & 0o7777], [65534, 65533, 0o751])
    })
  )

  inSession("is made with the directories on the way to it", ({ run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* run("write a/b/c x; cat a/b/c; ln -s a/new l; write l y; cat a/new"),
        result({ stdout: "written\nxwritten\ny" })
      )
    })
  )

  inSession("that can't be written stays as it was, and says why", ({ run }) =>
    Effect.gen(function* () {
      yield* run("mkdir dir; echo kept >file; mkfifo fifo; ln -s loop loop")
      for (const [path, stderr] of Object.entries({
        dir: "directory: dir: Is a directory\n",
        "new/": "directory: new/: Is a directory\n",
        "file/x": "io: file/x: File exists\n",
        fifo: "special: fifo: not a regular file\n",
        "/dev/null": "special: /dev/null: not a regular file\n",
        loop: "io: loop: a symbolic link that leads nowhere\n"
      })) {
        const seen = yield* run(`write ${path} x`)
        assert.deepStrictEqual(seen, result({ stderr, exitCode: 1, category: "execution_error" }))
      }
      assert.deepStrictEqual(yield* run("cat file; ls -A"), result({ stdout: "kept\ndir\nfifo\nfile\nloop\n" }))
    })
  )

  inSession("whose content fails half-way is as it was", ({ run }) =>
    Effect.gen(function* () {
      yield* run("echo kept >f")
      const seen = yield* run("half f; half new; cat f; ls -A")
      assert.deepStrictEqual(seen, result({ stdout: "kept\nf\n", stderr: "half: no more\nhalf: no more\n" }))
    })
  )

  inSession("that no disk has room for is as it was", ({ run }) =>
    Effect.gen(function* () {
      yield* run("echo kept >f")
      const seen = yield* run("(ulimit -f 100; head -c 1000000 /dev/zero | write f); cat f; ls -A")
      assert.strictEqual(seen.stdout, "kept\nf\n")
      assert.match(seen.stderr, /^io: f: /)
    })
  )

  inSession("that is being written when the command is cancelled is as it was", ({ run }) =>
    Effect.gen(function* () {
      yield* run("echo kept >f")
      yield* Effect.either(run("(echo a; sleep 60) | write f", { timeout: 300 }))
      assert.deepStrictEqual(yield* run("cat f; ls -A"), result({ stdout: "kept\nf\n" }))
    })
  )

  inSession("in a directory that can't be written gets its content all the same", ({ run }) =>
    Effect.gen(function* () {
      const seen = yield* run(
        isRoot
          ? "mkdir d; echo old >d/f; chattr +i d 2>/dev/null || { echo written; echo -n new; exit; }; write d/f new; cat d/f; chattr -i d"
          : "mkdir d; echo old >d/f; chmod 500 d; write d/f new; cat d/f; chmod 700 d"
      )
      assert.strictEqual(seen.stdout, "written\nnew")
    })
  )

  inSessionOf("an ordinary user", "that is being overwritten when the command is cancelled is whole", (subject) =>
    Effect.gen(function* () {
      const { directory, run } = subject
      yield* run("mkdir d; head -c 50000000 /dev/zero | tr '\\0' o >d/f; chmod 500 d")
      for (const timeout of [100, 150, 200, 250, 300]) {
        yield* Effect.either(run("head -c 50000000 /dev/zero | tr '\\0' n | write d/f", { timeout }))
        const { size } = Fs.statSync(`${directory}/d/f`)
        assert.strictEqual(size, 50_000_000)
      }
      yield* run("chmod 700 d")
    })
  )

  inSession("is read no further than it is wanted", ({ run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* run("truncate -s 50G big; read ./big | head -c 5 | wc -c"),
        result({ stdout: "5\n" })
      )
    })
  )
})
