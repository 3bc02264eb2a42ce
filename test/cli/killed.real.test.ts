/** The built program is killed with SIGKILL, which it can't catch: nothing that it has started goes on. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Real from "../support/cli/Real.js"

const read = (path: string) => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** The living processes whose command line or environment has one of the texts in it. */
const withText = (...texts: ReadonlyArray<string>) =>
  Fs.readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    const own = read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`)
    return texts.some((text) => own.includes(text))
  })

/** `N` stands for a number that no other test sleeps for. */
const commands = [
  [
    "what ignores signals, daemons and what has no environment",
    "trap '' INT TERM HUP; sleep N & setsid -f sleep N; (setsid nohup sleep N >/dev/null 2>&1 &); env -i sleep N & echo on; exec env -i sleep N"
  ],
  ["what is stopped", "sleep N & echo on; kill -STOP $! $$; sleep N"],
  ["a shell in its EXIT trap", "big=$(head -c 500000 /dev/zero | tr '\\0' b); trap 'echo on; sleep N' EXIT; exit"],
  ["what forks all the time", "f() { (sleep 0.02; f) & }; f; f; f; echo on; while :; do :; done"]
] as const

const sessionsIn = (home: string): ReadonlyArray<string> => {
  const run = Path.join(home, ".synapse", "run")
  return Fs.existsSync(run) ? Fs.readdirSync(run) : []
}

const gone = async (name: string, sandbox: boolean, text: string) => {
  const temporary = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "killed-test-")))
  try {
    const nap = `3${process.pid}.${Math.floor(Math.random() * 1e9)}`
    const args = ["exec", ...(sandbox ? [] : ["--no-sandbox"]), text.replaceAll("N", nap)]
    const { child, ended, says } = Real.start(args, { HOME: temporary, TMPDIR: temporary })
    await says("on")
    child.kill("SIGKILL")
    const left = () => [
      ...withText(temporary, nap),
      // In a sandbox nobody can remove the directory; the next start does.
      ...(sandbox ? [] : sessionsIn(temporary))
    ]
    for (let i = 0; i < 200 && left().length > 0; i++) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepStrictEqual(left(), [], name)
    await ended
  } finally {
    Fs.rmSync(temporary, { recursive: true, force: true })
  }
}

describe("the program, when it is killed", () => {
  for (const [at, [name, command]] of commands.entries()) {
    it(`leaves nothing of ${name}, without a sandbox`, () => gone(name, false, command), 60_000)
    // With one, all of it is in a namespace of processes that ends as a whole.
    if (at < 2) it(`leaves nothing of ${name}, with one`, () => gone(name, true, command), 60_000)
  }
})
