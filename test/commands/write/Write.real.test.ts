import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { shareApp, utf8, word } from "../../support/toolset/App.js"

shareApp("write in the shell", (test) => {
  test("S38: says of a directory that it is no writable file, and leaves it as it is", ({ cwd, handle, put }) =>
    Effect.gen(function* () {
      Fs.mkdirSync(`${cwd}/a dir`)
      put("a dir/kept", "kept")
      Fs.symlinkSync("a dir", `${cwd}/link`)
      for (const [path, command] of [
        ["a dir", "write 'a dir' x"],
        ["a dir/", "write 'a dir/' x"],
        ["./a dir", "echo x | write './a dir'"],
        ["a dir", "write 'a dir' <<'END'\nx\nEND"],
        ["link", "write link x"],
        [".", "write . ''"],
        [cwd, `write ${cwd} x`]
      ] as const) {
        const { extras, isError } = yield* handle({ command })
        const { exitCode, failureCategory, stderr, stdout } = extras
        assert.deepStrictEqual(
          { isError, exitCode, stdout, stderr, failureCategory },
          {
            isError: true,
            exitCode: 1,
            stdout: "",
            stderr: `write: ${path}: not a writable file: Is a directory\n`,
            failureCategory: "execution_error"
          },
          command
        )
      }
      assert.deepStrictEqual(Fs.readdirSync(cwd).sort(), ["a dir", "link"])
      assert.deepStrictEqual(Fs.readdirSync(`${cwd}/a dir`), ["kept"])
    }))

  test("writes an argument byte for byte, whatever was there", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      for (const [content, lines] of [
        ["", 0],
        ["no newline at the end", 1],
        ["a\n", 1],
        ["\n\n", 2],
        ["a\r\nb\r\n", 2],
        ['  $& $1 \\n \\\\ `id` $(id) * [x] "it\'s"\t!! \n', 1],
        ["é🙂€", 1],
        ["x".repeat(100_000), 1]
      ] as const) {
        put("größe [1] $&.txt", "what was there before, and longer than some of it")
        const size = Buffer.byteLength(content)
        assert.deepStrictEqual(yield* run(`write 'größe [1] $&.txt' ${word(content)}`), {
          exitCode: 0,
          stdout: `Written ${size} byte${size === 1 ? "" : "s"} (${lines} line${lines === 1 ? "" : "s"}) to größe [1] $&.txt\n`,
          stderr: ""
        })
        assert.strictEqual(bytes("größe [1] $&.txt"), utf8(content))
      }
    }))

  test("writes what comes on standard input byte for byte", ({ bytes, put, run }) =>
    Effect.gen(function* () {
      const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256))
      put("bytes", content)
      assert.deepStrictEqual(yield* run("cat bytes | write copy"), {
        exitCode: 0,
        stdout: `Written 300000 bytes (${content.toString("latin1").split("\n").length} lines) to copy\n`,
        stderr: ""
      })
      assert.strictEqual(bytes("copy"), content.toString("latin1"))
      yield* run("write script <<'END'\n  $& `id` $(id) \\n\r\nend\nEND")
      assert.strictEqual(bytes("script"), "  $& `id` $(id) \\n\r\nend\n")
    }))
})
