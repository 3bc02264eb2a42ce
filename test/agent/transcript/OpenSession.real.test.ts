import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { createRequire, syncBuiltinESMExports } from "node:module"
import * as path from "node:path"
import * as Prompt from "@effect/ai/Prompt"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import { AgentEvent } from "../../../src/agent/loop/AgentEvent.js"
import * as TranscriptFile from "../../../src/agent/transcript/internal/TranscriptFile.js"
import * as OpenSession from "../../../src/agent/transcript/OpenSession.js"
import * as Recorder from "../../../src/agent/transcript/Recorder.js"
import * as Sessions from "../../../src/agent/transcript/Sessions.js"
import * as Temporary from "../../support/Temporary.js"

const node: { fdatasync: (fd: number, done: (error: Error | null) => void) => void } = createRequire(import.meta.url)(
  "node:fs"
)

const inDirectory = <A, E>(use: (directory: string) => Effect.Effect<A, E, never>) =>
  Effect.promise(() => Temporary.using((directory) => Effect.runPromise(use(path.join(directory, "sessions")))))

const text = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const added = (said: string) => AgentEvent.Appended({ messages: [text(said)] })

const begin = (directory: string, events: ReadonlyArray<AgentEvent>, cwd = "/work") =>
  OpenSession.begin(directory, { cwd, prompt: "first" }, (session) =>
    Effect.gen(function* () {
      const warnings: Array<string> = []
      const recorder = yield* Recorder.make(session, ({ reason }) => Effect.sync(() => void warnings.push(reason)))
      for (const event of events) yield* recorder.take(event)
      return { id: session.id, warnings, isKept: recorder.isKept() }
    })
  ).pipe(Effect.provide(NodeFileSystem.layer))

const reading = (directory: string, id: string) =>
  Effect.either(Effect.mapError(Sessions.read(directory, id), ({ message }) => message))

const resume = <A>(directory: string, id: string, use: (session: OpenSession.OpenSession) => Effect.Effect<A>) =>
  OpenSession.resume(directory, id, use).pipe(
    Effect.catchTag("NoSession", ({ message }) => Effect.succeed(message)),
    Effect.provide(NodeFileSystem.layer)
  )

describe("OpenSession", () => {
  it.effect("keeps a session for its owner only, and nothing else", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const { id, isKept, warnings } = yield* begin(directory, [
          AgentEvent.Started({ provider: "p", model: "m" }),
          added("first"),
          AgentEvent.TurnEnded({ turn: 1, text: "", usage: { input: 1, output: 2, cached: 0, cost: undefined } })
        ])
        assert.deepStrictEqual({ isKept, warnings }, { isKept: true, warnings: [] })
        assert.strictEqual(fs.statSync(directory).mode & 0o777, 0o700)
        assert.strictEqual(fs.statSync(Sessions.pathOf(directory, id)).mode & 0o777, 0o600)
        assert.deepStrictEqual(fs.readdirSync(directory), [`${id}.jsonl`])
        const { messages, model, turns } = yield* Sessions.read(directory, id)
        assert.deepStrictEqual(
          { messages, model, turns },
          { messages: [text("first")], model: { provider: "p", name: "m" }, turns: 1 }
        )
      })
    )
  )

  it.effect("is run by one of many at a time, and by the next one afterwards", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const { id } = yield* begin(directory, [added("first")])
        const free = yield* Deferred.make<void>()
        const began = yield* Deferred.make<void>()
        const first = yield* Effect.fork(
          resume(directory, id, () => Effect.zipRight(Deferred.succeed(began, undefined), Deferred.await(free)))
        )
        yield* Deferred.await(began)
        assert.strictEqual(yield* Effect.provide(OpenSession.runner(directory, id), NodeFileSystem.layer), process.pid)
        const others = yield* Effect.all(
          [1, 2, 3].map(() => resume(directory, id, () => Effect.succeed("ran"))),
          {
            concurrency: "unbounded"
          }
        )
        const refusal = `The session ${id} is run by process ${process.pid}: wait for it, or end it.`
        assert.deepStrictEqual(others, [refusal, refusal, refusal])
        yield* Deferred.succeed(free, undefined)
        yield* Fiber.join(first)
        assert.strictEqual(yield* resume(directory, id, () => Effect.succeed("ran")), "ran")
        assert.strictEqual(yield* Effect.provide(OpenSession.runner(directory, id), NodeFileSystem.layer), undefined)
      })
    )
  )

  it.effect("takes over the lock of a process that was killed, also before its parent has heard of it", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const { id } = yield* begin(directory, [added("first")])
        // Stopped, its parent does not reap the child that ends: a zombie, whose pid is not free.
        const shell = spawn("bash", [
          "-c",
          "exec 3>&1; (echo $BASHPID >&3; exec 1>&- 3>&-; exec sleep 60) & exec 3>&- >&-; exec sleep 61"
        ])
        const pid = yield* Effect.promise(
          () => new Promise<number>((resolve) => shell.stdout.once("data", (data) => resolve(Number(data))))
        )
        const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1")
        const lock = path.join(directory, `.${id}.lock`)
        const own = yield* resume(directory, id, () => Effect.sync((): object => JSON.parse(fs.readlinkSync(lock))))
        const began = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
        fs.symlinkSync(JSON.stringify(Object.assign({}, own, { pid, began })), lock)
        const running = yield* resume(directory, id, () => Effect.succeed("ran"))
        process.kill(pid, "SIGKILL")
        const isZombie = () => / Z /.test(fs.readFileSync(`/proc/${pid}/stat`, "latin1"))
        while (!isZombie()) yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
        const killed = yield* resume(directory, id, () => Effect.succeed("ran"))
        shell.kill("SIGKILL")
        assert.strictEqual(running, `The session ${id} is run by process ${pid}: wait for it, or end it.`)
        assert.strictEqual(killed, "ran")
        assert.deepStrictEqual(fs.readdirSync(directory), [`${id}.jsonl`])
      })
    )
  )

  it.effect("takes over the lock of another machine where its transcript is not touched any more", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const { id } = yield* begin(directory, [added("first")])
        const lock = path.join(directory, `.${id}.lock`)
        const foreign = { pid: 1, began: "1", space: "another machine", since: 0, nonce: "n" }
        fs.symlinkSync(JSON.stringify(foreign), lock)
        const file = Sessions.pathOf(directory, id)
        fs.utimesSync(file, new Date(), new Date())
        const held = yield* resume(directory, id, () => Effect.succeed("ran"))
        const before = new Date(Date.now() - 600_000)
        fs.utimesSync(file, before, before)
        assert.strictEqual(held, `The session ${id} is run by process 1: wait for it, or end it.`)
        assert.strictEqual(yield* resume(directory, id, () => Effect.succeed("ran")), "ran")
      })
    )
  )

  it.effect("cuts a torn line, and goes on behind the whole ones", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const { id } = yield* begin(directory, [added("first"), added("second")])
        const file = Sessions.pathOf(directory, id)
        fs.truncateSync(file, fs.statSync(file).size - 5)
        yield* resume(directory, id, (session) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(session.transcript.messages, [text("first")])
            const recorder = yield* Recorder.make(session, ({ message }) => Effect.die(message))
            yield* recorder.take(added("third"))
          })
        )
        const { messages } = yield* Sessions.read(directory, id)
        assert.deepStrictEqual(messages, [text("first"), text("third")])
      })
    )
  )

  it.effect("runs all the same where it can't be kept, and says so once", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        fs.writeFileSync(directory, "")
        const events = [added("first"), added("second")]
        assert.deepInclude(yield* begin(directory, events), {
          isKept: false,
          warnings: [`${directory} is no directory.`]
        })
        fs.rmSync(directory)
        fs.mkdirSync(directory, { mode: 0o777 })
        fs.chmodSync(directory, 0o777)
        const { warnings } = yield* begin(directory, events)
        assert.deepStrictEqual(warnings, [`Others may write in ${directory}: chmod 700 it, and look at what it has.`])
        const nowhere = yield* begin("/proc/none/sessions", events)
        assert.strictEqual(nowhere.warnings.length, 1)
      })
    )
  )

  it.effect("keeps nothing more after a message that can't be written", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const large = text("x".repeat(TranscriptFile.largest))
        const { id, isKept, warnings } = yield* begin(directory, [
          added("first"),
          AgentEvent.Appended({ messages: [text("second"), large] }),
          added("third")
        ])
        assert.deepStrictEqual([isKept, warnings.length], [false, 1])
        const { messages } = yield* Sessions.read(directory, id)
        assert.deepStrictEqual(messages, [text("first")])
      })
    )
  )

  it.effect("keeps nothing more after a message that did not reach the disk", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        let syncs = 0
        const { fdatasync } = node
        node.fdatasync = (fd, done) => {
          if (++syncs === 2) done(new Error("EIO: i/o error, fdatasync"))
          else fdatasync(fd, done)
        }
        syncBuiltinESMExports()
        const { id, isKept, warnings } = yield* begin(directory, ["first", "second", "third"].map(added)).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              node.fdatasync = fdatasync
              syncBuiltinESMExports()
            })
          )
        )
        assert.deepStrictEqual([isKept, warnings], [false, ["i/o error"]])
        const { messages } = yield* Sessions.read(directory, id)
        assert.deepStrictEqual(messages, [])
      })
    )
  )

  it.effect("reads no file that is not its own, and waits for none", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const { id } = yield* begin(directory, [added("first")])
        const file = Sessions.pathOf(directory, id)
        const kept = path.join(directory, "kept")
        const told = (reason: string) => `The session ${id} can't be read: ${file}: ${reason}.`
        const refused = (reason: string) => Either.left(told(reason))
        fs.linkSync(file, kept)
        assert.deepStrictEqual(
          yield* reading(directory, id),
          refused("it has a second name (a hard link), by which it could be changed")
        )
        fs.rmSync(file)
        fs.symlinkSync(kept, file)
        assert.deepStrictEqual(
          yield* reading(directory, id),
          refused("it is a symbolic link, which is not followed here")
        )
        fs.rmSync(file)
        fs.mkdirSync(file)
        assert.deepStrictEqual(yield* reading(directory, id), refused("it is a directory"))
        fs.rmdirSync(file)
        yield* Effect.promise(() => new Promise((resolve) => spawn("mkfifo", [file]).on("close", resolve)))
        assert.deepStrictEqual(yield* reading(directory, id), refused("it is no regular file"))
        assert.strictEqual(yield* resume(directory, id, () => Effect.succeed("ran")), told("it is no regular file"))
        fs.rmSync(file)
        fs.writeFileSync(file, "")
        fs.truncateSync(file, 10 * 1024 ** 3)
        assert.deepStrictEqual(
          yield* reading(directory, id),
          refused(`it is larger than ${TranscriptFile.largest} bytes`)
        )
        fs.rmSync(file)
        assert.deepStrictEqual(yield* reading(directory, id), refused("no such file or directory"))
        if (process.getuid?.() === 0) {
          fs.copyFileSync(kept, file)
          fs.chownSync(file, 12345, 12345)
          assert.deepStrictEqual(yield* reading(directory, id), refused("it belongs to another user (12345)"))
        }
        const listed = yield* Sessions.list(directory, yield* Sessions.ids(directory), 10)
        assert.isTrue(listed.every(({ summary }) => Either.isLeft(summary)))
      })
    )
  )

  it.effect("is found by the beginning of its id, and as the newest of its directory", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const failing = (effect: Effect.Effect<string, Sessions.NoSession>) =>
          Effect.map(Effect.flip(effect), ({ message }) => message)
        assert.strictEqual(
          yield* failing(Sessions.find(directory, "abc")),
          "There is no session abc. No session is kept yet."
        )
        const usage = { input: 1, output: 2, cached: 0, cost: undefined }
        const ended = AgentEvent.Ended({ ending: "done", text: "", reason: undefined, usage, turns: 1 })
        const turn = AgentEvent.TurnEnded({ turn: 1, text: "", usage })
        const { id } = yield* begin(directory, [added("first"), added("x".repeat(200_000)), turn, ended])
        const [listed] = yield* Sessions.list(directory, [id], 1)
        const { end, messages, turns } = Either.getOrThrow(listed?.summary ?? Either.left("nothing is listed"))
        assert.deepStrictEqual([end?.ending, messages, turns], ["done", [], 1])
        const other = yield* begin(directory, [added("first")], "/other")
        const before = new Date(Date.now() - 10_000)
        fs.utimesSync(Sessions.pathOf(directory, id), before, before)
        assert.deepStrictEqual(yield* Sessions.ids(directory), [other.id, id])
        assert.strictEqual(yield* Sessions.find(directory, id.slice(0, 7)), id)
        assert.strictEqual(yield* Sessions.newest(directory, "/work"), id)
        const hint = `The newest is ${other.id}; synapse agent list shows all.`
        assert.strictEqual(
          yield* failing(Sessions.find(directory, "../../etc")),
          `There is no session ../../etc. ${hint}`
        )
        assert.strictEqual(
          yield* failing(Sessions.find(directory, "\x1b[2J")),
          `There is no session \\u001b[2J. ${hint}`
        )
        assert.match(
          yield* failing(Sessions.newest(directory, "/nowhere")),
          /^There is no session of \/nowhere to continue; /
        )
      })
    )
  )
})
