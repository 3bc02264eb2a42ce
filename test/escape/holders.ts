/** What a command keeps open of a file that a glob names, before its user fills it in. */
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Families, Scene } from "../support/escape/Attack.js"
import { processesWith } from "../support/escape/World.js"
import { notices } from "../support/Told.js"

const name = "fresh/credentials.json"

/** Python that holds it as `take` does, and copies what `read` gets of it to `loot` for as long as it lives. */
const holder = (take: string, read: string) => `
import ctypes, mmap, os, sys, threading, time
name = "${name}"
os.mkdir("fresh"); open(name, "wb").write(b"\\0" * 4096)
ready = os.path.abspath("ready")
loot = os.open("loot", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
${take}
open(ready, "w")
while True:
    try: os.write(loot, ${read})
    except OSError: pass
    time.sleep(0.005)
`

/** Python whose first thread ends, so that the process is a zombie by its state, while another one goes on reading. */
const threads = (take: string, read: string) => `${take}
def work():
    time.sleep(0.1); open("ready", "w")
    while True: os.write(loot, ${read}); time.sleep(0.005)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)`

const holders: Readonly<Record<string, readonly [take: string, read: string]>> = {
  "a descriptor": ["f = os.open(name, os.O_RDONLY)", "os.pread(f, 4096, 0)"],
  "a descriptor to write, which is opened again": [
    "f = os.open(name, os.O_WRONLY)",
    'os.read(os.open(f"/proc/self/fd/{f}", os.O_RDONLY), 4096)'
  ],
  "a descriptor of the path alone": [
    "f = os.open(name, os.O_PATH)",
    'os.read(os.open(f"/proc/self/fd/{f}", os.O_RDONLY), 4096)'
  ],
  "a mapping without a descriptor": [
    "f = os.open(name, os.O_RDWR); libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p; m = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, f, ctypes.c_long(0)); os.close(f)",
    "ctypes.string_at(m, 4096)"
  ],
  "a file that was given the name later": [
    'os.rename(name, "plain"); f = os.open("plain", os.O_RDONLY); os.rename("plain", name)',
    "os.pread(f, 4096, 0)"
  ],
  "another hard link of it": [
    'os.link(name, "plain"); f = os.open("plain", os.O_RDONLY); os.unlink("plain")',
    "os.pread(f, 4096, 0)"
  ],
  "a descriptor of one thread alone": [
    `def work():
    if ctypes.CDLL(None).unshare(0x400) != 0: os._exit(1)
    f = os.open(name, os.O_RDONLY); open("ready", "w")
    while True: os.write(loot, os.pread(f, 4096, 0)); time.sleep(0.005)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)`,
    'b""'
  ],
  "threads of a process whose first one has ended": [
    threads("f = os.open(name, os.O_RDONLY)", "os.pread(f, 4096, 0)"),
    'b""'
  ],
  "a mapping of such a process": [
    threads("f = os.open(name, os.O_RDWR); m = mmap.mmap(f, 4096, access=mmap.ACCESS_READ); os.close(f)", "m[:4096]"),
    'b""'
  ],
  "processes that follow one another": [
    `f = os.open(name, os.O_RDONLY)
def on():
    if os.fork(): os._exit(0)`,
    "(on(), os.pread(f, 4096, 0))[1]"
  ]
}

const fill = (directory: string, secret: string) =>
  Effect.sync(() => Fs.writeFileSync(`${directory}/${name}`, secret, { flag: "r+" }))

/** Waits until no process of it has been there for some looks: of those that follow one another, one may miss each. */
const isOver = (mark: string, wanted: number) =>
  Effect.gen(function* () {
    for (let looks = 0, none = 0; looks < 500 && none < wanted; looks++) {
      none = processesWith(mark).length === 0 ? none + 1 : 0
      yield* Effect.sleep(10)
    }
  })

const held: ReadonlyArray<Scene> = Object.entries(holders).map(
  ([title, [take, read]], at): Scene => ({
    title: `what a rule names is not kept open by ${title}`,
    needs: ["python3"],
    test: (world) =>
      Effect.gen(function* () {
        const mark = `${world.mark}-${at}.`
        const directory = Fs.mkdtempSync(`${world.project}/held-`)
        Fs.writeFileSync(`${directory}/hold.py`, holder(take, read))
        const laid = yield* world.attack(
          `cd ${directory}; python3 hold.py ${mark} >/dev/null 2>&1 & until [ -e ready ]; do sleep 0.01; done`
        )
        assert.match(laid.stdout, /^RAN$/m)
        const before = Fs.statSync(`${directory}/${name}`)
        // A second command, as agents give them: what is new is looked for after each.
        let held: ReadonlyArray<string> = []
        for (let at = 0; at < 50 && !held.some((one) => one.includes(" held ")); at++) {
          held = notices(yield* world.execute("sleep 0.1")) ?? []
        }
        yield* isOver(mark, title.includes("follow") ? 12 : 1)
        assert.deepStrictEqual(processesWith(mark), [])
        yield* fill(directory, world.secret)
        yield* Effect.sleep(50)
        const next = yield* world.attack(`cat ${directory}/${name}`)
        assert.notInclude(JSON.stringify(next), world.secret)
        assert.notInclude(Fs.readFileSync(`${directory}/loot`, "latin1"), world.secret)
        assert.strictEqual(Fs.statSync(`${directory}/${name}`).ino, before.ino)
      })
  })
)

export const holding: Families = {
  "what a rule names is held open": [
    ...held,
    {
      title: "who writes a file that a rule names, and ends, is let alone, and is told nothing",
      test: (world) =>
        Effect.gen(function* () {
          const said = yield* world.execute(
            "for i in {1..9}; do echo $i; sleep 0.04; done >.env.one; (for i in {1..9}; do echo $i; sleep 0.04; done) >.env.two; echo end"
          )
          assert.strictEqual(said.stdout, "end\n")
          assert.deepStrictEqual(notices(said) ?? [], [])
          for (const name of [".env.one", ".env.two"]) {
            assert.lengthOf(Fs.readFileSync(`${world.project}/${name}`, "utf8").trim().split("\n"), 9)
          }
        })
    },
    {
      title: "who is ended is told, with the rule",
      needs: ["tail"],
      test: (world) =>
        Effect.gen(function* () {
          yield* world.execute("state=kept")
          yield* world.attack(`: >.envrc; tail -f .envrc ${world.project}/README >/dev/null 2>&1 &`)
          let held: ReadonlyArray<string> = []
          for (let at = 0; at < 200 && held.length === 0; at++) {
            const said = yield* world.execute("sleep 0.02; echo $state")
            // On a busy machine, one about the output of what was put in the background may come first.
            held = (notices(said) ?? []).filter((one) => one.includes(" held "))
          }
          assert.deepStrictEqual(held, [
            `tail held ${world.project}/.envrc open, which the blacklist denies, and was ended (rule **/.envrc).`
          ])
        })
    }
  ]
}
