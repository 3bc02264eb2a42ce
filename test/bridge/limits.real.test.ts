/** Where a call can't be made, it says what to do, and the shell goes on. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApps } from "../support/toolset/App.js"

const tooFew = (name: string) =>
  `${name}: not run: the shell may open too few files (ulimit -n), 64 are enough: restart=true starts a new shell\n`

const tooLong = (name: string) =>
  `${name}: not run: its words are too long, more than 16 MiB at once: use a pipe, a here-document or a file\n`

describe("a call", () => {
  inApps("says that there are too few descriptors", ({ bytes, run }) =>
    Effect.gen(function* () {
      for (const limit of [5, 10, 20, 45, 46]) {
        const seen = yield* run(`(ulimit -n ${limit}; write f x; read ./f; TodoWrite x; echo $? $(ulimit -n))`)
        assert.deepStrictEqual(
          seen,
          { exitCode: 0, stdout: `126 ${limit}\n`, stderr: tooFew("write") + tooFew("read") + tooFew("TodoWrite") },
          `ulimit -n ${limit}`
        )
      }
      // bash itself has no room for a redirection then.
      const least = yield* run("(ulimit -n 4; write f x; echo $?; ulimit -n)")
      assert.strictEqual(least.stdout, "126\n4\n")
      assert.include(least.stderr ?? "", tooFew("write"))
      assert.notInclude((yield* run("(ulimit -n 3; write f x); echo on")).stdout ?? "", "Written")
      for (const limit of [47, 48, 64]) {
        const seen = yield* run(`(ulimit -n ${limit}; write f x && edit f x y && read ./f)`)
        assert.strictEqual(seen.stderr, "", `ulimit -n ${limit}`)
        assert.strictEqual(bytes("f"), "y")
      }
    })
  )

  inApps("lives on in a session that has too few, and in the next", ({ handle, run }) =>
    Effect.gen(function* () {
      const { stderr, ...seen } = yield* run("ulimit -n 20; write f x; ulimit -n")
      assert.deepStrictEqual([seen, stderr], [{ exitCode: 0, stdout: "20\n" }, tooFew("write")])
      assert.strictEqual((yield* run("ulimit -n; write f x")).stderr, tooFew("write"))
      const { extras } = yield* handle({ command: "write f x", restart: true })
      assert.deepStrictEqual([extras.stdout, extras.exitCode], ["Written 1 byte (1 line) to f\n", 0])
    })
  )

  inApps("says that words are too long, and what takes any length", ({ run }) =>
    Effect.gen(function* () {
      yield* run("x=$(head -c 16800000 /dev/zero | tr '\\0' a)")
      const seen = yield* run('write f "$x"; echo $?; (edit f a "$x"); ls; write f <<<"$x"')
      assert.deepStrictEqual(seen, {
        exitCode: 0,
        stdout: "1\nWritten 16800001 bytes (1 line) to f\n",
        stderr: tooLong("write") + tooLong("edit")
      })
    })
  )

  inApps("ends like any program where a trap ignores SIGPIPE or not", ({ run }) =>
    Effect.gen(function* () {
      yield* run("seq 200000 >f")
      assert.strictEqual(
        (yield* run("read f --limit 200000 | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}")).stdout,
        "141\n"
      )
      assert.strictEqual((yield* run("trap '' PIPE; echo a | write g; trap - PIPE; cat g")).exitCode, 0)
    })
  )
})
