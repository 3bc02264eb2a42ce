import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApp } from "../../support/toolset/App.js"

describe("bash in the shell", () => {
  inApp("S34: runs the command in the session itself", ({ cwd, run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("bash echo hi"), { exitCode: 0, stdout: "hi\n", stderr: "" })
      yield* run("bash cd /")
      yield* run("bash export kept='a  b'")
      assert.deepStrictEqual(yield* run('bash echo "$PWD $kept"'), { exitCode: 0, stdout: "/ a  b\n", stderr: "" })
      assert.deepStrictEqual(yield* run(`bash cd ${cwd} && pwd`), { exitCode: 0, stdout: `${cwd}\n`, stderr: "" })
    })
  )

  inApp("S35 S36 S49: shows its own help only where nothing else is asked for", ({ handle, run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("bash echo -h"), { exitCode: 0, stdout: "-h\n", stderr: "" })
      assert.deepStrictEqual(yield* run("bash printf %s --help"), { exitCode: 0, stdout: "--help", stderr: "" })
      const { stdout, ...ended } = yield* run("bash    --help")
      assert.deepStrictEqual(ended, { exitCode: 0, stderr: "" })
      assert.match(stdout ?? "", /^bash - run a command in this session\n/)
      const { extras, isError, output } = yield* handle({ command: "bash" })
      assert.deepStrictEqual([isError, extras.exitCode, extras.failureCategory], [true, 1, "invalid_usage"])
      assert.match(output, /^Usage: bash <command>/)
    })
  )

  inApp("S21: begins in a new shell where the call asks for a restart", ({ cwd, handle, run }) =>
    Effect.gen(function* () {
      const seen = 'echo "[$x] $PWD"'
      for (const command of [`bash ${seen}`, `bash -c '${seen}'`, seen]) {
        yield* run("export x=set; cd /")
        assert.strictEqual((yield* handle({ command })).extras.stdout, "[set] /\n", command)
        assert.strictEqual((yield* handle({ command, restart: true })).extras.stdout, `[] ${cwd}\n`, command)
      }
      yield* run("export x=set; cd /")
      const todos = yield* handle({ command: "TodoWrite '{\"todos\":[]}'", restart: true })
      assert.isFalse(todos.isError)
      assert.strictEqual((yield* run(seen)).stdout, `[] ${cwd}\n`)
    })
  )

  inApp("ends in the time that the call gives it", ({ handle, run }) =>
    Effect.gen(function* () {
      yield* run("x=kept")
      for (const command of ["bash echo begun; sleep 20", "bash -c 'echo begun; sleep 20'"]) {
        const { extras, isError } = yield* handle({ command, timeout: 300 })
        assert.deepStrictEqual([isError, extras.exitCode, extras.stdout], [true, 124, "begun\n"], command)
      }
      assert.strictEqual((yield* run("echo $x")).stdout, "kept\n")
    })
  )
})
