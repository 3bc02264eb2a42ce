/** Against a real bash: what runs in the background belongs to the session, and not to one of its shells. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  assertKept,
  eventually,
  inSession,
  keeps,
  marked,
  prepare,
  result,
  type Subject,
  stateLost,
  withSession
} from "../support/Session.js"

const alive = (mark: string, text: string) => marked(mark).filter((line) => line.includes(text)).length

/** Starts a process in the background, and gives its pid. */
const background = ({ mark, run }: Subject, command: string, line: string) =>
  Effect.gen(function* () {
    const { stdout } = yield* run(`${command} >/dev/null 2>&1 & echo $!`)
    yield* eventually(
      () => alive(mark, line),
      (count) => count > 0
    )
    return stdout.trim()
  })

/** However the shell ends, a process in the background goes on under its pid, and is a job. */
const outlives = (name: string, command: string, exitCode: number, isStateLost: boolean) =>
  inSession(name, (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const pid = yield* background(subject, "sleep 2001", "sleep 2001")
      const lost = isStateLost ? { diagnostics: stateLost(`${subject.directory}/kept here`) } : {}
      assert.deepStrictEqual(yield* subject.run(command), result({ exitCode, ...lost }))
      assert.deepStrictEqual(yield* subject.run(`kill -0 ${pid} && echo there`), result({ stdout: "there\n" }))
      assert.deepStrictEqual(
        (yield* subject.jobs.list).map(({ id, state }) => [id, state]),
        [[1, "running"]]
      )
      assert.deepStrictEqual(yield* subject.run("(exit 4); exit"), result({ exitCode: 4 }))
      assert.deepStrictEqual(yield* subject.run(`kill -0 ${pid} && kill ${pid}`), result())
      const ended = yield* eventually(
        () => subject.jobs.takeNews().filter(({ state }) => state !== "running"),
        (news) => news.length > 0
      )
      assert.deepStrictEqual(
        ended.map(({ exitCode, state }) => [state, exitCode]),
        [["ended", undefined]]
      )
    })
  )

describe("background processes outlive", () => {
  outlives("exit", "exit 1", 1, false)
  outlives("errexit", "set -e; (exit 5)", 5, false)
  outlives("exec of a program", "exec sh -c 'exit 8'", 8, true)
  outlives("a shell that is killed", "kill -9 $$", 137, true)
  outlives("a user's own EXIT trap", "trap : EXIT; exit 2", 2, false)

  inSession("the command that has started them, and ended its shell at once", (subject) =>
    Effect.gen(function* () {
      for (let i = 1; i <= 10; i++) {
        yield* subject.run("sleep 2006 >/dev/null 2>&1 & echo $!; exit")
        assert.deepStrictEqual(
          subject.jobs.takeNews().map(({ id, state }) => [id, state]),
          [[i, "running"]]
        )
      }
    })
  )

  inSession("twenty shells, in whatever way they were started", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      yield* background(subject, "nohup sleep 2011", "sleep 2011")
      yield* background(subject, "setsid sleep 2012", "sleep 2012")
      yield* subject.run("(setsid sleep 2013 >/dev/null 2>&1 &); sleep 2014 & disown")
      const supervisor = (yield* subject.run("echo $PPID")).stdout
      for (let i = 0; i < 20; i++) assert.strictEqual((yield* subject.run(`exit ${i}`)).exitCode, i)
      assert.strictEqual(alive(subject.mark, "sleep 201"), 4)
      assert.deepStrictEqual(yield* subject.run("echo $PPID $SHLVL"), {
        ...result(),
        stdout: `${supervisor.trim()} ${Number(process.env["SHLVL"] ?? 0) + 1}\n`
      })
      // The supervisor, its guard, the shell, and the four.
      assert.strictEqual(marked(subject.mark).length, 7)
      yield* assertKept(subject)
    })
  )
})

describe("the supervisor", () => {
  keeps("is out of reach for what a shell does to its own group", [
    ["trap '' TERM; kill -TERM 0; trap - TERM; kill -INT 0; echo no", { exitCode: 130 }],
    ["echo on", { stdout: "on\n" }]
  ])

  inSession("bears every signal but SIGKILL", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const pid = yield* background(subject, "setsid sleep 2031", "sleep 2031")
      const { stdout: supervisor } = yield* subject.run(
        "for s in HUP INT QUIT TERM USR1 USR2 ALRM PIPE VTALRM PROF XCPU XFSZ TSTP TTIN TTOU; do kill -$s $PPID; done; echo $PPID"
      )
      yield* subject.run("exit")
      assert.deepStrictEqual(yield* subject.run(`kill -0 ${pid}; echo $PPID`), result({ stdout: supervisor }))
      yield* assertKept(subject)
    })
  )

  inSession("is replaced where it is killed, and the processes go on", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const pid = yield* background(subject, "setsid sleep 2041", "sleep 2041")
      yield* subject.run("kill -9 $PPID; sleep 0.1")
      assert.strictEqual((yield* subject.run("echo on")).stdout, "on\n")
      assert.deepStrictEqual(yield* subject.run(`kill -0 ${pid}; kept='a  b'`), result())
      yield* subject.run("exit")
      yield* assertKept(subject)
      const shells = () => marked(subject.mark).filter((line) => line.includes("bash"))
      assert.strictEqual((yield* eventually(shells, (lines) => lines.length === 3)).length, 3, shells().join("\n"))
    })
  )

  inSession("goes on where a command has stopped it, and ends with the session", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (const command of ["exit 3", "kill -STOP $PPID; exit 3", "set -e; (exit 3)"]) {
        yield* subject.run("kill -STOP $PPID")
        assert.strictEqual((yield* subject.run(command)).exitCode, 3, command)
        assert.strictEqual((yield* subject.run("set +e; echo on")).stdout, "on\n")
      }
      yield* assertKept(subject)
      yield* subject.run("kill -STOP $PPID")
    })
  )

  inSession("hands nothing that a dead shell has not read to the next one", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      for (let i = 0; i < 20; i++) {
        yield* subject.run("(sleep 0.01; kill -9 $$) >/dev/null 2>&1 &")
        yield* Effect.sleep(i)
        yield* subject.run(`echo ${i} >>ran; sleep 0.02`)
      }
      assert.deepStrictEqual(yield* subject.run("uniq -d ran; kept='a  b'"), result())
      yield* assertKept(subject)
    })
  )

  it.live("reads no file that BASH_ENV names, and its shells do not either", () =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        process.env["BASH_ENV"] = "./own"
      }),
      () =>
        withSession(({ directory, run }) =>
          Effect.gen(function* () {
            Fs.writeFileSync(`${directory}/own`, "echo x >>ran\n")
            assert.deepStrictEqual(yield* run("bash -c :; ls"), result({ stdout: "own\n" }))
          })
        ),
      () => Effect.sync(() => delete process.env["BASH_ENV"])
    )
  )

  it.live("passes the environment on as it is", () =>
    withSession(
      ({ run }) =>
        Effect.gen(function* () {
          const shown = "f; printf '<%s>' \"$order\" \"$line\" \"$IFS\"; env | grep -c -e '^a-b=1$' -e '^fields=x$'"
          const expected = result({ stdout: "f of the environment\n<o><l>< \t\n>2\n" })
          assert.deepStrictEqual(yield* run(shown), expected)
          yield* run("kill -9 $$")
          assert.deepStrictEqual(yield* run(shown), expected)
        }),
      {
        environment: {
          "BASH_FUNC_f%%": "() { echo f of the environment\n}",
          "BASH_FUNC_read%%": "() { echo read; }",
          "BASH_FUNC_printf%%": '() { builtin printf "$@"; }',
          POSIXLY_CORRECT: "",
          TMOUT: "1",
          order: "o",
          line: "l",
          fields: "x",
          "a-b": "1"
        }
      }
    )
  )
})

describe("a wrapper that does not pass descriptor 3 on", () => {
  for (const [name, line] of [
    ["closes it", "exec 3>&-"],
    ["has a file there", "exec 3</etc/passwd"],
    ["has nothing to read there", "exec 3</dev/null"]
  ] as const) {
    it.live(`${name}: the process is the shell, and ends with it`, () =>
      withSession(({ directory }) => {
        const wrapper = Path.join(directory, "wrapper")
        Fs.writeFileSync(wrapper, `#!/bin/bash\n${line}\nexec /bin/bash "$@"\n`, { mode: 0o755 })
        return withSession(
          (subject) =>
            Effect.gen(function* () {
              yield* prepare(subject)
              assert.deepStrictEqual(yield* subject.run("exit 3"), result({ exitCode: 3 }))
              assert.deepStrictEqual(yield* subject.run("echo on; kill -9 $$"), {
                ...result({ stdout: "on\n", exitCode: 137 }),
                diagnostics: stateLost(`${subject.directory}/kept here`)
              })
              yield* subject.run("kept='a  b'")
              yield* assertKept(subject)
            }),
          { shellCommand: wrapper }
        )
      })
    )
  }
})

describe("a wrapper that ends the input", () => {
  /** A wrapper that passes each line on, unless the test tells it to end: once, on one that meets the condition. */
  const wrapper = (directory: string, condition: string) => {
    const path = Path.join(directory, "wrapper")
    const pass = `while IFS= read -r line; do [[ ${condition} ]] && rm '${directory}/end' && exit; printf '%s\\n' "$line"; done`
    Fs.writeFileSync(path, `#!/bin/bash\nexec /bin/bash "$@" < <(${pass})\n`, { mode: 0o755 })
    return path
  }

  it.live("keeps what a wrapper has started, though it holds the same input", () =>
    withSession(({ directory }) => {
      const shellCommand = Path.join(directory, "wrapper")
      const helper = `sleep 2053 <&0 >/dev/null 2>&1 & echo $! >'${directory}/helper'`
      Fs.writeFileSync(shellCommand, `#!/bin/bash\n${helper}; exec /bin/bash "$@"\n`, { mode: 0o755 })
      return withSession(
        (subject) =>
          Effect.gen(function* () {
            yield* prepare(subject)
            yield* subject.run("exit")
            yield* assertKept(subject)
            const pid = Fs.readFileSync(`${directory}/helper`, "utf8").trim()
            assert.deepStrictEqual(yield* subject.run(`kill -0 ${pid}`), result())
          }),
        { shellCommand }
      )
    })
  )

  for (const [name, condition, command] of [
    ["before a command's lines", `$line == "{ __synapse_"*`, "true"],
    ["before the line that asks for the next shell", "$line =~ ^[A-Za-z0-9_-]{11}$", "exit"]
  ] as const) {
    it.live(`${name}: a new supervisor follows at once, with the state, and runs the command once`, () =>
      withSession(({ directory }) =>
        withSession(
          (subject) =>
            Effect.gen(function* () {
              yield* prepare(subject)
              const pid = yield* background(subject, "sleep 2051", "sleep 2051")
              const supervisor = (yield* subject.run("echo $PPID")).stdout
              for (let i = 0; i < 3; i++) {
                Fs.writeFileSync(`${directory}/end`, "")
                yield* subject.run(command)
                assert.strictEqual((yield* subject.run("echo >>ran; cat ran")).stdout, "\n".repeat(i + 1))
                assert.isFalse(Fs.existsSync(`${directory}/end`))
                yield* assertKept(subject)
              }
              assert.notStrictEqual((yield* subject.run("echo $PPID")).stdout, supervisor)
              assert.deepStrictEqual(yield* subject.run(`kill ${pid}`), result())
              const shells = () => marked(subject.mark).filter((line) => line.includes("supervisor"))
              assert.isAtMost((yield* eventually(shells, (lines) => lines.length <= 3)).length, 3, shells().join("\n"))
            }),
          { shellCommand: wrapper(directory, `-e '${directory}/end' && ${condition}`) }
        )
      )
    )
  }
})
