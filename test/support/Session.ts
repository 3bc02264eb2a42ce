/**
 * A session over a real bash, in a temporary directory of its own, which must leave nothing behind.
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Bridge from "../../src/bridge/Bridge.js"
import type { Handler } from "../../src/command/CommandHandler.js"
import * as CommandRegistry from "../../src/command/CommandRegistry.js"
import * as CallContext from "../../src/domain/CallContext.js"
import type { ExecutionFailed, InvalidUsage } from "../../src/domain/CommandError.js"
import * as CommandResult from "../../src/domain/CommandResult.js"
import * as BashSession from "../../src/session/BashSession.js"
import * as Jobs from "../../src/session/Jobs.js"
import * as JobTable from "../../src/session/JobTable.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import * as ShellLauncher from "../../src/session/ShellLauncher.js"
import { told } from "./Told.js"

/** What a test is given. */
export interface Subject {
  readonly session: Context.Tag.Service<BashSession.BashSession>
  /** What its commands have left running. */
  readonly jobs: Context.Tag.Service<Jobs.Jobs>
  /** Runs a command and gives its whole result, but for the order of its lines. */
  readonly run: (
    command: string,
    options?: BashSession.ExecuteOptions
  ) => Effect.Effect<CommandResult.CommandResult, ExecutionFailed | InvalidUsage>
  /** A directory of the test's own, where the shell starts; it goes with the test. */
  readonly directory: string
  /** The environment variable that all the session's processes carry has this value. */
  readonly mark: string
}

export const markVariable = "SYNAPSE_TEST_MARK"

const readText = (path: string): string => {
  try {
    return Fs.readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** The living processes with the mark in their environment, by what they run. */
export const marked = (mark: string): Array<string> =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readText(`/proc/${name}/environ`).includes(`${markVariable}=${mark}\0`))
    .map((pid) => `${pid} ${readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim()}`)

/** What each of this process's descriptors is. */
export const descriptors = (): Array<string> =>
  Fs.readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [`${fd} ${Fs.readlinkSync(`/proc/self/fd/${fd}`)}`]
    } catch {
      return []
    }
  })

/** Looks again until it is so, or for a second: closed sockets go with the next turn of the event loop. */
export const eventually = <A>(look: () => A, isSo: (a: A) => boolean): Effect.Effect<A> =>
  Effect.gen(function* () {
    for (const until = performance.now() + 1000; ; yield* Effect.sleep(5)) {
      const seen = look()
      if (isSo(seen) || performance.now() > until) return seen
    }
  })

/** A temporary directory for all that a test makes, as the process's own for as long. */
const temporary = Effect.acquireRelease(
  Effect.sync(() => {
    const before = process.env["TMPDIR"]
    const root = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "session-test-")))
    const directory = Path.join(root, "work")
    Fs.mkdirSync(directory)
    process.env["TMPDIR"] = root
    return { before, root, directory }
  }),
  ({ before, root }) =>
    Effect.sync(() => {
      if (before === undefined) delete process.env["TMPDIR"]
      else process.env["TMPDIR"] = before
      Fs.rmSync(root, { recursive: true, force: true })
    })
)

/** True once Node has opened what it keeps: without it, the first test would seem to leak. */
let warm = false

const withHandlers = (handlers: ReadonlyArray<Handler>) =>
  handlers.reduce<Layer.Layer<CommandRegistry.CommandRegistry>>(
    (registry, handler) => Layer.orDie(CommandRegistry.layerAdd(handler)).pipe(Layer.provideMerge(registry)),
    CommandRegistry.layer
  )

/** A session with the rights of the user. */
export const make = Effect.map(
  Layer.build(Layer.fresh(BashSession.layer(ShellLauncher.plain))),
  Context.get(BashSession.BashSession)
)

/** What it needs: settings, and the bridge to a registry's commands. */
export const services = (settings: Partial<SessionSettings.Settings> = {}, handlers: ReadonlyArray<Handler> = []) =>
  Layer.mergeAll(
    Layer.provideMerge(Bridge.layer, withHandlers(handlers)),
    Layer.provideMerge(Jobs.layer, JobTable.layer),
    SessionSettings.layer(settings)
  )

/** A result without what tests of the advice look at. */
const plain = ({ left: _left, order: _, ...result }: CommandResult.CommandResult): CommandResult.CommandResult => result

/** A session; when its scope is closed, nothing of it may be left. */
const open = (settings: Partial<SessionSettings.Settings>, handlers: ReadonlyArray<Handler> = []) =>
  Effect.gen(function* () {
    const { directory, root } = yield* temporary
    const mark = Path.basename(root)
    const before = descriptors()
    yield* Effect.addFinalizer(() => assertNothingLeft(root, before))
    const context = yield* Layer.build(
      Layer.fresh(
        services(
          {
            cwd: directory,
            timeout: 20_000,
            privateDirectories: [Path.join(root, "synapse-own")],
            ...settings,
            environment: { [markVariable]: mark, ...settings.environment }
          },
          handlers
        )
      )
    )
    const [session, jobs] = yield* Effect.provide(Effect.all([make, Jobs.Jobs]), context)
    const run: Subject["run"] = (...call) => Effect.map(session.execute(...call), plain)
    return { session, jobs, run, directory, mark }
  })

const assertNothingLeft = (root: string, before: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(marked(Path.basename(root)), [], "processes that the session left")
    assert.deepStrictEqual(
      Fs.readdirSync(root).filter((name) => name.startsWith("synapse-")),
      [],
      `directories that the session left: ${Fs.readdirSync(root, { recursive: true }).join(", ")}`
    )
    const after = yield* eventually(descriptors, (now) => now.length <= before.length)
    if (warm) assert.isAtMost(after.length, before.length, `descriptors: ${after.join(", ")}`)
  })

/** Opens what Node opens once and keeps. */
const warmUp = Effect.gen(function* () {
  if (!warm) yield* Effect.scoped(Effect.flatMap(open({}), ({ run }) => run("true; sleep 0.01")))
  warm = true
})

/** Runs the body with a session of its own; when its scope is closed, nothing of it may be left. */
export const withSession = <A, E, R>(
  body: (subject: Subject) => Effect.Effect<A, E, R>,
  settings: Partial<SessionSettings.Settings> = {},
  handlers: ReadonlyArray<Handler> = []
) => Effect.zipRight(warmUp, Effect.scoped(Effect.flatMap(open(settings, handlers), body)))

class Shared extends Context.Tag("test/Shared")<Shared, Subject>() {}

/** Tests of one session, which none of them may spoil for the next. */
export const shareSession = (
  tests: (test: <E>(name: string, body: (subject: Subject) => Effect.Effect<unknown, E>) => void) => void
): void =>
  layer(Layer.scoped(Shared, Effect.orDie(Effect.zipRight(warmUp, open({})))), { excludeTestServices: true })((it) =>
    tests((name, body) => it.effect(name, () => Effect.flatMap(Shared, body), 60_000))
  )

/** A test with a session of its own. */
export const inSession = <A, E>(
  name: string,
  body: (subject: Subject) => Effect.Effect<A, E>,
  settings: Partial<SessionSettings.Settings> = {}
): void => it.live(name, () => withSession(body, settings), 60_000)

/** What a command gives that ended well. */
export const result = CommandResult.make

/** Sets what must outlive the command under test. */
export const prepare = ({ run }: Subject) => run('mkdir -p "kept here" && cd "kept here" && kept="a  b"')

/**
 * That the directory and the variable set before are still there, and that the shell is in step; without what the result
 * says besides, where a busy machine decides in which result it is said.
 */
export const assertKept = ({ directory, run }: Subject, { withNotices = true } = {}) =>
  Effect.map(
    run(`\\builtin \\printf '<%s>' "$kept" "$PWD" "$(\\builtin pwd -P)"; \\builtin kill -l 2`),
    ({ diagnostics, ...seen }) =>
      assert.deepStrictEqual(
        withNotices && diagnostics !== undefined ? { ...seen, diagnostics } : seen,
        result({ stdout: `<a  b><${directory}/kept here><${directory}/kept here>INT\n` })
      )
  )

/** After a command that cost the shell its state: that it said so, and that the next command runs where it was. */
export const stateLost = (directory: string) =>
  told(
    "The shell ended without handing on its state (it was killed, replaced by exec, has an EXIT trap of its own, or a state of more than 64 MiB): " +
      `the next command runs in a new shell in ${directory}; variables, functions and options are lost.`
  )

/**
 * A test of commands that leave a directory and a variable as they were. `$D` stands for the test's directory in what is
 * expected; the directory that a command moved to, and the parts of
 * its pipeline, count only where they are expected.
 */
export const keeps = (
  name: string,
  steps: ReadonlyArray<readonly [command: string, expected: Partial<CommandResult.CommandResult>]>,
  settings: Partial<SessionSettings.Settings> = {}
): void =>
  inSession(
    name,
    (subject) =>
      Effect.gen(function* () {
        yield* prepare(subject)
        for (const [command, expected] of steps) {
          const { movedTo, pipeline, ...given } = yield* subject.run(command)
          const moved = "movedTo" in expected ? { movedTo } : {}
          const whole = { ...given, ...moved, ...("pipeline" in expected ? { pipeline } : {}) }
          assert.deepStrictEqual(whole, result(expected), command.slice(0, 500))
        }
        yield* assertKept(subject)
      }),
    settings
  )

/** What is told where errexit has ended the shell. */
export const errexitStays = told("`set -e` ends the shell at each failure; `set +e` undoes it.")

/** Starts a command, and waits for its first output. */
export const started = ({ run }: Subject, command: string, options?: BashSession.ExecuteOptions) =>
  Effect.gen(function* () {
    const interrupted: Array<CommandResult.CommandResult> = []
    const begun = yield* Effect.makeLatch()
    const fiber = yield* run(command, options).pipe(
      CallContext.locally({
        listener: {
          // @effect-diagnostics-next-line runEffectInsideEffect:off
          onOutput: () => Effect.runSync(begun.open),
          onInterrupted: (result) => void interrupted.push(result)
        }
      }),
      Effect.fork
    )
    yield* begun.await
    return { fiber, interrupted }
  })
