/** Against a real bash under programs that start it. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import {
  assertKept,
  eventually,
  inSession,
  marked,
  prepare,
  result,
  started,
  stateLost,
  withSession
} from "../support/Session.js"

/** A program of that name on a PATH of the test's own. */
const program = (directory: string, name: string, text: string): string => {
  Fs.writeFileSync(Path.join(directory, name), text, { mode: 0o755 })
  return Path.join(directory, name)
}

const wrappers: ReadonlyArray<readonly [name: string, shellCommand: (directory: string) => string]> = [
  ["no wrapper", () => "/bin/bash"],
  ["bash found on PATH", () => "bash"],
  ["env", () => "env WRAPPED=yes /bin/bash"],
  ["nice", () => "nice -n 1 /bin/bash"],
  ["timeout", () => "timeout 1000 /bin/bash"],
  ["setsid", () => "setsid -w /bin/bash"],
  ["nice, timeout and env", () => "nice -n 1 timeout 1000 env WRAPPED=yes /bin/bash"],
  ["a script that execs", (directory) => `'${program(directory, "my shell", '#!/bin/sh\nexec /bin/bash "$@"\n')}'`],
  ["a script that waits", (directory) => `'${program(directory, "my shell", '#!/bin/sh\n/bin/bash "$@"\nexit $?\n')}'`]
]

describe("shellCommand", () => {
  for (const [name, shellCommand] of wrappers) {
    it.live(
      `S27: under ${name}, commands give their output and exit codes`,
      () =>
        withSession(({ directory }) =>
          withSession(
            (subject) =>
              Effect.gen(function* () {
                yield* prepare(subject)
                assert.deepStrictEqual(yield* subject.run("echo hello"), result({ stdout: "hello\n" }))
                assert.deepStrictEqual(
                  yield* subject.run("echo oops >&2; (exit 7)"),
                  result({ stderr: "oops\n", exitCode: 7 })
                )
                assert.deepStrictEqual(
                  yield* subject.run("nosuch"),
                  result({
                    stderr: "bash: nosuch: command not found\n",
                    exitCode: 127,
                    notFound: "nosuch"
                  })
                )
                assert.deepStrictEqual(yield* subject.run("exit 4"), result({ exitCode: 4 }))
                yield* assertKept(subject)
              }),
            { shellCommand: shellCommand(directory) }
          )
        ),
      60_000
    )

    it.live(
      `S27: under ${name}, a command is cancelled and the shell stays`,
      () =>
        withSession(({ directory }) =>
          withSession(
            (subject) =>
              Effect.gen(function* () {
                yield* prepare(subject)
                for (const command of [
                  "sleep 1000",
                  "while :; do :; done",
                  "sleep 0.01 | sleep 1000",
                  "(trap '' INT; sleep 1000)"
                ]) {
                  const { fiber, interrupted } = yield* started(subject, `printf on; ${command}; printf no`)
                  yield* Fiber.interrupt(fiber)
                  assert.deepStrictEqual(interrupted, [result({ stdout: "on", exitCode: 130 })])
                  const left = yield* eventually(
                    () => marked(subject.mark).filter((line) => line.includes("sleep")),
                    (lines) => lines.length === 0
                  )
                  assert.deepStrictEqual(left, [])
                }
                yield* assertKept(subject)
              }),
            { shellCommand: shellCommand(directory) }
          )
        ),
      60_000
    )
  }

  const alone: ReadonlyArray<readonly [name: string, command: string, exitCode: number]> = [
    ["the supervisor and its shell", "kill -9 $PPID $$", 137],
    ["the supervisor alone", "kill -9 $PPID; while :; do sleep 0.1; done", 137]
  ]
  for (const [name, command, exitCode] of alone) {
    it.live(
      `a wrapper that outlives ${name} does not hide that the shell has ended`,
      () =>
        withSession(({ directory }) =>
          withSession(
            (subject) =>
              Effect.gen(function* () {
                yield* prepare(subject)
                const there = `${subject.directory}/kept here`
                const { diagnostics, ...seen } = yield* subject.run(command)
                assert.deepStrictEqual(seen, result({ exitCode }))
                assert.deepStrictEqual(diagnostics?.slice(0, 1), stateLost(there))
                assert.deepStrictEqual(yield* subject.run("pwd; kept='a  b'"), result({ stdout: `${there}\n` }))
                yield* assertKept(subject)
              }),
            { shellCommand: program(directory, "stays", '#!/bin/sh\n/bin/bash "$@"\nexec sleep 1000\n') }
          )
        ),
      60_000
    )
  }

  it.live(
    "S26: the program that shellCommand names is spawned with its arguments in order, then the shell's options",
    () =>
      withSession(({ directory }) =>
        Effect.gen(function* () {
          const record = Path.join(directory, "arguments")
          const sandboxExec = `#!/bin/sh\nprintf '%s\\n' "$@" > '${record}'\nshift 2\nexec "$@"\n`
          const found = Path.dirname(program(directory, "sandbox-exec", sandboxExec))
          const before = process.env["PATH"]
          process.env["PATH"] = `${found}:${before}`
          yield* withSession(
            ({ run }) =>
              Effect.map(run("echo hello"), (got) => assert.deepStrictEqual(got, result({ stdout: "hello\n" }))),
            {
              shellCommand: "sandbox-exec -f /tmp/test.sb /bin/bash"
            }
          ).pipe(Effect.ensuring(Effect.sync(() => (process.env["PATH"] = before))))
          assert.deepStrictEqual(Fs.readFileSync(record, "utf8").split("\n").slice(0, 5), [
            "-f",
            "/tmp/test.sb",
            "/bin/bash",
            "--norc",
            "--noprofile"
          ])
        })
      ),
    60_000
  )

  inSession("S25: the default is /bin/bash", ({ run }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("readlink -f /proc/$$/exe; readlink -f /bin/bash | cat"), {
        ...result(),
        stdout: `${Fs.realpathSync("/bin/bash")}\n`.repeat(2)
      })
    })
  )
})
