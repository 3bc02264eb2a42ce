/** What runs as a program differs in nothing from one that the shell runs itself. */
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { CommandHandler, Program } from "../../src/command/CommandHandler.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as Handlers from "../support/Handlers.js"
import { assertKept, prepare, result, type Subject, started, withSession } from "../support/Session.js"

/** `go:<file>` runs the file of that name in the directory; `go:by:<program>` a program by its name. */
const go = (directory: () => string): CommandHandler => ({
  name: "go:*",
  summary: "Runs a file.",
  usage: "go:<file>",
  program: ({ args, name }): Effect.Effect<Program | undefined> => {
    const [, file = "", program = ""] = name.split(":")
    // @effect-diagnostics-next-line effectSucceedWithVoid:off
    if (file === "none") return Effect.succeed(undefined)
    if (file === "for") {
      const [, , , word = ""] = name.split(":")
      return Effect.succeed({ names: ["echo"], args: [word], file: `${directory()}/${program}` })
    }
    if (file === "by") return Effect.succeed({ names: program.split("+"), args })
    return Effect.succeed({ names: [`${directory()}/${file}`], args })
  },
  run: () => Effect.succeed(CommandResult.make({ stdout: "no program\n" }))
})

const script = (directory: string, name: string, text: string) =>
  Fs.writeFileSync(`${directory}/${name}`, `#!/bin/bash\n${text}\n`, { mode: 0o755 })

const inShell = (name: string, use: (subject: Subject) => Effect.Effect<unknown, unknown>) =>
  it.live(
    name,
    () => {
      let directory = ""
      return withSession(
        (subject) => {
          directory = subject.directory
          return use(subject)
        },
        {},
        [go(() => directory), Handlers.misuse]
      )
    },
    60_000
  )

/** A test that a line gives the same with `./<file>` as with `go:<file>`, for which `@` stands. */
const alike = (name: string, file: string, lines: ReadonlyArray<string>) =>
  inShell(name, ({ directory, run }) =>
    Effect.gen(function* () {
      script(directory, "run", file)
      for (const line of lines) {
        const expected = yield* run(line.replaceAll("@", "./run"))
        const given = yield* run(line.replaceAll("@", "go:run"))
        assert.deepStrictEqual(given, expected, line)
        assert.notStrictEqual(`${given.stdout}${given.stderr}${given.exitCode}`, "0", line)
      }
    })
  )

describe("a call that runs as a program", () => {
  alike("gets its words as they are", `printf '<%s>' "$@" | od -c`, [
    "@",
    "@ '' ''",
    `@ 'a  b' $'x\\ny\\n' '$(touch no)' '\`touch no\`' ';' '&' '|' '*' "it's" '\\' -- -x --help`,
    "@ $'\\xff\\xfe' $'a\\x80b' 'ä€😀' $'\\ud83d' $'\\1\\2\\33[31m'",
    "@ {1..3000} | tail -3",
    `@ "$(printf '%0100000d' 0)" | tail -3`
  ])
  alike("has the caller's environment", `env -0 | sort -z | grep -zv '^_=' | tr '\\0' '\\n'`, [
    "@",
    "A=1 export B=2; A='x y' @",
    "unset LC_ALL; @; LC_ALL= @; LC_ALL=C.UTF-8 @; LC_ALL=POSIX; @; export LC_ALL; @; unset LC_ALL",
    "(readonly LC_ALL; @); (readonly LC_ALL=POSIX; @); (export LC_ALL=C.UTF-8; readonly LC_ALL; @); (set -o posix; LC_ALL=C.UTF-8; @)",
    "f() { echo f; }; export -f f; @; unset -f f",
    "OLDPWD=/ @; unset OLDPWD; @; SHLVL=7 @; (unset SHLVL; @)",
    "mkdir -p d; cd d; cp ../run .; @; cd ..; PATH=/usr/bin:/bin @; export BASH_ENV=/nowhere; @; unset BASH_ENV"
  ])
  alike(
    "has the caller's descriptors, signals, limits and mask",
    `ls -l /proc/self/fd | grep -v 'proc/' | sed -n 's/.* \\([0-9]* -> \\).*/\\1/p'; grep -E '^Sig(Ign|Blk)' /proc/self/status; umask; ulimit -a | grep -Ev 'pending|real-time'`,
    [
      "@",
      "@ 3>&1 | cat",
      "trap '' USR1; @; trap - USR1",
      "umask 077; @; umask 022",
      "(ulimit -Sn 100; @)",
      "trap : INT; @; trap - INT"
    ]
  )
  alike("ends as it ends, in any line", `cat >/dev/null; exit "\${1:-0}"`, [
    "@ 3; echo $?",
    "if @ 1; then echo yes; else echo no; fi",
    "@ 4 | cat; echo ${PIPESTATUS[0]}; set -o pipefail; @ 4 | cat; echo $?; set +o pipefail",
    "x=$(@ 5); echo $?; (set -e; @ 6; echo not here); echo $?",
    "for i in 1 2 3; do @ $i; echo $?; done",
    "@ 7 & wait $!; echo $?",
    "! @ 1; echo $?; @ 0 && echo and; @ 1 || echo or"
  ])
  alike("reads its standard input, and writes as it goes", "cat; echo err >&2", [
    "echo in | @ 2>/dev/null",
    "@ <<<here 2>&1 | tr e E",
    "head -c 3000000 /dev/zero | @ 2>/dev/null | cksum",
    "printf 'a\\nb\\n' | while read -r l; do echo \"$l\" | @; done",
    "@ <&-; echo $?",
    "@ </dev/null >&-; echo $?"
  ])
  alike(
    "ends by a signal, and by a closed pipe",
    'case $1 in yes) while echo y; do :; done 2>/dev/null;; *) kill -"$1" $$;; esac',
    [
      "@ TERM 2>/dev/null; echo $?",
      "@ KILL 2>/dev/null; echo $?",
      "@ INT 2>/dev/null; echo $?",
      "@ yes | head -2; echo ${PIPESTATUS[0]}"
    ]
  )

  inShell("says nothing of its own where it dies by a signal", ({ directory, run }) =>
    Effect.gen(function* () {
      script(directory, "run", "kill -KILL $$")
      const { exitCode, stderr } = yield* run("go:run")
      assert.deepStrictEqual([exitCode, stderr.includes("synapse")], [137, false], stderr)
    })
  )

  inShell("is run by functions, subshells and eval", ({ directory, run }) =>
    Effect.gen(function* () {
      script(directory, "run", 'echo "[$*]"')
      const { stdout } = yield* run('f() { go:run f "$@"; }; f x; (go:run sub); go:none; eval \'go:run "a b"\'')
      assert.strictEqual(stdout, "[f x]\n[sub]\nno program\n[a b]\n")
    })
  )

  inShell("is looked up in the caller's PATH, by the first of its names that is there", ({ directory, run }) =>
    Effect.gen(function* () {
      Fs.mkdirSync(`${directory}/bin`)
      script(`${directory}/bin`, "mine", 'echo "mine $*"')
      assert.deepStrictEqual(
        yield* run("PATH=$PWD/bin:$PATH go:by:nosuch+mine a; PATH=$PWD/bin:$PATH; go:by:mine b"),
        result({ stdout: "mine a\nmine b\n" })
      )
      const missing = yield* run("go:by:nosuch+nothing x")
      assert.deepStrictEqual(
        [missing.exitCode, missing.category, missing.stderr],
        [127, "command_not_found", "go:by:nosuch+nothing: there is no nosuch and no nothing here.\n"]
      )
      Fs.writeFileSync(`${directory}/plain`, "")
      Fs.writeFileSync(`${directory}/seen`, "")
      const denied = yield* run("go:plain")
      assert.deepStrictEqual(
        [denied.exitCode, denied.stderr],
        [126, `go:plain: ${directory}/plain: Permission denied\n`]
      )
      assert.deepStrictEqual(yield* run("go:for:seen:a"), result({ stdout: "a\n" }))
      const hidden = yield* run("go:for:hidden:b")
      assert.deepStrictEqual(
        [hidden.stdout, hidden.exitCode, hidden.category, hidden.stderr],
        [
          "",
          127,
          "command_not_found",
          `go:for:hidden:b: commands do not see ${directory}/hidden: it is gone, or the sandbox hides it, which has a /tmp and a /var/tmp of its own.\n`
        ]
      )
      assert.match((yield* run("go:gone")).stderr, /^go:gone: there is no \/.*\/gone here\.\n$/)
    })
  )

  inShell("gives its place back at once, and the line has the category of its last call", ({ directory, run }) =>
    Effect.gen(function* () {
      script(directory, "run", 'echo up; read -r -t 30 <"$1"; exit 1')
      Fs.writeFileSync(`${directory}/true`, "#!/bin/sh\n", { mode: 0o755 })
      // More than there are places for calls at one time.
      const many = yield* run(
        "mkfifo f; exec 9<>f; for ((i = 0; i < 80; i++)); do go:run f & done | head -80 | wc -l; exec 9>&-; rm f; pkill -P $$ -f '/run f$'; true"
      )
      assert.strictEqual(many.stdout, "80\n")
      const { category, exitCode } = yield* run("go:true; misuse")
      assert.deepStrictEqual([exitCode, category], [1, "invalid_usage"])
    })
  )

  inShell("is ended with its line", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      script(`${subject.directory}/kept here`, "x", "")
      script(subject.directory, "run", "echo up; sleep 60")
      const timed = yield* Effect.flip(subject.run("go:run", { timeout: 500 }))
      assert.deepStrictEqual([timed._tag, "stdout" in timed ? timed.stdout : ""], ["ExecutionFailed", "up\n"])
      const { fiber } = yield* started(subject, "go:run | cat")
      yield* fiber.interruptAsFork(fiber.id())
      assert.strictEqual((yield* fiber.await)._tag, "Failure")
      yield* assertKept(subject)
    })
  )
})
