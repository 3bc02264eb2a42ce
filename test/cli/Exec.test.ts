import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ExecutionFailed } from "../../src/domain/CommandError.js"
import * as Diagnostic from "../../src/domain/Diagnostic.js"
import { UserEnvironment } from "../../src/domain/UserEnvironment.js"
import { run, runSandboxed } from "../support/cli/Program.js"

const usage = "Usage:\n  synapse exec [options] <command>\nHelp: synapse exec --help\n"

/** The settings of a session that ends with its only command. */
const endsAtOnce = { outputFileLimit: 0, maxJobs: 0, yield: 0 }

describe("synapse exec", () => {
  it.effect("passes on both streams and the exit code", () =>
    Effect.gen(function* () {
      const result = yield* run(["exec", "make all"], (command) => ({
        stdout: `out of ${command}\n`,
        stderr: "err\n",
        exitCode: 3
      }))
      assert.deepStrictEqual(result, {
        exitCode: 3,
        stdout: "out of make all\n",
        stderr: "err\n",
        settings: endsAtOnce
      })
    })
  )

  it.effect("makes settings of its options", () =>
    Effect.gen(function* () {
      const { exitCode, settings } = yield* run(["exec", "--cwd", "/tmp", "--timeout=500", "ls"])
      assert.deepStrictEqual(
        { exitCode, settings },
        { exitCode: 0, settings: { ...endsAtOnce, cwd: "/tmp", timeout: 500 } }
      )
    })
  )

  it.effect("says that commands reach any host, where they do", () =>
    Effect.gen(function* () {
      for (const command of ["exec", "call"]) {
        const { stderr } = yield* run([command, "--allow-network", ...(command === "exec" ? ["ls"] : [])])
        assert.match(stderr, /^synapse: --allow-network: commands reach any public host/)
      }
    })
  )

  it.effect("makes settings of its options, and leaves out those that were not given", () =>
    Effect.gen(function* () {
      const lists = {
        whitelist: [],
        readable: [],
        blacklist: [],
        env: [],
        sockets: [],
        allowedHosts: [],
        published: []
      }
      assert.deepStrictEqual((yield* runSandboxed(["exec", "ls"])).sandbox, { ...lists, allowNetwork: false })
      for (const [words, settings] of [
        [
          ["--allow", "docs", "--allow=test", "--allow-read", "package.json"],
          { whitelist: ["docs", "test"], readable: ["package.json"] }
        ],
        [["--deny", "*.pem", "--env", "MY_TOKEN"], { blacklist: ["*.pem"], env: ["MY_TOKEN"] }],
        [["--unix-sockets", "own", "--allow-socket", "s"], { unixSockets: "own", sockets: ["s"] }],
        [["--unix-sockets", "all", "--allow-host", "h"], { unixSockets: true, allowedHosts: ["h"] }],
        [["--allow-network", "--publish", "1:2"], { allowNetwork: true, published: [{ inside: 1, outside: 2 }] }],
        [["--temporary", "host"], { temporaryFiles: "host" }],
        [["--no-sandbox"], { enabled: false }]
      ] as const) {
        const { sandbox } = yield* runSandboxed(["exec", ...words, "ls"])
        assert.deepStrictEqual(sandbox, { ...lists, allowNetwork: false, ...settings })
      }
    })
  )

  it.effect("refuses what only a sandbox can follow where there is none", () =>
    Effect.gen(function* () {
      for (const [option, words] of [
        ["--deny", ["--no-sandbox", "--deny", "*.pem"]],
        ["--deny", ["--deny=*.pem", "--no-sandbox"]],
        ["--allow-network", ["--no-sandbox", "--allow-network"]],
        ["--allow", ["--no-sandbox", "--allow", "/tmp"]],
        ["--allow-read", ["--no-sandbox", "--allow-read", ".env"]],
        ["--env", ["--env", "MY_TOKEN", "--no-sandbox"]],
        ["--unix-sockets", ["--no-sandbox", "--unix-sockets", "all"]],
        ["--temporary", ["--no-sandbox", "--temporary", "host"]],
        ["--publish", ["--no-sandbox", "--publish", "3000"]],
        ["--ask terminal", ["--no-sandbox", "--ask", "terminal"]]
      ] as const) {
        const { exitCode, stderr } = yield* run(["exec", ...words, "ls"])
        assert.strictEqual(exitCode, 2)
        assert.include(stderr, `synapse: ${option} has no effect with --no-sandbox: leave one of them out.\n`)
      }
      const { exitCode } = yield* run(["exec", "--no-sandbox", "--ask", "never", "ls"])
      assert.strictEqual(exitCode, 0)
    })
  )

  it.effect("says itself what the command could not say", () =>
    Effect.gen(function* () {
      const timeout = yield* run(
        ["exec", "sleep 9"],
        () => new ExecutionFailed({ kind: "timeout", reason: "Command execution timeout: 5 ms" })
      )
      assert.deepStrictEqual(timeout, {
        exitCode: 124,
        stdout: "",
        stderr: "synapse: Command execution timeout: 5 ms\n",
        settings: endsAtOnce
      })
      const interrupted = yield* run(["exec", "sleep 9"], () => Effect.interrupt)
      assert.deepStrictEqual(
        [interrupted.exitCode, interrupted.stderr],
        [130, "synapse: Command interrupted before it ended.\n"]
      )
      const blockedReason = "Blocked by the sandbox: reading /secret"
      const blocked = yield* run(["exec", "cat $x"], () => ({
        exitCode: 1,
        stderr: "cat: /secret: Permission denied\n",
        blocked: true,
        blockedReason
      }))
      assert.deepStrictEqual(
        [blocked.exitCode, blocked.stderr],
        [1, `cat: /secret: Permission denied\nsynapse: ${blockedReason}\n`]
      )
      const passed = "sandbox: /x is read-only"
      const passing = yield* run(["exec", "touch /x; ls"], () => ({
        stderr: "touch: cannot touch '/x': Read-only file system\n",
        diagnostics: [Diagnostic.notice("Later output goes to /f"), Diagnostic.notice(passed, "denied")]
      }))
      assert.deepStrictEqual(
        [passing.exitCode, passing.stderr],
        [0, `touch: cannot touch '/x': Read-only file system\nsynapse: ${passed}\n`]
      )
      const unknown = yield* run(["exec", "mcp:nonexistent:tool"])
      assert.strictEqual(unknown.exitCode, 127)
      assert.match(unknown.stderr, /^synapse: Unknown MCP server: nonexistent /)
    })
  )

  it.effect("prints the result as one line of JSON", () =>
    Effect.gen(function* () {
      const { exitCode, stderr, stdout } = yield* run(["exec", "--json", "ls"], () => ({ stdout: "a\n", exitCode: 1 }))
      assert.deepStrictEqual(
        { exitCode, stderr, lines: stdout.split("\n").length },
        { exitCode: 1, stderr: "", lines: 2 }
      )
      assert.deepStrictEqual(JSON.parse(stdout), {
        toolCallId: "exec",
        isError: true,
        output: "a\n[exit 1]",
        message: 'Command failed. Bash(command="ls --help") shows how to use ls.',
        extras: { exitCode: 1, stdout: "a\n", stderr: "", failureCategory: "execution_error" }
      })
    })
  )

  it.effect("takes any text for the command after --", () =>
    Effect.gen(function* () {
      for (const command of ["-n foo", "--json", "-h", "--version", "exec", "a -- b", "--"]) {
        const { exitCode, stdout } = yield* run(["exec", "--", command], (received) => ({ stdout: received }))
        assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 0, stdout: command })
      }
      for (const command of ["json", "cwd", "a=b", "exec", "ls --json"]) {
        assert.strictEqual((yield* run(["exec", command], (received) => ({ stdout: received }))).stdout, command)
      }
    })
  )

  it.effect("takes no command for the value of a flag", () =>
    Effect.gen(function* () {
      for (const command of ["true", "no", "on", "0"]) {
        for (const flag of ["--json", "--no-sandbox"]) {
          const forms = [
            [flag, command],
            ...(command === "true"
              ? [
                  [command, flag],
                  ["--timeout", "5", flag, command]
                ]
              : [])
          ]
          for (const args of forms) {
            const { exitCode, stdout } = yield* run(["exec", ...args], (received) => ({ stdout: received }))
            const said = flag === "--json" ? JSON.parse(stdout).output : stdout
            assert.deepStrictEqual({ exitCode, said }, { exitCode: 0, said: command }, args.join(" "))
          }
        }
      }
      assert.strictEqual((yield* run(["exec", "--json=false", "true"], () => ({ stdout: "plain" }))).stdout, "plain")
    })
  )

  it.effect("makes no files of output and no jobs, which would be gone when its result is read", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* run(["exec", "--json", "ls"])).settings, endsAtOnce)
      assert.deepStrictEqual((yield* run(["exec", "ls"])).settings, endsAtOnce)
    })
  )

  it.effect("says which allowed paths do not exist", () =>
    Effect.gen(function* () {
      const { exitCode, stderr } = yield* run([
        "exec",
        "--allow",
        "nodir",
        "--allow",
        "docs",
        "--allow",
        "~/nodir",
        "--allow-read",
        "/nodir/.env",
        "ls"
      ])
      assert.deepStrictEqual(
        [exitCode, stderr],
        [
          0,
          "synapse: --allow nodir: no such file or directory\nsynapse: --allow-read /nodir/.env: no such file or directory\n"
        ]
      )
    })
  )

  it.effect("looks for allowed paths from the directory of the client", () =>
    Effect.gen(function* () {
      const client = { variables: process.env, umask: undefined, directory: () => `${process.cwd()}/docs` }
      const { stderr } = yield* run(["exec", "--allow", "allow.md", "--allow", "src", "ls"]).pipe(
        Effect.provideService(UserEnvironment, client)
      )
      assert.strictEqual(stderr, "synapse: --allow src: no such file or directory\n")
    })
  )

  it.effect("refuses wrong usage with the reason and the usage, and makes no shell", () =>
    Effect.gen(function* () {
      const reasons: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [[], "The command is missing."],
        [[" "], "The command is empty."],
        [["--env", "BASH_ENV", "ls"], "--env: BASH_ENV can't be let through: it would disturb the session."],
        [["ls", "-la"], "The command is one argument, and there are 2. Quote it: synapse exec -- 'ls -la'"],
        [
          ["--", "echo", "it's"],
          "The command is one argument, and there are 2. Quote it: synapse exec -- 'echo it'\\''s'"
        ],
        [
          ["--bogus", "ls"],
          "Unknown option --bogus: there are --cwd, --timeout, --no-sandbox, --allow, --allow-read, --deny, --env, --unix-sockets, --allow-socket, --allow-host, --allow-network, --publish, --temporary, --ask, --session, --json. A command that begins with a dash is given after --."
        ],
        [
          ["-x"],
          "Unknown option -x: there are --cwd, --timeout, --no-sandbox, --allow, --allow-read, --deny, --env, --unix-sockets, --allow-socket, --allow-host, --allow-network, --publish, --temporary, --ask, --session, --json. A command that begins with a dash is given after --."
        ],
        [["--cwd", "/", "--cwd", "/usr", "pwd"], "--cwd is given twice."],
        [["--json", "ls", "--json=yes"], "--json is given twice."],
        [["--json=yes", "ls"], '--json stands alone, or is --json=true or --json=false; it was "--json=yes".'],
        [
          ["--timeout", "0", "ls"],
          '--timeout must be a whole number of milliseconds from 1 to 2147483647; it was "0".'
        ],
        [
          ["--timeout", "x", "ls"],
          '--timeout must be a whole number of milliseconds from 1 to 2147483647; it was "x".'
        ],
        [
          ["--publish", "80:65536", "ls"],
          '--publish must be a port, or two: 3000:8080 opens port 3000 of the sandbox at 8080; it was "80:65536".'
        ],
        [["ls", "--timeout"], "--timeout needs a value after it."],
        [["--ask", "maybe", "ls"], '--ask must be one of never, terminal; it was "maybe".'],
        [["--deny", "", "ls"], '--deny must not be empty; it was "".'],
        [["--deny", "--", "ls"], "--deny needs a value after it."],
        [["--cwd", "/no/such", "ls"], '--cwd must be a directory that exists; it was "/no/such".']
      ]
      for (const [args, reason] of reasons) {
        assert.deepStrictEqual(yield* run(["exec", ...args]), {
          exitCode: 2,
          stdout: "",
          stderr: `synapse: ${reason}\n${usage}`,
          settings: undefined
        })
      }
    })
  )
})
