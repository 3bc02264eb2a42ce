/** `read` fits the result in the real shell: its windows are those of sed, and nothing is lost between two calls. */
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../../src/domain/CallContext.js"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"
import { shareApp } from "../../support/toolset/App.js"

/** The limit of a result, in characters. */
const limit = 30_000

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==",
  "base64"
)

const numbered = (text: string, from: number): string =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => `${String(from + index).padStart(6)}\t${line}\n`)
    .join("")

shareApp("read in a result", (test) => {
  test("S50: shows what sed shows, at every size around the limit", ({ put, run }) =>
    Effect.gen(function* () {
      // Of a line of 90 characters, 98 are shown.
      const fitting = Math.floor(limit / 98)
      const lines = Array.from({ length: 2 * fitting }, (_, at) => `${at + 1} ${"é".repeat(89)}`.slice(0, 90))
      put("f", `${lines.join("\n")}\n`)
      const windows: Array<readonly [from: number, to: number]> = []
      // The last notes where lines are left take the room of one or two more.
      for (const size of [-6, -3, -2, -1, 0, 1, 2].map((more) => fitting + more)) {
        for (const offset of [0, 1, fitting, 2 * fitting - 3]) {
          const { stderr = "", stdout = "" } = yield* run(`read f --offset ${offset} --limit ${size}`)
          assert.isAtMost(stdout.length + stderr.length, limit)
          const last = Number(/^read: f: lines? (?:\d+–)?(\d+) of /.exec(stderr)?.[1] ?? 2 * fitting)
          assert.strictEqual(stdout, numbered(`${lines.slice(offset, last).join("\n")}\n`, offset + 1))
          windows.push([offset, last])
        }
      }
      const counted = yield* run(windows.map(([from, to]) => `sed -n ${from + 1},${to}p f | wc -l`).join("\n"))
      assert.strictEqual(counted.stdout, windows.map(([from, to]) => `${to - from}\n`).join(""))
    }))

  test("shows all of a file, where each call is the one that the last has named", ({ cwd, handle, put }) =>
    Effect.gen(function* () {
      put("f", Array.from({ length: 1500 }, (_, at) => `line ${at + 1} ${"x".repeat(at % 90)}\n`).join(""))
      let shown = ""
      let calls = 0
      for (let command: string | undefined = "read f"; command !== undefined; calls++) {
        const { extras, output }: ToolReturn = yield* handle({ command })
        assert.notProperty(extras, "stdoutFile")
        assert.strictEqual(output, `${extras.stdout}${extras.stderr}`)
        shown += extras.stdout
        command = /^read: f: lines \d+–\d+ of 1500: (read f --offset \d+)\n$/.exec(extras.stderr ?? "")?.[1]
      }
      assert.strictEqual(shown, numbered(Fs.readFileSync(`${cwd}/f`, "utf8"), 1))
      assert.isAbove(calls, 2)
    }))

  test("is whole in a pipe, a substitution and a file, however long", ({ cwd, put, run }) =>
    Effect.gen(function* () {
      const text = `${"x".repeat(100_000)}\n${"y\n".repeat(1500)}`
      put("f", text)
      const all = numbered(text, 1)
      for (const command of [
        "read f | cat >o",
        'x=$(read f); echo "$x" >o',
        "read f >o",
        "(read f; :) | tee o >/dev/null"
      ]) {
        assert.deepStrictEqual(yield* run(command), { exitCode: 0, stdout: "", stderr: "" }, command)
        assert.isTrue(Fs.readFileSync(`${cwd}/o`, "utf8") === all, command)
      }
      for (const command of [
        "read f --limit 1",
        "(read f --limit 1)",
        "{ read f --limit 1; } >&2",
        "eval 'read f --limit 1'"
      ]) {
        const { stderr, stdout } = yield* run(command)
        assert.include(`${stdout}${stderr}`, `${"x".repeat(2000)}… [98000 more characters]\n`, command)
      }
    }))

  test("is whole for a listener that takes all of the output itself", ({ put, run }) =>
    Effect.gen(function* () {
      const text = `line ${"x".repeat(3000)}\n`.repeat(100)
      put("f", text)
      let heard = ""
      const onOutput = (_: string, chunk: Uint8Array) => {
        heard += Buffer.from(chunk).toString()
      }
      yield* CallContext.locally(run("read f"), { listener: { onOutput, takesAll: true } })
      assert.isTrue(heard === numbered(text, 1))
    }))

  test("shows several files, and lines behind a name", ({ put, run }) =>
    Effect.gen(function* () {
      put("a.txt", "1\n2\n3\n")
      put("b c", "4\n")
      put("a.txt:2", "its own\n")
      assert.deepStrictEqual(yield* run("read a.txt:2-3 'b c' a.txt:2"), {
        exitCode: 0,
        stdout:
          "==> a.txt:2-3 <==\n     2\t2\n     3\t3\n\n==> b c <==\n     1\t4\n\n==> a.txt:2 <==\n     1\tits own\n",
        stderr: ""
      })
    }))

  test("gives images to the caller, once, and only those that the result shows", ({ handle, put }) =>
    Effect.gen(function* () {
      put("x y.png", png)
      const said = `x y.png: PNG image, 2x3, ${png.length} bytes\n`
      const image = { path: "x y.png", mediaType: "image/png", base64: png.toString("base64") }
      const one = yield* handle({ command: "read 'x y.png'" })
      assert.deepStrictEqual([one.isError, one.output, one.extras.images], [false, said, [image]])
      const two = yield* handle({ command: "for n in 1 2; do read *.png; done; false" })
      assert.deepStrictEqual([two.isError, two.extras.stdout, two.extras.images], [true, said + said, [image, image]])
      const piped = yield* handle({ command: "read *.png | cat" })
      assert.deepStrictEqual([piped.output, piped.extras.images], [said, undefined])
    }))

  test("gives 20 MiB of images, and says of the others that they are not shown", ({ handle, put }) =>
    Effect.gen(function* () {
      put("x.png", Buffer.concat([png, Buffer.alloc(4 * 1024 ** 2)]))
      const { extras } = yield* handle({ command: "read x.png x.png x.png x.png" })
      assert.strictEqual(extras.images?.length, 3)
      assert.strictEqual(extras.stderr, "read: x.png: not shown: the images of one call are too large\n")
    }))
})
