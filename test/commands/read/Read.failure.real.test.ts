/** What `read` answers where a call names no lines, or no file that ends. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inHouse } from "../../support/toolset/House.js"

const failed = (stderr: string) => ({ exitCode: 1, stdout: "", stderr })
const more = "Usage: read <file>... [--offset N] [--limit N]\n"
const help = 'Bash(command="read --help") shows more.\n'

describe("a call of read that is not right", () => {
  inHouse("names the range that is none, and one that there can be", ({ put, run }) =>
    Effect.gen(function* () {
      put("x", "1\n2\n3\n")
      put("a b", "1\n")
      put("y:2-1", "its own name\n")
      for (const [word, range, meant] of [
        ["x:2-1", "2-1", "x:1-2"],
        ["x:0", "0", "x:1"],
        ["x:0-2", "0-2", "x:1-2"],
        ["x:L1-L3", "L1-L3", "x:1-3"],
        ["x#L2", "L2", "x:2"],
        ["x:1,3", "1,3", "x:1-3"],
        ["x:2..3", "2..3", "x:2-3"],
        ["x:2:8", "2:8", "x:2"],
        ["'a b:0'", "0", "'a b':1"]
      ] as const) {
        const name = word.startsWith("'") ? "a b" : "x"
        const command = JSON.stringify(`read ${meant}`)
        const stderr = `read: ${name}: "${range}" is no range of lines\nBash(command=${command}) shows lines that there can be.\n`
        assert.deepStrictEqual(yield* run(`read ${word}`), failed(stderr), word)
        assert.strictEqual((yield* run(`read ${meant}`)).exitCode, 0, meant)
      }
      for (const range of ["abc-", "", "-5", "1-2-3"]) {
        const stderr = `read: x: "${range}" is no range of lines\nA range is x:20-40, x:20- or x:20.\n`
        assert.deepStrictEqual(yield* run(`read x:${range}`), failed(stderr), range)
      }
      assert.strictEqual((yield* run("read y:2-1")).stdout, "     1\tits own name\n")
      const missing = (path: string) =>
        failed(`read: ${path}: No such file or directory\nBash(command="ls .") shows what there is.\n`)
      assert.deepStrictEqual(yield* run("read none:2-1"), missing("none:2-1"))
      assert.deepStrictEqual(yield* run("read none:1-2"), missing("none"))
      const both = yield* run("read x:0 x:3")
      assert.deepStrictEqual([both.exitCode, both.stdout], [1, "==> x:3 <==\n     3\t3\n"])
    })
  )

  inHouse("with an offset from the end is answered with the call that shows the last lines", ({ put, run }) =>
    Effect.gen(function* () {
      put("x", "1\n2\n3\n")
      const say = (reason: string, ...calls: ReadonlyArray<string>) =>
        failed(`read: ${reason}\n${more}${calls.map((call) => `  ${call}\n`).join("")}${help}`)
      assert.deepStrictEqual(
        yield* run("read x --offset -20"),
        say("--offset counts from the beginning; for the last 20:", "tail -n 20 x")
      )
    })
  )

  inHouse(
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

  inHouse("is not misread in a loop over the names of files", ({ put, run }) =>
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
