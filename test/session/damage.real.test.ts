/** Against a real bash: a command may take away what the session stands on. No later one is lost, or runs twice. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assertKept, inSession, keeps, prepare, result, started, stateLost } from "../support/Session.js"
import { notices, told } from "../support/Told.js"

const replaced = (directory: string) =>
  told(
    "The shell could run no command any more (a builtin, a limit or a restriction was changed): " +
      `this one ran in a new shell in ${directory}; variables, functions and options are lost.`
  )

/** After this, the shell can run nothing: the next command runs in a new one, once, and says so. */
const replaces = (name: string, command: string) =>
  inSession(name, (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run(command)
      assert.deepStrictEqual(
        yield* subject.run('echo on; echo err >&2; echo once >> ran; echo "<${kept-}>"; (exit 3)'),
        result({
          stdout: "on\n<>\n",
          stderr: "err\n",
          exitCode: 3,
          diagnostics: replaced(`${subject.directory}/kept here`)
        })
      )
      assert.deepStrictEqual(yield* subject.run("cat ran; kept='a  b'"), result({ stdout: "once\n" }))
      yield* assertKept(subject)
    })
  )

describe("damage", () => {
  for (const harm of [
    'rm -rf "$TMPDIR"/synapse-*',
    'rm -rf "$TMPDIR"/synapse-*/*/*',
    'find "$TMPDIR"/synapse-* -type p -delete',
    'rm "$TMPDIR"/synapse-*/*/command',
    '{ while sleep 0.005; do echo late; done; } & rm -rf "$TMPDIR"/synapse-*; sleep 0.02'
  ]) {
    inSession(`the next command runs in a new shell after ${harm}`, (subject) =>
      Effect.gen(function* () {
        yield* prepare(subject)
        yield* subject.run(harm)
        const { diagnostics, ...got } = yield* subject.run(
          'echo on; echo err >&2; echo once >> ran; echo "<${kept-}>"; (exit 3)'
        )
        assert.deepStrictEqual(got, result({ stdout: "on\n<>\n", stderr: "err\n", exitCode: 3 }))
        assert.match(notices({ diagnostics })?.join() ?? "", /variables, functions and options are lost/)
        assert.deepStrictEqual(yield* subject.run("cat ran; kept='a  b'"), result({ stdout: "once\n" }))
        yield* assertKept(subject)
      })
    )
  }

  inSession("it is deleted while a command is cancelled", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const { fiber, interrupted } = yield* started(
        subject,
        'printf on; rm -rf "$TMPDIR"/synapse-*; bash -c "trap \'\' INT; sleep 1000"'
      )
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(interrupted, [result({ stdout: "on", exitCode: 130 })])
      assert.strictEqual((yield* subject.run("echo on")).stdout, "on\n")
    })
  )

  inSession("its state's FIFO alone is deleted before an exit", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      assert.deepStrictEqual(
        yield* subject.run('rm "$TMPDIR"/synapse-*/*/state; exit 3'),
        result({ exitCode: 3, diagnostics: stateLost(there) })
      )
      assert.deepStrictEqual(yield* subject.run("echo $?; pwd"), result({ stdout: `3\n${there}\n` }))
    })
  )

  replaces("builtin and unset are functions both", "unset() { :; }; builtin() { :; }")
  replaces("builtin is disabled", "enable -n builtin")
  replaces("builtin is a function that can't be unset", "builtin() { :; }; readonly -f builtin")
  replaces("the shell is restricted", "set -r")
  replaces("no descriptor can be opened any more", "ulimit -n 5")

  inSession("the state of the last shell ends every new one: a prompt's command that exits", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      assert.deepStrictEqual(
        yield* subject.run("declare -r PROMPT_COMMAND='exit 3'; kill -INT $$"),
        result({ exitCode: 3 })
      )
      assert.deepStrictEqual(
        yield* subject.run('echo "$? $PWD ${kept-}"'),
        result({
          stdout: `3 ${there} \n`,
          diagnostics: told(
            "The last shell's state let no other one live: " +
              `this command ran in a new shell in ${there}; variables, functions and options are lost.`
          )
        })
      )
      yield* subject.run("kept='a  b'")
      yield* assertKept(subject)
    })
  )

  keeps("a trap on errors that exits is handed on, and ends no shell but by its command", [
    ["trap 'exit 6' ERR; set -E; false", { exitCode: 6 }],
    ["echo $?", { stdout: "6\n" }],
    ["false; echo no", { exitCode: 6 }],
    ["trap - ERR; set +E", {}]
  ])

  keeps("a trap on DEBUG that exits is not handed on", [
    ["trap 'exit 7' DEBUG", { exitCode: 7 }],
    ["echo $?", { stdout: "7\n" }]
  ])

  keeps("printf and echo are disabled", [
    ["enable -n printf echo", {}],
    ["echo once >> ran; kill -l 2", { stdout: "INT\n" }],
    ["cat ran; enable printf echo", { stdout: "once\n" }]
  ])

  inSession("a shell that dies without a printf has run its command once", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("enable -n printf echo")
      const there = `${subject.directory}/kept here`
      assert.deepStrictEqual(
        yield* subject.run("/bin/echo once >> ran; kill -9 $$"),
        result({ exitCode: 137, diagnostics: stateLost(there) })
      )
      assert.deepStrictEqual(yield* subject.run("cat ran"), result({ stdout: "once\n" }))
    })
  )

  inSession("the shell dies while it is idle, and the next command runs once", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const there = `${subject.directory}/kept here`
      yield* subject.run("(sleep 0.05; kill -9 $$) &")
      yield* Effect.sleep(200)
      assert.deepStrictEqual(
        yield* subject.run("echo once >> ran; cat ran"),
        result({ stdout: "once\n", diagnostics: stateLost(there) })
      )
      yield* subject.run("kept='a  b'")
      yield* assertKept(subject)
    })
  )

  inSession("the directory of the first shell is gone when a later one starts", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run('cd /; x=1; rm -rf "$OLDPWD/.."; exit 3')
      assert.deepStrictEqual(yield* subject.run("echo $x $PWD"), result({ stdout: "1 /\n" }))
    })
  )

  inSession("REPLY holds ten megabytes", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      assert.deepStrictEqual(
        yield* subject.run("REPLY=$(head -c 10000000 /dev/zero | tr '\\0' x); (exit 3)"),
        result({ exitCode: 3 })
      )
      assert.deepStrictEqual(yield* subject.run("echo $?; unset REPLY"), result({ stdout: "3\n" }))
      yield* assertKept(subject)
    })
  )
})

/** Each of these, done in the session's directory, would leave a shell that can run nothing. */
const harms = [
  "rm begin",
  "rm end definitions",
  "rm -rf ./*",
  "echo 'echo no' >begin",
  "rm begin; mkfifo begin",
  "rm begin; ln -s /dev/zero begin",
  "rm begin; mkdir begin",
  "rm supervisor; rm begin",
  "find . -type p -delete; rm begin",
  "chmod 000 begin; chmod 000 .",
  "mv ../session-* ../moved"
]

describe("a shell that rests", () => {
  inSession("is not taken for a damaged one by a program that was busy meanwhile", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const command = yield* Effect.fork(subject.run("echo on; sleep 0.5"))
      yield* Effect.sleep(100)
      // From here, node calls the timers that are due before it reads anything.
      yield* Effect.async<void>((resume) => {
        setImmediate(() => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500)
          resume(Effect.void)
        })
      })
      assert.deepStrictEqual(yield* Fiber.join(command), result({ stdout: "on\n" }))
      yield* assertKept(subject)
    })
  )
})

describe("a shell that was stopped while it was idle", () => {
  inSession("is given up, and the next command runs in a new one", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* subject.run("(sleep 0.2; kill -STOP $$; : >stopped) &")
      while (!Fs.existsSync(`${subject.directory}/kept here/stopped`)) yield* Effect.sleep(20)
      assert.deepStrictEqual(
        yield* subject.run("echo on"),
        result({ stdout: "on\n", diagnostics: stateLost(`${subject.directory}/kept here`) })
      )
    })
  )
})

describe("harm to the session's directory", () => {
  for (const harm of harms) {
    inSession(`${harm}: the next command runs all the same, or after a restart`, (subject) =>
      Effect.gen(function* () {
        yield* prepare(subject)
        yield* subject.run(`(cd "$TMPDIR"/synapse-*/session-* && { ${harm}; })`)
        yield* Effect.exit(subject.run("echo on", { timeout: 2000 }))
        yield* subject.session.restart
        for (const code of [0, 3]) {
          assert.deepStrictEqual(
            yield* subject.run(`echo on; exit ${code}`),
            result({ stdout: "on\n", exitCode: code }),
            harm
          )
        }
        yield* subject.run('rm -rf "$TMPDIR"/synapse-*/moved')
      })
    )
  }
})
