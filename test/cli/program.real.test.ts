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
  it("passes on stdout, stderr and the exit code of a real command", async () => {
    assert.deepStrictEqual(await run(["exec", "--cwd", "/", "pwd; echo err >&2; exit 3"]), {
      exitCode: 3,
      stdout: "/\n",
      stderr: "err\n"
    })
    const missing = await run(["exec", "nosuchcommand"])
    assert.deepStrictEqual({ ...missing, stderr: "" }, { exitCode: 127, stdout: "", stderr: "" })
    assert.match(missing.stderr, /^bash: .*nosuchcommand: command not found\n$/)
  })

  it("S34: runs bash echo hi as echo hi", async () => {
    assert.deepStrictEqual(await run(["exec", "bash echo hi | cat"]), { exitCode: 0, stdout: "hi\n", stderr: "" })
  })

  it("runs a script of the session's directory, and bash -c, with a bash of its own", async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-test-"))
    try {
      fs.writeFileSync(path.join(directory, "build"), 'echo "built $1"\n')
      assert.strictEqual((await run(["exec", "--cwd", directory, "bash build all"])).stdout, "built all\n")
      assert.strictEqual(
        (await run(["exec", "--cwd", directory, "bash -c 'cd /; pwd'; pwd"])).stdout,
        `/\n${directory}\n`
      )
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

  it("ends a command that runs out of its time with 124", async () => {
    const { exitCode, stderr, stdout } = await run(["exec", "--timeout", "300", `echo begun; sleep ${nap(1)}`])
    assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 124, stdout: "begun\n" })
    assert.match(stderr, /^synapse: Command execution timeout/)
    assert.isFalse(isRunning("sleep", nap(1)))
  })

  it("shows output while the command runs, and a signal leaves nothing running", async () => {
    const { child, ended, says } = start(["exec", `echo begun; sleep ${nap(2)}; echo more`])
    await says("begun")
    child.kill("SIGTERM")
    const { exitCode, stdout } = await ended
    assert.deepStrictEqual({ exitCode, stdout: stdout.toString() }, { exitCode: 143, stdout: "begun\n" })
    assert.isFalse(isRunning("sleep", nap(2)))
  })

  it("ends quietly when nobody reads its output any more", async () => {
    const { child, ended, says } = start(["exec", "yes"])
    await says("y")
    child.stdout.destroy()
    const { exitCode, stderr } = await ended
    assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 141, stderr: "" })
  })

  it("makes no home directory that is missing, where commands can't make it either", async () => {
    const home = `/synapse-test-${process.pid}`
    try {
      const { exitCode, stdout } = await run(["exec", "echo hi"], "", { HOME: home, SYNAPSE_HOME: "" })
      assert.deepStrictEqual({ exitCode, stdout: stdout.toString() }, { exitCode: 0, stdout: "hi\n" })
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
  it("keeps one shell for all calls, in their order", async () => {
    const { exitCode, stderr, stdout } = await run(
      ["call"],
      call("1", "cd /tmp; x=5") + call("2", 'pwd; echo "$x"') + call("3", "ls /no/such") + call("4", "nosuchcommand")
    )
    assert.deepStrictEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" })
    assert.deepStrictEqual(
      lines(stdout).map(({ extras, isError, toolCallId }) => [
        toolCallId,
        isError,
        extras.exitCode,
        extras.stdout,
        extras.failureCategory
      ]),
      [
        ["1", false, 0, "", undefined],
        ["2", false, 0, "/tmp\n5\n", undefined],
        ["3", true, 2, "", "execution_error"],
        ["4", true, 127, "", "command_not_found"]
      ]
    )
  })

  it("S47 S48: cancels a running command by its id, keeps its output and the shell", async () => {
    const { child, ended } = start(["call"])
    const marker = path.join(os.tmpdir(), `synapse-test-${process.pid}`)
    child.stdin.write(call("0", "x=kept") + call("1", `echo begun; touch ${marker}; sleep ${nap(4)}`))
    while (!fs.existsSync(marker)) await new Promise((resolve) => setTimeout(resolve, 10))
    fs.rmSync(marker)
    child.stdin.end(`{"cancel":"1"}\n${call("2", "echo $x")}`)
    const { exitCode, stdout } = await ended
    assert.strictEqual(exitCode, 0)
    assert.deepStrictEqual(lines(stdout.toString()).slice(1), [
      {
        toolCallId: "1",
        isError: true,
        output: "begun\nCommand interrupted before it ended.",
        message: "Command interrupted.",
        extras: { exitCode: 130, stdout: "begun\n", stderr: "", interrupted: true }
      },
      {
        toolCallId: "2",
        isError: false,
        output: "kept\n",
        message: "Command executed successfully.",
        extras: { exitCode: 0, stdout: "kept\n", stderr: "" }
      }
    ])
    assert.isFalse(isRunning("sleep", nap(4)))
  })

  it("answers a timeout, and a signal ends everything", async () => {
    const timedOut = await run(["call", "--timeout", "200"], call("1", `sleep ${nap(5)}`))
    assert.deepStrictEqual(
      lines(timedOut.stdout).map(({ extras, message, output }) => [extras.exitCode, message, output.split(":")[0]]),
      [[124, "Command timed out.", "Command execution timeout"]]
    )
    const { child, ended, says } = start(["call"])
    child.stdin.write(call("1", "echo ready") + call("2", `sleep ${nap(6)}`))
    await says("ready")
    child.kill("SIGINT")
    assert.strictEqual((await ended).exitCode, 130)
    assert.isFalse(isRunning("sleep", nap(6)))
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
    const file = path.join(directory, "f")
    try {
      const said = async (command: string) => (await run(["exec", "--no-sandbox", command])).stderr
      fs.writeFileSync(file, "line\n".repeat(2001))
      assert.strictEqual(
        await said(`read ${file}`),
        `read: ${file}: lines 1–2000 of 2001: read ${file} --offset 2000\n`
      )
      fs.writeFileSync(file, 'Bash(command="ls f")\nUsage: read f\n')
      assert.strictEqual(
        await said(`read ${directory}/no`),
        `read: ${directory}/no: No such file or directory\n\`ls ${directory}\` shows what there is.\n`
      )
      assert.strictEqual(
        await said(`edit ${file}`),
        "edit: <old> is missing.\nUsage: edit <file> <old> <new> [--all] | --patch < <patch>\n`edit --help` shows more.\n"
      )
      // What is in the file looks like ours, and stays as it is.
      const absent = await said(`edit ${file} 'Usage: read g' x`)
      assert.include(absent, "\tUsage: read f\n")
    } finally {
      fs.rmSync(directory, { recursive: true })
    }
  })
})
