import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { run, start } from "../support/cli/Real.js"
import * as Temporary from "../support/Temporary.js"

const synapse = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")
/** Sessions of other tests guard the repositories in the machine's directory for temporary files. */
const unshared = path.resolve(import.meta.dirname, "../../node_modules")
let home: string
beforeAll(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), "synapse-test-"))
})
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

/** Runs a line of bash, in which `synapse` is the program. */
const shell = (line: string) =>
  new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    const env = { ...process.env, SYNAPSE_HOME: home }
    const text = `synapse() { '${process.execPath}' '${synapse}' "$@"; }; ${line}`
    const child = spawn("/bin/bash", ["-c", text], { env, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.once("error", reject)
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr }))
  })

/** Ends the program by signals, one right after the other, while its command goes on. */
const signalled = (...names: ReadonlyArray<string>) =>
  `(exec '${process.execPath}' '${synapse}' exec 'bash make; touch made; sleep 99') &
    until [ -e made ]; do sleep .05; done; ${names.map((name) => `kill -${name} $!`).join("; ")}; wait`

describe.each([[[]], [["--no-sandbox"]]])("the standard input of synapse exec %j", (options) => {
  const isPlain = options.length > 0
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["while read -r line; do echo got $line; done", "1\n2\n", "got 1\ngot 2\n"],
    ["head -c 2; cat | wc -c", "123456", "124\n"],
    ["bash cat", "x\n", "x\n"]
  ]
  it.each(isPlain ? cases : [])("is that of the command: %s", async (command, input, expected) => {
    const { exitCode, stderr, stdout } = await run(["exec", ...options, command], input)
    assert.deepStrictEqual({ exitCode, stderr, stdout }, { exitCode: 0, stderr: "", stdout: expected })
  })

  it("arrives whole and binary", async () => {
    const { exitCode, stderr, stdout } = await shell(
      `head -c 3000001 /dev/urandom | tee >(md5sum >&2) | synapse exec ${options.join(" ")} md5sum 2>/dev/null; wait`
    )
    assert.strictEqual(exitCode, 0)
    assert.match(stdout, /^[0-9a-f]{32} {2}-\n$/)
    assert.strictEqual(stdout, stderr)
  })

  it("holds nobody up who does not read it, though it never ends", async () => {
    const { child, ended } = start(["exec", ...options, "sleep .1 & echo no | cat >/dev/null; wait; echo ok"])
    const { exitCode, stdout } = await ended
    child.stdin.destroy()
    assert.deepStrictEqual([exitCode, stdout.toString()], [0, "ok\n"])
    if (!isPlain) return
    const flood = await shell("yes | synapse exec --no-sandbox 'echo ok'")
    assert.deepStrictEqual([flood.exitCode, flood.stdout], [0, "ok\n"])
  })

  it.runIf(isPlain)("is none for a closed one, /dev/null and a directory; and files are read", async () => {
    for (const redirection of ["<&-", "</dev/null", "</"]) {
      const { exitCode, stdout } = await shell(`synapse exec ${options.join(" ")} 'cat; echo end' ${redirection}`)
      assert.deepStrictEqual([redirection, exitCode, stdout], [redirection, 0, "end\n"])
    }
    const { stdout } = await shell(`synapse exec ${options.join(" ")} 'wc -l' <<<$'a\\nb'`)
    assert.strictEqual(stdout, "2\n")
  })
})

describe("what is wrong with the streams or the directory", () => {
  it.each([
    ["synapse exec --no-sandbox 'seq 100000' >/dev/full", 1],
    ["synapse exec --no-sandbox --json 'echo x' >/dev/full", 1],
    ["synapse --help >/dev/full", 1],
    [`echo '{"id":"1","name":"Bash","arguments":{"command":"echo x"}}' | synapse call --no-sandbox >/dev/full`, 1]
  ])("a full disk is said once: %s", async (line, code) => {
    const { exitCode, stderr } = await shell(line)
    assert.deepStrictEqual(
      [exitCode, stderr],
      [code, "synapse: the output can't be written: ENOSPC: no space left on device\n"]
    )
  })

  it.runIf(process.platform === "linux")(
    "what is taken back as the sandbox ends is told, also when nobody reads, and after signals",
    async () => {
      const lines = [
        "synapse exec 'bash make'",
        "synapse exec 'bash make; TodoWrite --help >/dev/null'",
        "synapse exec --json 'bash make'",
        "synapse exec --json 'bash make' | true",
        "synapse exec --json 'bash make' >/dev/full",
        `synapse call <<<'{"id":"1","name":"Bash","arguments":{"command":"bash make"}}'`,
        signalled("TERM"),
        signalled("INT", "TERM")
      ]
      const make = "git init -q r; printf '[core]\\n\\tfsmonitor = touch x\\n' >> r/.git/config"
      const each = lines.map((line) =>
        Temporary.using(async (place) => {
          fs.writeFileSync(path.join(place, "make"), make)
          const { stderr } = await shell(`unset SYNAPSE_TEMPORARY; cd '${place}'; ${line}`)
          const told = stderr.match(/^synapse: Taken back from r\/\.git\/config: core\.fsmonitor\. /gm) ?? []
          assert.notInclude(
            fs.readFileSync(path.join(place, "r/.git/config"), "utf8"),
            "fsmonitor",
            `${line}: ${stderr}`
          )
          assert.lengthOf(told, 1, line)
        }, unshared)
      )
      await Promise.all(each)
    }
  )

  it("a stderr that takes nothing ends the program, and not in a loop", async () => {
    assert.strictEqual((await shell("synapse exec --no-sandbox 'seq 100000 >&2; sleep 60' 2>/dev/full")).exitCode, 1)
    assert.strictEqual((await shell("synapse nosuch 2>/dev/full")).exitCode, 1)
    assert.strictEqual((await shell("synapse exec --no-sandbox 'seq 10 >&2' 2>&-")).exitCode, 0)
    assert.strictEqual((await shell("set -o pipefail; synapse exec --no-sandbox yes | head -n 1")).exitCode, 141)
  })

  it("a deleted current directory is named, and another can be given", async () => {
    const gone = 'cd "$(mktemp -d)" && rmdir "$PWD"'
    const said = "synapse: The current directory was deleted: change to one that is there, or name it (cwd).\n"
    for (const words of ["exec true", "exec --cwd . true", "call", "sandbox policy"]) {
      const { exitCode, stderr } = await shell(`${gone}; synapse ${words} </dev/null`)
      assert.deepStrictEqual([words, exitCode, stderr], [words, 2, said])
    }
    assert.strictEqual((await shell(`${gone}; synapse exec --no-sandbox --cwd / pwd </dev/null`)).stdout, "/\n")
  })

  it("a command that is not UTF-8 is refused", async () => {
    const { exitCode, stderr, stdout } = await shell("synapse exec $'echo \\xff' </dev/null")
    assert.deepStrictEqual([exitCode, stdout], [2, ""])
    assert.include(stderr, "Argument 2 is not UTF-8, and nothing was run.")
    assert.strictEqual((await shell("synapse exec --no-sandbox 'echo \ufffd' </dev/null")).stdout, "\ufffd\n")
  })
})
