import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inApp } from "../support/toolset/App.js"

/** The advice in `message` on a command that failed for sure. */
const help = (name: string) => `Bash(command="${name} --help") shows how to use ${name}.`
const missing = (name: string) =>
  `Bash(command="command:search ${name}") finds commands like it; Bash(command="${name} --help") shows how to use ${name}, where there is one.`
const foreign = (name: string, own: string) =>
  `Bash(command="${own} --help") shows how to use ${own}, the command here for ${name}.`
const near = (name: string, meant: string) =>
  `Bash(command="${meant} --help") shows how to use ${meant}, if ${name} was to be that.`
const program = (name: string) =>
  `Bash(command="help ${name}") (for the program of that name, Bash(command="${name} --help")) shows how to use ${name}.`

interface Row {
  readonly command: string
  /** What comes after the command's own output; `@` stands for the directory. */
  readonly remark: string
  /** What comes after `Command failed.` in the message. */
  readonly advice?: string
  /** Standard error, where the remark answers to it. */
  readonly stderr?: string
}

/** Commands that succeed, and what the result adds. */
const hidden: ReadonlyArray<readonly [command: string, remark: string]> = [
  ["bash -c 'echo x; exit 5' | cat", "[bash exited 5]"],
  ["(exit 3) | (exit 4) | cat", "[part 1 of the pipeline exited 3, part 2 of the pipeline exited 4]"],
  ["ls nosuch 2>/dev/null | cat && true | cat", "(no output)"],
  ["Read a | head -n 1", "[Read exited 127] did you mean read?"],
  ["true && gerp x | cat", "[gerp exited 127] did you mean grep?"],
  ["yes | head -n 1", ""],
  ["grep -c nosuch /dev/null | cat", ""],
  ["f() { return 4; }\nf | cat", "[f exited 4]"],
  ["f | cat; f | cat", "[f exited 4]"],
  ["IFS=3; false | cat", "(no output)"],
  ["unset IFS; false | cat", "[false exited 1]"],
  ["{ false | cat; } &> /dev/null & wait", "(no output)"]
]

const rows: ReadonlyArray<Row> = [
  // Commands that do not exist.
  {
    command: "gerp x",
    stderr: "bash: gerp: command not found\n",
    remark: "[exit 127] did you mean grep?",
    advice: near("gerp", "grep")
  },
  { command: "TodoWirte", remark: "[exit 127] did you mean TodoWrite?", advice: near("TodoWirte", "TodoWrite") },
  { command: "Read a", remark: "[exit 127] did you mean read?", advice: foreign("Read", "read") },
  { command: "Read --help", remark: "[exit 127] did you mean read?", advice: foreign("Read", "read") },
  {
    command: 'mcp__gh__list --state "open now"',
    remark: "[exit 127] did you mean mcp:gh:list?",
    advice: near("mcp__gh__list", "mcp:gh:list")
  },
  { command: "exprot A=1", remark: "[exit 127] did you mean export?", advice: near("exprot", "export") },
  { command: "no-such-program-here", remark: "[exit 127]", advice: missing("no-such-program-here") },
  // A directory of PATH that may not be read would make it 126.
  {
    command: "PATH=/usr/bin:/bin env no-such-program-here",
    remark: "[exit 127]",
    advice: missing("no-such-program-here")
  },
  { command: "true; mcp:none:x", remark: "[exit 127]" },
  { command: "x=$(mcp:none:x)", remark: "[exit 127]" },
  { command: "env mcp:none:x", remark: "[exit 127]" },
  {
    command: "PATH=/usr/bin:/bin env mcp:none:x",
    remark: "[exit 127] programs find mcp:none:x by the PATH of this shell: keep that, or call it in the line itself",
    advice: missing("mcp:none:x")
  },
  {
    command: 'x=$(head -c 200000 /dev/zero | tr "\\0" a); mcp:none:x "$x"',
    remark: "[exit 126] a program takes words of 128 KiB at most: use a pipe, a here-document or a file"
  },
  { command: "bash nofile.sh", remark: "[exit 127] (in @)" },
  // Files that do not exist.
  { command: "ls src/mian.ts", remark: "[exit 2] did you mean src/main.ts?", advice: help("ls") },
  {
    command: "cat scr/main.ts",
    stderr: "cat: scr/main.ts: No such file or directory\n",
    remark: "[exit 1] did you mean src/main.ts?",
    advice: help("cat")
  },
  { command: "cat ./SRC/main.ts", remark: "[exit 1] did you mean ./src/main.ts?", advice: help("cat") },
  { command: "cat nothing-like-it", remark: "[exit 1] (in @)", advice: help("cat") },
  { command: "cat /no/such/thing", remark: "[exit 1]", advice: help("cat") },
  { command: "cat < scr/main.ts", remark: "[exit 1] did you mean src/main.ts?" },
  { command: "(cd src && cat mian.ts)", remark: "[exit 1] (in @)" },
  { command: "echo hi > /no/such/thing", remark: "[exit 1]" },
  { command: "read scr/main.ts", remark: "[exit 1] did you mean src/main.ts?" },
  { command: "source nofile.sh", remark: "[exit 1] (in @)" },
  // The directory.
  { command: "cd src && cat nothing-like-it; r=$?; cd ..; (exit $r)", remark: "[exit 1] (in @)" },
  { command: "cd /no/such && make", remark: "[exit 1]", advice: help("cd") },
  { command: "cd scr", remark: "[exit 1] did you mean src?", advice: help("cd") },
  { command: "cd src/main.tx", remark: "[exit 1] (in @)", advice: help("cd") },
  // Exit codes with a meaning.
  {
    command: "read -p 'sure? ' y",
    remark: "[exit 1] nobody can be asked: read name <<< 'answer'",
    advice: help("read")
  },
  {
    command: "read -rp x y || false",
    remark: "[exit 1] nobody can be asked: read name <<< 'answer'",
    advice: help("read")
  },
  { command: "read -r y </dev/null", remark: "[exit 1]", advice: help("read") },
  { command: "grep nope a", remark: "[exit 1] no match", advice: help("grep") },
  { command: "grep -q nope a && echo yes", remark: "[exit 1] no match", advice: help("grep") },
  { command: "grep nope nothing-like-it", remark: "[exit 2] (in @)", advice: help("grep") },
  { command: "cat a | grep nope", remark: "[exit 1] no match" },
  { command: "diff a b", remark: "[exit 1] they differ", advice: help("diff") },
  { command: "cmp a b", remark: "[exit 1] they differ", advice: help("cmp") },
  { command: "test -f nope", remark: "[exit 1] false", advice: program("test") },
  { command: "[ -f nope ]", remark: "[exit 1] false", advice: program("[") },
  { command: "command -v no-such-program-here", remark: "[exit 1] not found", advice: help("command") },
  {
    command: "test 1 -eq x",
    stderr: "bash: test: x: integer expression expected\n",
    remark: "[exit 2]",
    advice: program("test")
  },
  { command: "echo a | xargs -n 1 false", remark: "[exit 123] a command that xargs ran failed" },
  { command: "false", remark: "[exit 1]", advice: program("false") },
  { command: "! true", remark: "[exit 1]" },
  // Signals, time, rights.
  { command: "sh -c 'kill -SEGV $$'", remark: "[exit 139] Segmentation fault" },
  { command: "sh -c 'kill -SEGV $$' && echo on", remark: "[exit 139] Segmentation fault" },
  { command: "(sh -c 'kill -KILL $$')", remark: "[exit 137] Killed (SIGKILL)" },
  { command: "sh -c 'exit 139'", remark: "[exit 139]" },
  {
    command: "timeout 0.01 sleep 5",
    remark: "[exit 124] timeout ended it; give it longer, or let it go on as a job, behind &"
  },
  { command: "./app.py", remark: "[exit 126]" },
  { command: "./a", remark: "[exit 126]" },
  { command: "./src", remark: "[exit 126]" },
  // What bash could not parse or expand.
  { command: "echo 'it's'", remark: "[exit 2] a ' has no end: close it, or use a here-document: <<'EOF'" },
  { command: 'echo "abc', remark: "[exit 2] a \" has no end: close it, or use a here-document: <<'EOF'" },
  { command: "x = 5", remark: "[exit 127] no blanks around the = of an assignment", advice: missing("x") },
  { command: "ls )", remark: "[exit 2]" },
  { command: "(set -u; echo $none)", stderr: "bash: none: unbound variable\n", remark: "[exit 1]" },
  { command: "echo ${none?gone}", remark: "[exit 1]" },
  { command: "echo $((1/0))", remark: "[exit 1]" },
  // Who failed.
  { command: "bash ls --no-such-option", remark: "[exit 2]", advice: help("ls") },
  { command: "bash -c 'exit 7'", remark: "[exit 7]" },
  { command: "exit 3", remark: "[exit 3]" },
  { command: "ls --no-such-option | cat && false", remark: "[exit 1]" },
  { command: "cat /no/such && ls", remark: "[exit 1]" },
  { command: "x=$(false)", remark: "[exit 1]" },
  { command: "f() { return 5; }; f", remark: "[exit 5]" },
  {
    command: "edit a",
    stderr:
      'edit: <old> is missing.\nUsage: edit <file> <old> <new> [--all] | --patch < <patch>\nBash(command="edit --help") shows more.\n',
    remark: "[exit 1]"
  },
  { command: "cd src; head -n 3 mian.ts", remark: "[exit 1] did you mean main.ts? (in @/src)", advice: help("head") }
]

describe("what a model reads of a command that failed", () => {
  inApp(
    "S16: is the command's own output, and one line that is known to be right",
    ({ cwd, handle, put }) =>
      Effect.gen(function* () {
        put("a", "a\n")
        put("b", "b\n")
        put("app.py", "print(1)\n")
        yield* handle({ command: "mkdir src && echo 1 > src/main.ts" })
        const seen: Array<unknown> = []
        const expected: Array<unknown> = []
        for (const { advice, command, remark, stderr } of rows) {
          const { extras, message, output } = yield* handle({ command })
          const own = `${extras.stdout}${extras.stderr}`
          seen.push([command, output, message, ...(stderr === undefined ? [] : [extras.stderr])])
          const said = advice === undefined ? "Command failed." : `Command failed. ${advice}`
          expected.push([command, own + remark.replace("@", cwd), said, ...(stderr === undefined ? [] : [stderr])])
        }
        assert.deepStrictEqual(seen, expected)
      }),
    false
  )

  inApp(
    "S18: is of a success the new directory only, where it changed",
    ({ cwd, handle }) =>
      Effect.gen(function* () {
        yield* handle({ command: "mkdir src" })
        const said = (command: string) => Effect.map(handle({ command }), ({ message, output }) => [output, message])
        const done = "Command executed successfully."
        assert.deepStrictEqual(yield* said("cd src"), [`(in ${cwd}/src)`, done])
        assert.deepStrictEqual(yield* said("cd ..; echo a; cd src"), ["a\n", done])
        assert.deepStrictEqual(yield* said("cd .. && ls"), [`src\n(in ${cwd})`, done])
        assert.deepStrictEqual(yield* said("true"), ["(no output)", done])
        const failed = yield* handle({ command: "cd src && cat nothing-like-it" })
        assert.strictEqual(failed.output, `cat: nothing-like-it: No such file or directory\n[exit 1] (in ${cwd}/src)`)
      }),
    false
  )

  inApp(
    "names who failed before the end of a pipeline that succeeded",
    ({ handle }) =>
      Effect.gen(function* () {
        for (const [command, remark] of hidden) {
          const { extras, isError, message, output } = yield* handle({ command })
          assert.deepStrictEqual(
            [command, output, isError, message],
            [command, `${extras.stdout}${extras.stderr}${remark}`, false, "Command executed successfully."]
          )
        }
      }),
    false
  )

  inApp("names each host that a part of a pipeline did not reach", ({ handle }) =>
    Effect.gen(function* () {
      const { extras } = yield* handle({ command: "type -P curl; cat /proc/net/dev | wc -l" })
      // Two lines are the heading, and one is the loopback's: there is a sandbox.
      if (extras.stdout?.endsWith("3\n") !== true) return
      const last = (command: string, count = 1) =>
        Effect.map(handle({ command }), ({ output }) => output.trimEnd().split("\n").slice(-count).join("\n"))
      const unreached = (host: string) => `sandbox: there is no network, so ${host} can't be reached.`
      const asked = (host: string) => ` Ask the user to run: synapse sandbox allow ${host}`
      const pipeline = "bash -c ': </dev/tcp/192.0.2.1/80' | cat"
      const first = `[bash exited 1]\n${unreached("192.0.2.1")}${asked("192.0.2.1")}`
      assert.strictEqual(yield* last(pipeline, 2), first)
      assert.strictEqual(yield* last(pipeline, 2), `[bash exited 1]\n${unreached("192.0.2.1")}`)
      assert.strictEqual(yield* last("bash -c ': </dev/tcp/127.0.0.1/1' | cat"), "[bash exited 1]")
      assert.strictEqual(yield* last("bash -c 'exit 7' | cat"), "[bash exited 7]")
      if (!extras.stdout.includes("curl")) return
      assert.strictEqual(yield* last("curl -s http://192.0.2.1 | cat"), unreached("192.0.2.1"))
      assert.strictEqual(
        yield* last("curl -s http://x.example | cat", 2),
        `[curl exited 6]\n${unreached("x.example")}${asked("--host x.example")}`
      )
      assert.strictEqual(yield* last("curl -s http://127.0.0.1:1 | cat"), "[curl exited 7]")
    })
  )

  inApp(
    "says how to go on where the time limit ended a command",
    ({ handle }) =>
      Effect.gen(function* () {
        const { message, output } = yield* handle({ command: "echo a; sleep 60", timeout: 300 })
        const reason = "Command execution timeout: it ran longer than 300 ms and was ended"
        assert.strictEqual(message, "Command timed out.")
        assert.strictEqual(
          output.split("\n")[1],
          `${reason}. To run longer, give timeout=<ms>, or yield=0, which makes it a job.`
        )
        for (const command of [
          "cat <<'EOF'\na\nEOF\nsleep 60 <<'EOF'\nb\nEOF",
          "sleep 60 # long",
          "sleep 60 & wait;"
        ]) {
          const { output } = yield* handle({ command, timeout: 300 })
          const [, before = "", after = ""] =
            /, or put it between a line (\{) and a line (\} >log 2>&1 &)$/.exec(output) ?? []
          const advised = yield* handle({ command: `${before}\n${command.replaceAll("60", "0")}\n${after}` })
          assert.strictEqual(advised.extras.exitCode, 0, output)
        }
      }),
    false
  )

  inApp("explains a rule of the sandbox once in a session", ({ cwd, handle }) =>
    Effect.gen(function* () {
      Fs.writeFileSync(`${cwd}/.env`, "A=1\n")
      const first = yield* handle({ command: "cat .env" })
      if (first.extras.blocked !== true) return
      assert.include(first.output, " Do not work around it")
      const second = yield* handle({ command: "cat .env" })
      assert.strictEqual(
        second.output,
        `sandbox: ${cwd}/.env is blocked by rule **/.env: on the blacklist (built in). The command was not run.`
      )
      assert.deepStrictEqual(second.extras, first.extras)
      const third = yield* handle({ command: 'f=.en; cat "${f}v"' })
      assert.match(
        third.output,
        /\n\[exit 1\] sandbox: \S+\.env is blocked by rule \*\*\/\.env: on the blacklist \(built in\)\.$/
      )
      const anew = yield* handle({ command: "cat .env", restart: true })
      assert.strictEqual(anew.output, first.output)
    })
  )

  inApp("says that no job was stopped where one of several does not exist", ({ handle }) =>
    Effect.gen(function* () {
      yield* handle({ command: "sleep 3091 &" })
      assert.strictEqual(
        (yield* handle({ command: "job:stop 1 9" })).output,
        "job:stop: there is no job 9. The only job is 1. Nothing was stopped."
      )
      const { extras } = yield* handle({ command: "job:stop 1" })
      assert.strictEqual(extras.exitCode, 0)
    })
  )
})
