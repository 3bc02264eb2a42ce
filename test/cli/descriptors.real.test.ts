/** The built program with few file descriptors: it works, or says what to do; it never hangs. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"

const synapse = Path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")
const home = Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-home-"))
afterAll(() => Fs.rmSync(home, { recursive: true, force: true }))

interface Answer {
  readonly toolCallId: string
  readonly isError: boolean
  readonly output: string
  readonly message: string
}

const start = (limit: number, options: ReadonlyArray<string>) => {
  const words = ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", process.execPath, synapse, "call", ...options]
  const child = ChildProcess.spawn("/bin/bash", words, { env: { ...process.env, SYNAPSE_HOME: home } })
  const said = { stdout: "", stderr: "" }
  const waiting = new Set<() => void>()
  child.stdout.on("data", (chunk: Buffer) => {
    said.stdout += chunk.toString()
    for (const look of waiting) look()
  })
  child.stderr.on("data", (chunk: Buffer) => (said.stderr += chunk.toString()))
  const ended = once(child, "close")
  let calls = 0
  const call = async (command: string): Promise<Answer> => {
    const id = String(calls++)
    child.stdin.write(`${JSON.stringify({ id, name: "Bash", arguments: { command } })}\n`)
    const answer = new Promise<Answer>((resolve) => {
      const look = () => {
        const lines = said.stdout.split("\n").slice(0, -1)
        const found = lines.map((line): Answer => JSON.parse(line)).find(({ toolCallId }) => toolCallId === id)
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
    const dead = ended.then(() => assert.fail(`it ended without an answer to ${command}: ${said.stderr}`))
    return Promise.race([answer, dead])
  }
  return { child, ended, said, call }
}

describe("the program, with few file descriptors", () => {
  for (const options of [[], ["--no-sandbox"]]) {
    const where = options.length === 0 ? "in a sandbox" : "without one"
    // Too few to look, too few to start a shell, and as many as the advice names.
    for (const limit of options.length === 0 ? [20, 64] : [24]) {
      it(`answers each call with a limit of ${limit}, and ends, ${where}`, async () => {
        const { call, child, ended, said } = start(limit, options)
        for (const word of ["a", "b", "c"]) {
          const answer = await call(`echo ${word}`)
          if (limit < 64 && answer.isError) {
            assert.match(answer.output, /a session needs \d+ file descriptors.*\n.*\(ulimit -n 64, or more\)/)
          } else assert.strictEqual(answer.output, `${word}\n`)
        }
        child.stdin.end()
        assert.deepStrictEqual(await ended, [0, null])
        assert.strictEqual(said.stderr, "")
      }, 60_000)
    }

    it(`reads all of a long command, and recovers when jobs have held all that may be held, ${where}`, async () => {
      const { call, child, ended, said } = start(52, options)
      const jobs = []
      for (let i = 0; i < 30; i++) jobs.push(await call("sleep 1000 & echo on"))
      for (const job of jobs) assert.include(job.output, "on\n")
      const long = await call("sleep 0.5; head -c 300000 /dev/zero | tr '\\0' x; sleep 0.1; echo; echo over")
      assert.match(long.output, /^x{1000}x*\n[\s\S]*x\nover\n/)
      await call("kill $(jobs -p); wait")
      // Before it, the ends of the jobs.
      assert.strictEqual((await call("echo back | cat")).output.split("\n").at(-2), "back")
      assert.strictEqual((await call("exit 3")).message, "Command failed.")
      assert.strictEqual((await call("echo anew")).output.split("\n").at(-2), "anew")
      child.stdin.end()
      assert.deepStrictEqual(await ended, [0, null])
      assert.strictEqual(said.stderr, "")
    }, 60_000)
  }
  it("ends by SIGTERM where a session can't start", async () => {
    const { call, child, ended } = start(34, [])
    await call("echo")
    child.kill("SIGTERM")
    const [code, signal] = await ended
    assert.include([143, "SIGTERM"], code ?? signal)
  }, 60_000)

  it("names the limit that allows fewer jobs than the setting", async () => {
    const { call, child, ended } = start(64, ["--no-sandbox"])
    for (let at = 0; at < 8; at++)
      assert.match((await call("sleep 3024 &")).output, /^\[job \d+ "sleep 3024" is running/)
    assert.match(
      (await call("sleep 3024 &")).output,
      /^8 jobs run \(ulimit -n allows no more\): what this command left/
    )
    child.stdin.end()
    assert.deepStrictEqual(await ended, [0, null])
  }, 60_000)
})
