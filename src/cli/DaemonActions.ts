/** The daemon, and the actions of `synapse daemon`. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Attempt from "../domain/Attempt.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as Setting from "../domain/Setting.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as UserEnvironment from "../domain/UserEnvironment.js"
import type { SandboxConfig } from "../sandbox/config/SandboxConfig.js"
import * as StartupFiles from "../sandbox/config/StartupFiles.js"
import { SandboxManager } from "../sandbox/SandboxManager.js"
import * as DaemonSocket from "../serve/DaemonSocket.js"
import * as NamedSessions from "../serve/NamedSessions.js"
import * as ReadyShells from "../serve/ReadyShells.js"
import type { SessionJobs } from "../session/JobTable.js"
import * as PlainCommand from "../toolset/PlainCommand.js"
import { App, type AppServices, complain, print, succeed, wrongSettings } from "./Invocation.js"
import * as Program from "./Program.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

/** The variable for how long an idle session is kept, in milliseconds. */
const idleSetting = "SYNAPSE_DAEMON_IDLE"

const halfAnHour = 1_800_000

/** How long a daemon waits for its first client. */
const patience = Duration.seconds(30)

/** Resolves `--cwd` against the client's directory, before options are parsed. */
const resolved = (words: ReadonlyArray<string>, directory: string): ReadonlyArray<string> => {
  const end = words.indexOf("--")
  return words.map((word, at) => {
    if (end >= 0 && at > end) return word
    if (words[at - 1] === "--cwd") return Path.resolve(directory, word)
    return word.replace(/^--cwd=(.*)$/s, (_, path: string) => `--cwd=${Path.resolve(directory, path)}`)
  })
}

/** What a session inherits from the client that opens it. */
const environmentOf = ({ directory, umask, variables }: DaemonSocket.Offer): UserEnvironment.Inherited => ({
  variables,
  umask,
  directory: () => {
    const at = directory === undefined ? undefined : Attempt.orUndefined(() => Fs.statSync(directory.path))
    if (directory !== undefined && at?.dev === directory.dev && at.ino === directory.ino) return directory.path
    throw Object.assign(new Error("it is another one"), { code: "ENOENT" })
  }
})

type Named = NamedSessions.NamedSessions<AppServices, ConfigError>

/** The services of a shell without the other commands. */
type ShellServices = SandboxConfig | SandboxManager | SessionJobs

type Fresh = ReadyShells.ReadyShells<ShellServices, ConfigError>

type Within = NamedSessions.Request<unknown, unknown>["within"]

/** Gives an effect the environment and the settings of a client's process. */
const withinOf =
  (offer: DaemonSocket.Offer, environment: UserEnvironment.Inherited): Within =>
  (effect) =>
    effect.pipe(
      Effect.provideService(UserEnvironment.UserEnvironment, environment),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(offer.variables))))
    )

const stampOf = (path: string) =>
  Attempt.orUndefined(() => {
    const { ctimeMs, dev, ino } = Fs.statSync(path)
    return [dev, ino, ctimeMs]
  })

/** Resets the age of the shell, so that a command finds a new one. */
const begin = Effect.flatMap(SandboxManager, ({ execute }) => execute("SECONDS=0"))

/**
 * The start of the shell that a client's own process would have. The key differs for another environment or other
 * settings.
 */
const requestOf = (
  { directory, umask, variables: { _: _word, ...variables } }: DaemonSocket.Offer,
  cwd: string,
  app: App["Type"],
  within: Within
): ReadyShells.Request<ShellServices, ConfigError> => {
  const homes = new Set([
    variables["SYNAPSE_HOME"],
    `${variables["HOME"]}/.synapse`,
    `${Os.userInfo().homedir}/.synapse`
  ])
  const files = [...homes].flatMap((home) => [`${home}/sandbox.json`, `${home}/places`])
  const readonly = StartupFiles.find({ cwd, userHome: variables["HOME"] ?? "", writable: [cwd], named: [] })
  return {
    key: JSON.stringify([directory, umask, variables, [...files, `${cwd}/.git`].map(stampOf), readonly]),
    layer: (onQuiet) =>
      Layer.provide(app.shell({ ...SessionOptions.endsAtOnce, cwd, onQuiet }, {}), NodeFileSystem.layer),
    within,
    start: begin
  }
}

/** Runs the program for a client, in the sessions that all clients share or in a shell that is ready. */
const serve = (
  sessions: Named,
  fresh: Fresh,
  facts: string,
  app: App["Type"],
  client: DaemonSocket.Client
): Effect.Effect<number | undefined> => {
  const { offer } = client
  const environment = environmentOf(offer)
  const within = withinOf(offer, environment)
  const directory = Attempt.orElse(environment.directory, "/")
  const run = (app: App["Type"]) =>
    within(Program.program(resolved(offer.words, directory))).pipe(
      Effect.provideService(App, app),
      Effect.provideService(Stdio, stdioOf(client))
    )
  if (offer.isFresh === true) {
    return Effect.gen(function* () {
      if (offer.facts !== facts || PlainCommand.read(offer.words.at(-1) ?? "") === undefined) return undefined
      const shell = yield* fresh.take(requestOf(offer, directory, app, within))
      if (shell === undefined) return undefined
      yield* Effect.all([client.agree, Effect.ignore(Effect.provide(begin, shell))], { concurrency: 2 })
      return yield* run({ ...app, shell: () => Layer.succeedContext(shell) })
    }).pipe(Effect.scoped)
  }
  return run({
    ...app,
    sessions: {
      ...sessions,
      use: (name, request, effect) => sessions.use(name, { ...request, within }, effect),
      clear: fresh.clear
    }
  })
}

const stdioOf = ({ offer, pull, write }: DaemonSocket.Client): Stdio["Type"] => ({
  write,
  read: Effect.promise(pull),
  pull,
  hasInput: () => offer.hasInput,
  isTerminal: () => false,
  ...(offer.isTyped === true
    ? {
        typed: {
          onOutput: (stream, chunk) => write(stream === "stdout" ? "output" : "errors", chunk),
          onResult: (result) => void write("result", JSON.stringify(result))
        }
      }
    : undefined)
})

/**
 * Runs the daemon of that name until it has neither a session nor a client. Prints the directory of its socket, after
 * "=" if another daemon already listens there, or why it can't listen.
 */
export const run = (name: string, facts: string): Effect.Effect<number, never, App | Stdio> =>
  Effect.gen(function* () {
    const app = yield* App
    const idle = yield* Setting.wholeNumber(idleSetting, 1).pipe(Config.withDefault(halfAnHour))
    const over = yield* Deferred.make<void>()
    let close = () => false
    // True until the first client comes. Connections of other daemons that check for this one do not count.
    let isAwaited = true
    const settle = () => {
      if (!isAwaited && sessions.isEmpty() && fresh.isEmpty() && close()) Deferred.unsafeDone(over, Effect.void)
    }
    const sessions: Named = yield* NamedSessions.make<AppServices, ConfigError>(idle, settle)
    const fresh: Fresh = yield* ReadyShells.make<ShellServices, ConfigError>(settle)
    const listening = yield* DaemonSocket.listen(
      name,
      (client) =>
        Effect.suspend(() => {
          isAwaited = false
          return serve(sessions, fresh, facts, app, client)
        }),
      settle
    )
    yield* print("stdout", `${listening.isFirst ? "" : "="}${listening.directory}`)
    if (!listening.isFirst) return ExitCode.success
    close = listening.close
    const giveUp = Effect.sync(() => {
      isAwaited = false
      settle()
    })
    yield* Effect.forkScoped(Effect.delay(giveUp, patience))
    yield* Deferred.await(over)
    return ExitCode.success
  }).pipe(
    Effect.catchAll((error) =>
      succeed(error._tag === "NotListening" ? `synapse: ${error.message}` : wrongSettings(error))
    ),
    Effect.scoped
  )

const nameLength = 20

export const list = ({ json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const { sessions } = yield* App
    const listed = sessions === undefined ? [] : yield* sessions.list
    if (json) return yield* succeed(JSON.stringify(listed))
    if (listed.length === 0) return yield* succeed("No session is open: synapse exec --session NAME opens one.")
    const lines = listed.map(({ directory, idle, name, running }) => {
      const state = running > 0 ? "running" : `idle ${Math.floor(idle / 60_000)} min`
      return `${name.padEnd(nameLength)}  ${state.padEnd(11)}  ${UntrustedText.line(directory, 60)}`
    })
    return yield* succeed(lines.join("\n"))
  })

export const stop = ({ name }: { readonly name: Option.Option<string> }) =>
  Effect.gen(function* () {
    const { sessions } = yield* App
    const open = sessions === undefined ? [] : yield* sessions.list
    if (sessions !== undefined && Option.isNone(name)) {
      yield* Effect.forEach(open, (one) => sessions.stop(one.name), { concurrency: 8 })
      yield* sessions.clear
    }
    if (Option.isNone(name) || (yield* sessions?.stop(name.value) ?? Effect.succeed(false))) return ExitCode.success
    return yield* complain(`There is no session ${UntrustedText.word(name.value)}: synapse daemon list shows them.`)
  })
