/** Against a real bash: what reads standard input between two commands takes nothing from the session. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ProcessTable from "../../src/session/ProcessTable.js"
import { assertKept, inSession, keeps, marked, prepare, result, started } from "../support/Session.js"
import { notices, told } from "../support/Told.js"

const until = (isSo: () => boolean) => Effect.repeat(Effect.delay(Effect.sync(isSo), 20), { until: (so) => so })

/** Tests whether all processes of a session wait for something. */
const areAsleep = (mark: string) =>
  marked(mark).every((line) => ProcessTable.stat(Number(line.split(" ")[0]))?.state === "S")

const readers = ["cat", "read x", "$(cat)"]

/** Sets the hook, and gets right answers after it, once each. */
const survives = (name: string, hook: string, after = "") =>
  inSession(name, (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      assert.deepStrictEqual(yield* subject.run(hook), result(), hook)
      if (after !== "") yield* subject.run(after)
      // Also on a busy machine, what the hook has started ends before the next command begins.
      yield* Effect.sleep(300)
      for (const code of [0, 3, 0]) {
        const { exitCode, stderr, stdout } = yield* subject.run(`echo once >> ran; echo on; (exit ${code})`)
        assert.deepStrictEqual({ exitCode, stderr, stdout }, { exitCode: code, stderr: "", stdout: "on\n" })
      }
      assert.strictEqual((yield* subject.run("cat ran; trap - CHLD USR1 ALRM")).stdout, "once\n".repeat(3))
      yield* assertKept(subject, { withNotices: false })
    })
  )

describe("what reads standard input between commands", () => {
  for (const reader of readers) {
    survives(`PROMPT_COMMAND: ${reader}`, `PROMPT_COMMAND=${JSON.stringify(reader).replaceAll("$", "\\$")}`)
  }
  survives("PS0, PS1 and PS2", "PS0='$(cat)' PS1='$(cat)' PS2='$(cat)'")
  survives("a trap on DEBUG", "trap cat DEBUG")
  survives("a trap on DEBUG, in all that is sourced", "trap 'read x' DEBUG; set -T", "set +T")
  survives("a trap on RETURN", "trap cat RETURN")
  survives("a trap on ERR", "trap cat ERR")
  for (const [name, hook, isSure] of [
    ["a trap", "trap ': >eats; while :; do cat; done' USR1; (sleep 0.02; kill -USR1 $$) & disown", true],
    ["a trap on CHLD", "trap 'read -N 9000 x' CHLD; sleep 0.02 &", true],
    // A child of no shell: it has left its parents, its group and its session.
    [
      "a process in the background",
      "eat() { setsid cat <&0 >/dev/null & }; trap ': >eats; (eat)' USR1; (sleep 0.02; kill -USR1 $$) & disown",
      false
    ]
  ] as const) {
    inSession(`${name} that takes lines costs the shell, and no command is lost or runs twice`, (subject) =>
      Effect.gen(function* () {
        yield* subject.run(hook)
        yield* until(() => !marked(subject.mark).some((line) => line.includes("sleep 0.02")))
        // A trap on CHLD waits for the shell's next line, the others for one of their own.
        if (hook.includes(">eats")) {
          yield* until(() => Fs.existsSync(`${subject.directory}/eats`) && areAsleep(subject.mark))
        }
        const { diagnostics, exitCode, stdout } = yield* subject.run("echo once >> ran; echo on; (exit 3)")
        assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 3, stdout: "on\n" })
        // The shell may be faster than a process in the background.
        if (isSure) assert.match(notices({ diagnostics })?.join() ?? "", /variables, functions and options are lost/)
        assert.strictEqual((yield* subject.run("cat ran")).stdout, "once\n")
      })
    )
  }

  inSession("a cancelled command's PROMPT_COMMAND", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const { fiber, interrupted } = yield* started(subject, "PROMPT_COMMAND=cat; echo on; sleep 1000")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(
        interrupted.map(({ exitCode, stdout }) => ({ exitCode, stdout })),
        [{ exitCode: 130, stdout: "on\n" }]
      )
      yield* assertKept(subject)
    })
  )

  keeps("PROMPT_COMMAND never runs, and is gone after its command", [
    ["PROMPT_COMMAND='echo x >> ran'; echo \"$PROMPT_COMMAND\"", { stdout: "echo x >> ran\n" }],
    ["echo ${PROMPT_COMMAND-unset}; ls", { stdout: "unset\n" }]
  ])
})

const removed = (names: string) =>
  told(`No alias may have the name of a reserved word that the session needs: removed ${names}.`)

describe("aliases with the names of reserved words", () => {
  const all = ["{", "}"]
  for (const word of all) {
    keeps(word, [
      [`alias ${word}=mine; (exit 7)`, { exitCode: 7, diagnostics: removed(word) }],
      ["for i in 1 2; do { echo $i; }; done; (exit 4)", { stdout: "1\n2\n", exitCode: 4 }]
    ])
  }
  keeps("all at once", [
    [
      `alias ${all.map((word) => `${word}=x`).join(" ")}; (exit 7)`,
      { exitCode: 7, diagnostics: removed(all.join(", ")) }
    ],
    ["alias; echo $?; (exit 6)", { stdout: "0\n", exitCode: 6 }],
    ["echo on", { stdout: "on\n" }]
  ])
  keeps("after an interrupt", [
    ["alias {=x }=y; kill -INT $$", { exitCode: 130 }],
    ["echo on", { stdout: "on\n" }]
  ])
  keeps("all other words of the shell", [
    [
      "alias if=x then=x elif=x else=x fi=x case=x esac=x for=x while=x until=x do=x done=x select=x in=x function=x time=x '[[=x' ']]=x' '!=x' coproc=x",
      {}
    ],
    ["echo on; (exit 3)", { stdout: "on\n", exitCode: 3 }],
    ["exit 4", { exitCode: 4 }],
    ["nosuch", { exitCode: 127, notFound: "nosuch", stderr: "bash: nosuch: command not found\n" }]
  ])
})

describe("huge variables of the shell's own", () => {
  for (const name of ["PWD", "OLDPWD", "REPLY", "_", "PS1", "IFS"]) {
    inSession(name, (subject) =>
      Effect.gen(function* () {
        yield* prepare(subject)
        const there = `${subject.directory}/kept here`
        yield* subject.run(`printf -v ${name} %9000000s x`)
        assert.deepStrictEqual(yield* subject.run("echo on; (exit 3)"), result({ stdout: "on\n", exitCode: 3 }))
        assert.strictEqual(yield* subject.session.cwd, there)
        yield* subject.run('unset REPLY IFS; builtin cd /; builtin cd -- "$OLDPWD"; PWD=/nowhere')
        yield* subject.run(`builtin cd -- '${there}'`)
        yield* assertKept(subject)
      })
    )
  }
})
