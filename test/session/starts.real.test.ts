/** Against the real thing: a shell that can't be started says why, and leaves nothing behind. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExecutionFailed, InvalidUsage } from "../../src/domain/CommandError.js"
import * as QueuedCommand from "../../src/session/QueuedCommand.js"
import type { Settings } from "../../src/session/SessionSettings.js"
import { eventually, marked, result, withSession } from "../support/Session.js"

/** Both the first command and the next fail with that reason. */
const fails = (
  name: string,
  settings: (root: string) => Partial<Settings>,
  reason: RegExp,
  options: { readonly skip?: boolean } = {}
) =>
  it.live.skipIf(options.skip === true)(
    name,
    () =>
      withSession(({ directory }) =>
        withSession(
          ({ run }) =>
            Effect.gen(function* () {
              for (let i = 0; i < 2; i++) {
                const error = yield* Effect.flip(run("echo never"))
                assert.instanceOf(error, ExecutionFailed)
                assert.match(error.message, reason)
                assert.deepStrictEqual(error, new ExecutionFailed({ kind: "shell", reason: error.message }))
              }
            }),
          settings(directory)
        )
      ),
    60_000
  )

const script = (directory: string, text: string): string => {
  const path = Path.join(directory, "shell")
  Fs.writeFileSync(path, text, { mode: 0o755 })
  return path
}

describe("a shell that can't be started", () => {
  fails(
    "does not exist",
    () => ({ shellCommand: "/nosuch/bash" }),
    /^no shell: \/nosuch\/bash could not be started: spawn \/nosuch\/bash ENOENT$/
  )
  fails(
    "is not on PATH",
    () => ({ shellCommand: "nosuchbash" }),
    /could not be started: spawn nosuchbash (ENOENT|EACCES)$/
  )
  fails("is no program", () => ({ shellCommand: "/etc/passwd" }), /\/etc\/passwd could not be started: spawn .*EACCES$/)
  fails("lies below a file", () => ({ shellCommand: "/etc/passwd/bash" }), /^no shell: .*ENOTDIR/)
  fails("is a directory", () => ({ shellCommand: "/usr" }), /EACCES$/)
  fails("has a NUL in its name", () => ({ shellCommand: "/bin/ba\0sh" }), /^no shell: .*null bytes/)
  fails(
    "is dash",
    () => ({ shellCommand: "/bin/dash" }),
    /\/bin\/dash is not bash, and no other shell will do: SYNAPSE_SHELL names it/,
    {
      skip: !Fs.existsSync("/bin/dash")
    }
  )
  fails("is cat", () => ({ shellCommand: "cat" }), /ended at once with exit code 1: cat: unrecognized option '--norc'/)
  fails("is true", () => ({ shellCommand: "/bin/true" }), /ended at once with exit code 0$/)
  fails("is false", () => ({ shellCommand: "/bin/false" }), /ended at once with exit code 1$/)
  fails(
    "is a shell that says that it is none",
    (root) => ({ shellCommand: `'${script(root, "#!/bin/sh\nexec dash -i\n")}'` }),
    /is not bash, and no other shell will do/
  )
  fails(
    "complains and dies",
    (root) => ({ shellCommand: `'${script(root, "#!/bin/sh\necho broken here >&2; exit 9\n")}'` }),
    /ended at once with exit code 9: broken here$/
  )
  fails(
    "is killed",
    (root) => ({ shellCommand: `'${script(root, "#!/bin/sh\nkill -9 $$\n")}'` }),
    /ended at once with exit code 137$/
  )
  fails(
    "has no working directory",
    () => ({ cwd: "/nosuch/directory" }),
    /^no shell: the working directory \/nosuch\/directory does not exist$/
  )
  fails(
    "has a file for its working directory",
    () => ({ cwd: "/etc/passwd" }),
    /^no shell: the working directory \/etc\/passwd does not exist$/
  )
  fails(
    "has more of an environment than the kernel takes",
    () => ({ environment: { HUGE: "x".repeat(3_000_000) } }),
    /^no shell: .*E2BIG/
  )

  it.live(
    "is named wrongly",
    () =>
      withSession(
        ({ run }) =>
          Effect.gen(function* () {
            assert.instanceOf(yield* Effect.flip(run("echo never")), InvalidUsage)
          }),
        { shellCommand: "'open" }
      ),
    60_000
  )
})

describe("a shell that does not answer", () => {
  it.live("is not waited for by a restart, and all that its wrapper has started goes", () =>
    withSession(({ directory }) =>
      withSession(
        ({ mark, run, session }) =>
          Effect.gen(function* () {
            for (const command of ["echo never", "echo again"]) {
              const waiting = yield* Effect.fork(Effect.flip(run(command)))
              const lines = yield* eventually(
                () => marked(mark).filter((line) => line.includes("sleep 1101")),
                (found) => found.length > 0
              )
              assert.strictEqual(lines.length, 1)
              yield* session.restart
              assert.deepStrictEqual(yield* Fiber.join(waiting), QueuedCommand.restarted())
              assert.deepStrictEqual(marked(mark), [])
            }
          }),
        { shellCommand: `'${script(directory, "#!/bin/sh\nsleep 1101\nexit 1\n")}'` }
      )
    )
  )
})

describe("a place for the session's files", () => {
  /** Runs a command where the only place can't be used, and another once it can. */
  const refused = (
    place: (directory: string) => string,
    reason: RegExp,
    spoil: (place: string) => void,
    mend: (place: string) => void
  ) =>
    withSession(({ directory }) => {
      const at = place(directory)
      return withSession(
        (subject) =>
          Effect.gen(function* () {
            spoil(at)
            const error = yield* Effect.flip(subject.run("echo never"))
            assert.deepStrictEqual(error, new ExecutionFailed({ kind: "shell", reason: error.message }))
            assert.match(error.message, reason)
            mend(at)
            assert.deepStrictEqual(yield* subject.run("echo on"), result({ stdout: "on\n" }))
          }),
        { privateDirectories: [at] }
      )
    })

  const remove = (path: string) => Fs.rmSync(path, { recursive: true, force: true })

  it.live(
    "that does not exist is an error, and the session works when it does",
    () =>
      refused(
        (directory) => `${directory}/nosuch/place`,
        /^no shell: there is no place for private files: ENOENT.*\/nosuch'/,
        () => {},
        (place) => Fs.mkdirSync(Path.dirname(place))
      ),
    60_000
  )

  it.live(
    "that is a file is an error, and the session works when it is none",
    () =>
      refused(
        (directory) => `${directory}/place`,
        /place must be a directory of yours that nobody else may enter: correct or remove it$/,
        (place) => Fs.writeFileSync(place, ""),
        remove
      ),
    60_000
  )

  it.live(
    "that others may enter is an error, and the session works when they may not",
    () =>
      refused(
        (directory) => `${directory}/place`,
        /place must be a directory of yours that nobody else may enter: correct or remove it$/,
        (place) => {
          Fs.mkdirSync(place)
          Fs.chmodSync(place, 0o711)
        },
        (place) => Fs.chmodSync(place, 0o700)
      ),
    60_000
  )

  it.live(
    "that is a link is an error, and the session works when it is none",
    () =>
      refused(
        (directory) => `${directory}/place`,
        /place must be a directory of yours that nobody else may enter: correct or remove it$/,
        (place) => {
          Fs.mkdirSync(`${place}-2`, { mode: 0o700 })
          Fs.symlinkSync(`${place}-2`, place)
        },
        remove
      ),
    60_000
  )
})
