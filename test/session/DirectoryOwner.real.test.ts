/** Against real processes: what a killed owner has left goes, and nothing else. */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as PrivateDirectory from "../../src/session/PrivateDirectory.js"

let parent = ""
beforeEach(() => {
  parent = Fs.mkdtempSync(Path.join(Os.tmpdir(), "owners-"))
})
afterEach(() => Fs.rmSync(parent, { recursive: true, force: true }))

const long = new Date(Date.now() - 8 * 86_400_000)

/** Makes a directory with the name, as one that was used last a week ago if it is old. */
const have = (name: string, files: ReadonlyArray<string> = ["command"], isOld = false): string => {
  const path = Path.join(parent, name)
  Fs.mkdirSync(path, { recursive: true })
  for (const file of files) {
    if (file === "state") ChildProcess.execFileSync("mkfifo", [Path.join(path, file)])
    else Fs.mkdirSync(Path.join(path, file))
  }
  if (isOld) Fs.utimesSync(path, long, long)
  return path
}

const sorted = (names: ReadonlyArray<string>) => [...names].sort()

/** Sweeps until only these are left, or for five seconds. */
const leaves = async (...names: ReadonlyArray<string>) => {
  PrivateDirectory.sweep(parent)
  const left = () => (Fs.existsSync(parent) ? sorted(Fs.readdirSync(parent)) : [])
  for (const end = performance.now() + 5000; left().length > names.length && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.deepStrictEqual(left(), sorted(names))
}

/** The owner's part of the name that this process gives. */
const own = () => /-(.+)-/.exec(Path.basename(PrivateDirectory.makeOwned(parent, "session")))?.[1] ?? ""

/** The part of a process that has been killed. */
const killed = async () => {
  const child = ChildProcess.spawn("sleep", ["1000"], { stdio: "ignore" })
  const stat = Fs.readFileSync(`/proc/${child.pid}/stat`, "latin1")
  const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
  const part = own().replace(/^\w+\.\w+/, [child.pid, started].map((one) => Number(one).toString(36)).join("."))
  Fs.rmSync(parent, { recursive: true })
  Fs.mkdirSync(parent)
  const kill = () => {
    const gone = once(child, "exit")
    child.kill("SIGKILL")
    return gone
  }
  return { part, kill }
}

describe.skipIf(process.platform !== "linux")("DirectoryOwner", () => {
  it("removes what a killed owner has left, and the empty parent with it", async () => {
    const { kill, part } = await killed()
    const names = [`session-${part}-aaaaaa`, `sandbox-${part}-bbbbbb`]
    for (const name of names) have(name, ["command", "placeholders"])
    Fs.chmodSync(Path.join(parent, names[1] ?? "", "placeholders"), 0)
    await leaves(...names)
    await kill()
    await leaves()
    for (const end = performance.now() + 5000; Fs.existsSync(parent) && performance.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.isFalse(Fs.existsSync(parent))
  })

  it("takes a process that has got a dead one's pid for another", async () => {
    const [pid, , namespace] = own().split(".")
    have(`session-${pid}.1.${namespace}-aaaaaa`)
    await leaves(...Fs.readdirSync(parent).filter((name) => !name.endsWith("-aaaaaa")))
  })

  it("leaves what a result has named, for a day", async () => {
    const { kill, part } = await killed()
    await kill()
    have(`session-${part}-aaaaaa`, ["output"])
    have(`session-${part}-bbbbbb`, ["output"], true)
    await leaves(`session-${part}-aaaaaa`)
  })

  it("leaves what may be of another container, and what somebody reads", async () => {
    const { kill, part } = await killed()
    await kill()
    const foreign = part.replace(/\w+$/, "17")
    const live = [`session-${foreign}-aaaaaa`, `session-${part}-bbbbbb`, "session-cccccc"]
    const readers = live.map((name) => {
      const path = Path.join(have(name, ["state"], true), "state")
      return Fs.openSync(path, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK)
    })
    const young = [`session-${foreign}-dddddd`, "session-eeeeee", `sandbox-${foreign}-ffffff`, "sandbox-12-gggggg"]
    for (const name of young) have(name)
    await leaves(...live, ...young)
    for (const reader of readers) Fs.closeSync(reader)
    for (const name of young) Fs.utimesSync(Path.join(parent, name), long, long)
    have("another")
    await leaves("another")
  })

  it("follows no link, and touches nothing of another name", async () => {
    const { kill, part } = await killed()
    await kill()
    const outside = Fs.mkdtempSync(Path.join(Os.tmpdir(), "outside-"))
    try {
      Fs.writeFileSync(Path.join(outside, "kept"), "")
      have(`session-${part}-aaaaaa`)
      Fs.symlinkSync(outside, Path.join(parent, `session-${part}-aaaaaa`, "link"))
      Fs.symlinkSync(outside, Path.join(parent, `session-${part}-bbbbbb`))
      const others = [`session-${part}-bbbbbb`, `session-${part}`, "session-", "-rf", "session-$(x)aa"]
      for (const name of others.slice(1)) have(name, [], true)
      await leaves(...others)
      assert.deepStrictEqual(Fs.readdirSync(outside), ["kept"])
    } finally {
      Fs.rmSync(outside, { recursive: true })
    }
  })

  it("looks at no more than a hundred of a thousand at a time, and comes to all of them", async () => {
    const { kill, part } = await killed()
    await kill()
    for (let i = 0; i < 300; i++) have(`session-${part}-${100_000 + i}`, ["a", "b"])
    const count = () => (Fs.existsSync(parent) ? Fs.readdirSync(parent).length : 0)
    PrivateDirectory.sweep(parent)
    for (let last = 301; last !== count(); ) {
      last = count()
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    assert.strictEqual(count(), 200)
    for (const end = performance.now() + 20_000; count() > 0 && performance.now() < end; ) {
      PrivateDirectory.sweep(parent)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    assert.strictEqual(count(), 0)
  })

  it.skipIf(process.getuid?.() !== 0)("leaves alone what is another user's", async () => {
    const { kill, part } = await killed()
    const [theirs, ours] = [`session-${part}-aaaaaa`, `session-${part}-bbbbbb`]
    Fs.chownSync(have(theirs), 65_534, 65_534)
    have(ours)
    await kill()
    await leaves(theirs)
    // One program removes all.
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.deepStrictEqual(Fs.readdirSync(parent), [theirs])
  })

  it("sweeps nothing where there is nothing", async () => {
    PrivateDirectory.sweep(Path.join(parent, "missing"))
    await leaves()
  })
})
