import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { isRunning, run, start } from "../support/cli/Real.js"

const call = (id: string, command: string) => `${JSON.stringify({ id, name: "Bash", arguments: { command } })}\n`

const lines = (stdout: string) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** A duration that no other test sleeps for, so that the process can be told from others. */
const nap = (offset: number) => `${1000 + (process.pid % 5000) * 10 + offset}`

describe("synapse exec", () => {
  it("S34: passes on stdout, stderr and the exit code of a real command, and runs bash echo hi as echo hi", async () => {
    const command = "bash echo hi | cat; bash -c 'cd /tmp; pwd'; pwd; echo err >&2; nosuchcommand"
    const { exitCode, stderr, stdout } = await run(["exec", "--cwd", "/", command])
    assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 127, stdout: "hi\n/tmp\n/\n" })
    assert.match(stderr, /^err\nbash: .*nosuchcommand: command not found\n$/)
  })

  it("runs a script of the session's directory with a bash of its own", async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-test-"))
    try {
      fs.writeFileSync(path.join(directory, "build"), 'echo "built $1"; exit 3\n')
      const { exitCode, stdout } = await run(["exec", "--cwd", directory, "bash build all"])
      assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 3, stdout: "built all\n" })
    } finally {
      fs.rmSync(directory, { recursive: true })
    }
  })

  it("calls our commands from a script, though it loads them only then", async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-test-"))
    try {
      fs.mkdirSync(path.join(directory, ".agents/skills/pdf"), { recursive: true })
      const skill = "---\nname: pdf\ndescription: Reads.\n---\nText\n"
      fs.writeFileSync(path.join(directory, ".agents/skills/pdf/SKILL.md"), skill)
      const script = "env write f a; find . -name f -exec edit {} a b \\;; cat f; env skill:list | head -1\n"
      fs.writeFileSync(path.join(directory, "script"), `#!/bin/bash\n${script}`, { mode: 0o755 })
      const { exitCode, stderr, stdout } = await run(["exec", "--cwd", directory, "./script"])
      assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" })
      assert.match(stdout, /^Written 1 byte .*\n(?:.*\n)*bpdf/)
    } finally {
      fs.rmSync(directory, { recursive: true })
    }
  })

  it("passes on any bytes, and all of them to a slow reader", async () => {
    const running = start(["exec", "head -c 5000000 /dev/zero | tr '\\0' '\\377'; printf '\\0\\r\\n'"])
    running.child.stdin.end()
    running.child.stdout.pause()
    await new Promise((resolve) => running.child.once("spawn", resolve))
    running.child.stdout.resume()
    const { stdout } = await running.ended
    const expected = Buffer.concat([Buffer.alloc(5_000_000, 0xff), Buffer.from("\0\r\n")])
    const hash = (data: Buffer) => createHash("sha256").update(data).digest("hex")
    assert.strictEqual(hash(stdout), hash(expected))
  })

  it("shows output while the command runs, and ends quietly when nobody reads it any more", async () => {
    const { child, ended, says } = start(["exec", "yes"])
    await says("y")
    child.stdout.destroy()
    const { exitCode, stderr } = await ended
    assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 141, stderr: "" })
  })

  it("ends a command that runs out of its time with 124, and makes no home directory that is missing", async () => {
    const home = `/synapse-test-${process.pid}`
    const env = { HOME: home, SYNAPSE_HOME: "" }
    try {
      const { exitCode, stderr, stdout } = await run(["exec", "--timeout", "300", `echo hi; sleep ${nap(1)}`], "", env)
      assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 124, stdout: "hi\n" })
      assert.match(stderr, /^synapse: Command execution timeout/m)
      assert.isFalse(isRunning("sleep", nap(1)))
      assert.isFalse(fs.existsSync(home))
    } finally {
      fs.rmSync(home, { recursive: true, force: true })
    }
  })

  it("explains a wrong setting", async () => {
    const { exitCode, stderr, stdout } = await run(["exec", "true"], "", { SYNAPSE_COMMAND_TIMEOUT: "soon" })
    assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 2, stdout: "" })
    assert.strictEqual(stderr, "synapse: SYNAPSE_COMMAND_TIMEOUT=soon: must be a positive whole number\n")
  })
})

describe("the files of long outputs", () => {
  it("are not made by exec, whose session ends before anybody could read them", async () => {
    const { stdout } = await run(["exec", "--no-sandbox", "--json", "seq 20000"])
    const { extras, output } = JSON.parse(stdout)
    assert.isUndefined(extras.stdoutFile)
    assert.match(output, /\[… \d+ bytes left out; not kept …\]/)
  })
})

describe("synapse call", () => {
  it("S47 S48: keeps one shell for all calls, in their order, past one that is cancelled or out of its time", async () => {
    const { child, ended } = start(["call", "--timeout", "4000"])
    const marker = path.join(os.tmpdir(), `synapse-test-${process.pid}`)
    child.stdin.write(
      [
        call("1", "cd /tmp; x=kept"),
        call("2", 'pwd; echo "$x"'),
        call("3", "ls /no/such"),
        call("4", "nosuchcommand"),
        call("5", `echo begun; touch ${marker}; sleep ${nap(4)}`)
      ].join("")
    )
    while (!fs.existsSync(marker)) await new Promise((resolve) => setTimeout(resolve, 10))
    fs.rmSync(marker)
    child.stdin.end(`{"cancel":"5"}\n${call("6", "echo $x")}${call("7", `sleep ${nap(5)}`)}`)
    const { exitCode, stderr, stdout } = await ended
    assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" })
    const answers = lines(stdout.toString())
    assert.deepStrictEqual(
      answers.map(({ extras, isError, toolCallId }) => [
        toolCallId,
        isError,
        extras.exitCode,
        extras.stdout,
        extras.failureCategory
      ]),
      [
        ["1", false, 0, "", undefined],
        ["2", false, 0, "/tmp\nkept\n", undefined],
        ["3", true, 2, "", "execution_error"],
        ["4", true, 127, "", "command_not_found"],
        ["5", true, 130, "begun\n", undefined],
        ["6", false, 0, "kept\n", undefined],
        ["7", true, 124, "", "execution_error"]
      ]
    )
    assert.deepStrictEqual(answers.slice(4, 6), [
      {
        toolCallId: "5",
        isError: true,
        output: "begun\nCommand interrupted before it ended.",
        message: "Command interrupted.",
        extras: { exitCode: 130, stdout: "begun\n", stderr: "", interrupted: true }
      },
      {
        toolCallId: "6",
        isError: false,
        output: "kept\n",
        message: "Command executed successfully.",
        extras: { exitCode: 0, stdout: "kept\n", stderr: "" }
      }
    ])
    assert.strictEqual(answers[6].message, "Command timed out.")
    assert.match(answers[6].output, /^Command execution timeout:/)
    for (const time of [nap(4), nap(5)]) assert.isFalse(isRunning("sleep", time))
  })

  it("ends quietly when nobody reads its answers any more", async () => {
    const { child, ended, says } = start(["call"])
    child.stdin.write(call("1", "echo a"))
    await says("toolCallId")
    child.stdout.destroy()
    child.stdin.write(call("2", "echo b"))
    child.stdin.on("error", () => {})
    const { exitCode, stderr } = await ended
    assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 141, stderr: "" })
  })
})

describe("the program", () => {
  it("prints its version, and its help in no colour", async () => {
    const { exitCode, stdout } = await run(["--version"])
    assert.strictEqual(exitCode, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    assert.notInclude((await run(["exec", "--help"])).stdout, "\x1b")
  })

  it("gives completions that bash can read", async () => {
    const { exitCode, stdout } = await run(["--completions", "bash"])
    assert.strictEqual(exitCode, 0)
    assert.match(stdout, /^complete .*\bsynapse$/m)
    execFileSync("bash", ["-n"], { input: stdout })
  })

  it("says nothing of its insides when it is used wrongly", async () => {
    const { exitCode, stderr, stdout } = await run(["nosuch"])
    assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 2, stdout: "" })
    assert.notMatch(stderr, /\n\s+at /)
  })
})

describe("the file commands of synapse exec", () => {
  it("tell a person what to type", async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-test-"))
    try {
      fs.writeFileSync(path.join(directory, "long"), "line\n".repeat(2001))
      fs.writeFileSync(path.join(directory, "f"), 'Bash(command="ls f")\nUsage: read f\n')
      const command = "read ./long; edit f; edit f 'Usage: read g' x"
      const { stderr } = await run(["exec", "--no-sandbox", "--cwd", directory, command])
      const said =
        "read: ./long: lines 1–2000 of 2001: read ./long --offset 2000\n" +
        "edit: <old> is missing.\nUsage: edit <file> <old> <new> [--all] | --patch < <patch>\n`edit --help` shows more.\n"
      assert.strictEqual(stderr.slice(0, said.length), said)
      // What is in the file looks like ours, and stays as it is.
      assert.include(stderr, "\tUsage: read f\n")
    } finally {
      fs.rmSync(directory, { recursive: true })
    }
  })
})
