/** Against a real bash: what is printed after a command has ended is in the file that its result names. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Leftovers from "../support/Leftovers.js"
import { assertKept, descriptors, eventually, inSession, prepare, result, type Subject } from "../support/Session.js"

/** Runs a command, and returns the file that its result names. */
const held = ({ session }: Subject, command: string) =>
  Effect.map(session.execute(command), (got) => {
    const file = Leftovers.lateFile(got)
    assert.isDefined(file, command)
    assert.lengthOf(got.notices ?? [], 1)
    return file ?? ""
  })

const reads = (file: string, text: string) =>
  Effect.map(
    eventually(
      () => Fs.readFileSync(file, "utf8"),
      (now) => now === text
    ),
    (now) => assert.strictEqual(now, text)
  )

describe("late output", () => {
  inSession("of a background process is in the file that its result named, both streams, in their order", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const line =
        "{ until [[ -e go ]]; do sleep 0.01; done; echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three; } &"
      const file = yield* held(subject, line)
      assert.deepStrictEqual(yield* subject.run(`cat '${file}'`), result())
      assert.strictEqual(Fs.statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* subject.run("touch go; echo mine; sleep 0.05"), result({ stdout: "mine\n" }))
      yield* reads(file, "one\ntwo\nthree\n")
      yield* assertKept(subject)
    })
  )

  inSession("of nohup, setsid and a daemon too, and of a copy of the standard output", (subject) =>
    Effect.gen(function* () {
      const starts = [
        "nohup bash -c 'sleep 0.1; echo late' 2>/dev/null &",
        "setsid bash -c 'sleep 0.1; echo late' &",
        "(bash -c 'sleep 0.1; echo late' &)",
        "bash -c '(sleep 0.1; echo late) & disown'"
      ]
      const files: Array<string> = []
      for (const start of starts) files.push(yield* held(subject, start))
      assert.strictEqual(new Set(files).size, starts.length)
      for (const file of files) yield* reads(file, "late\n")
      const copy = yield* held(subject, "exec 7>&1; echo on")
      assert.deepStrictEqual(yield* subject.run("echo one >&7; echo mine"), result({ stdout: "mine\n" }))
      assert.deepStrictEqual(yield* subject.run("(echo two >&7) & wait"), result())
      yield* reads(copy, "one\ntwo\n")
      yield* subject.run("exec 7>&-")
    })
  )

  inSession("is named once, and not where nothing can come", ({ session }) =>
    Effect.gen(function* () {
      assert.isDefined(Leftovers.lateFile(yield* session.execute("sleep 1041 &")))
      assert.deepStrictEqual(yield* session.execute("echo on"), result({ stdout: "on\n" }))
      assert.deepStrictEqual(yield* session.execute("sleep 1042 >/dev/null 2>&1 &"), result())
    })
  )

  inSession("is kept to its end only: a flood grows neither the file nor the memory", (subject) =>
    Effect.gen(function* () {
      const file = yield* held(
        subject,
        "(sleep 0.1; for ((i = 0; i < 400000; i++)); do echo $i; done; echo end) & F=$!"
      )
      yield* subject.run("wait $F")
      yield* eventually(
        () => Fs.readFileSync(file, "utf8"),
        (now) => now.endsWith("\nend\n")
      )
      const [first = "", ...lines] = Fs.readFileSync(file, "utf8").trimEnd().split("\n")
      const left = Number(/^\[… (\d+) bytes left out …\]$/.exec(first)?.[1])
      assert.strictEqual(left + Buffer.byteLength(`${lines.join("\n")}\n`), 2_688_894)
      assert.isAtMost(Fs.statSync(file).size, 1024 ** 2)
      assert.deepStrictEqual(lines.slice(-3), ["399998", "399999", "end"])
      const from = Number(lines[0])
      assert.deepStrictEqual(
        lines.slice(0, -1),
        Array.from({ length: lines.length - 1 }, (_, i) => String(from + i))
      )
    })
  )

  inSession("a process that prints without end from the first moment holds up nobody", (subject) =>
    Effect.gen(function* () {
      yield* prepare(subject)
      const file = yield* held(subject, "yes flood & yes flood >&2 & F=$!")
      for (let i = 0; i < 20; i++) {
        assert.deepStrictEqual(yield* subject.run(`echo ${i}`), result({ stdout: `${i}\n` }))
      }
      assert.isAtMost(Fs.statSync(file).size, 1024 ** 2)
      yield* subject.run("kill $(jobs -p)")
      yield* assertKept(subject)
    })
  )

  inSession("a background process costs two descriptors, and none when it has ended", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("sleep 1051 &")
      const before = descriptors().length
      for (let i = 0; i < 30; i++) yield* subject.run("sleep 1051 &")
      assert.isAtMost(descriptors().length - before, 60)
      yield* subject.run("kill $(jobs -p); wait")
      yield* eventually(
        () => descriptors().length,
        (now) => now <= before
      )
      assert.isAtMost(descriptors().length, before)
      for (let i = 0; i < 40; i++) assert.deepStrictEqual(yield* subject.run("echo on"), result({ stdout: "on\n" }))
    })
  )

  inSession("links that a command puts in its place are not followed", (subject) =>
    Effect.gen(function* () {
      yield* subject.run("echo mine > precious; mkdir -p elsewhere")
      const file = yield* held(subject, "{ until [[ -e go ]]; do sleep 0.01; done; echo late; echo again; } &")
      const output = Path.dirname(file)
      yield* subject.run(`rm '${file}'; ln -s "$PWD/precious" '${file}'; touch go; sleep 0.1`)
      assert.deepStrictEqual(yield* subject.run("cat precious"), result({ stdout: "mine\n" }))
      yield* subject.run(`mv '${output}' gone; ln -s "$PWD/elsewhere" '${output}'`)
      yield* subject.run("sleep 1052 &")
      yield* subject.run("head -c 100000 /dev/zero")
      assert.deepStrictEqual(yield* subject.run("ls elsewhere"), result())
      assert.deepStrictEqual(yield* subject.run(`rm '${output}'; echo on`), result({ stdout: "on\n" }))
    })
  )

  inSession("a session goes on, and says so, where no file can be made", (subject) =>
    Effect.gen(function* () {
      const output = Path.dirname(yield* held(subject, "sleep 1053 &"))
      yield* subject.run(`rm -r '${output}'; echo > '${output}'`)
      const { notices = [] } = yield* subject.session.execute("sleep 1054 &")
      assert.match(notices.join(), /^Later output is dropped: ENOTDIR/)
      yield* subject.run(`rm '${output}'`)
      yield* held(subject, "sleep 1055 &")
    })
  )
})
