/** What `read` answers where a call names no lines, or no file that ends. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApp } from "../../support/toolset/App.js"

const failed = (stderr: string) => ({ exitCode: 1, stdout: "", stderr })
const more = "Usage: read <file>... [--offset N] [--limit N]\n"
const help = 'Bash(command="read --help") shows more.\n'

describe("a call of read that is not right", () => {
  inApp("takes a range that is none for a part of the name", ({ put, run }) =>
    Effect.gen(function* () {
      put("x", "1\n2\n3\n")
      assert.strictEqual((yield* run("read x:2:3")).stdout, "     2\t2\n")
      assert.strictEqual((yield* run("read x no 2")).stderr?.split("shows what there is").length, 2)
      put("y:2-1", "its own name\n")
      assert.strictEqual((yield* run("read y:2-1")).stdout, "     1\tits own name\n")
      const missing = (path: string) =>
        failed(`read: ${path}: No such file or directory\nBash(command="ls .") shows what there is.\n`)
      for (const path of ["none:2-1", "x:2-1", "x:0"]) assert.deepStrictEqual(yield* run(`read ${path}`), missing(path))
      assert.deepStrictEqual(yield* run("read none:1-2"), missing("none"))
      const both = yield* run("read x:0 x:3")
      assert.deepStrictEqual([both.exitCode, both.stdout], [1, "==> x:3 <==\n     3\t3\n"])
    })
  )

  inApp("with an offset from the end is told what shows the last lines", ({ put, run }) =>
    Effect.gen(function* () {
      put("x", "1\n2\n3\n")
      assert.deepStrictEqual(
        yield* run("read x --offset -20"),
        failed(
          `read: --offset must be a whole number from 0, counted from the beginning; tail -n N shows the last lines; it was "-20".\n${more}${help}`
        )
      )
    })
  )

  inApp(
    "does not wait for what may have no end, and reads what it is handed",
    ({ put, run }) =>
      Effect.gen(function* () {
        put("x", "1\n")
        const special = (path: string) =>
          failed(
            `read: ${path}: not a regular file\nBash(command="timeout 5 head -c 4096 ${path}") shows what comes of it.\n`
          )
        yield* run("mkfifo fifo; ln -s fifo link; ln -s /dev/zero zero")
        for (const path of ["fifo", "./fifo", "link", "/dev/zero", "zero", "/dev/urandom", "/dev/full"]) {
          assert.deepStrictEqual(yield* run(`read ${path} --limit 2`), special(path), path)
          assert.deepStrictEqual(yield* run(`read ${path} --offset 5000`), special(path), path)
        }
        const listen = "require('net').createServer().listen('s', () => console.log('there'))"
        yield* run(`node -e ${JSON.stringify(listen)} >log 2>&1 & until [ -s log ]; do sleep .05; done`)
        assert.deepStrictEqual(yield* run("read s"), failed("read: s: No such device or address\n"))
        const one = { exitCode: 0, stdout: "     1\t1\n", stderr: "" }
        const handed = ["seq 1 | read /dev/stdin", "read /dev/stdin <x", "read <(seq 1)", "seq 1 | read /dev/fd/0"]
        for (const command of handed) assert.deepStrictEqual(yield* run(command), one, command)
        const nothing = { exitCode: 0, stdout: "", stderr: "read: /dev/stdin: empty file\n" }
        assert.deepStrictEqual(yield* run("read /dev/stdin"), nothing)
        assert.strictEqual((yield* run("read /dev/stdin </dev/zero")).exitCode, 1)
        assert.strictEqual((yield* run("read /proc/cpuinfo --limit 1")).exitCode, 0)
      }),
    false
  )

  inApp("is not misread in a loop over the names of files", ({ put, run }) =>
    Effect.gen(function* () {
      for (const name of ["a", "b", "c.txt"]) put(name, `text of ${name}\n`)
      for (const loop of [
        'ls | while read f; do read "$f"; done',
        "ls | while read -r f; do read $f; done",
        'while IFS= read -r f; do read -- "${f}"; done < <(ls)'
      ]) {
        const { stderr, stdout } = yield* run(loop)
        // Not a name is swallowed: each is shown, or refused by its name.
        assert.strictEqual(stdout, "     1\ttext of c.txt\n", loop)
        for (const name of ["a", "b"]) assert.include(stderr, `read: ${name}: the file, or a variable?`, loop)
      }
      const all = "     1\ttext of a\n     1\ttext of b\n     1\ttext of c.txt\n"
      assert.strictEqual((yield* run('ls | while read f; do read "./$f"; done')).stdout, all)
      assert.strictEqual((yield* run('for f in *; do read "$f"; done')).stdout, all)
    })
  )
})
