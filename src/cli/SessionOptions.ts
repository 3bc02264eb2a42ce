/** Turns the options of a subcommand that runs commands into settings. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Struct from "effect/Struct"
import type * as CommandGrammar from "../command/CommandGrammar.js"
import * as Parameter from "../command/Parameter.js"
import * as Timeout from "../domain/Timeout.js"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import type { Settings } from "../session/SessionSettings.js"
import { print, WrongUsage } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

/** Tests whether `--ask` is `terminal`. */
export const isTold = (ask: Option.Option<string>): boolean => Option.contains(ask, "terminal")

/** Tests whether this is a CI build. It may have a terminal, but nobody sits there. */
const isBuild = Effect.orElseSucceed(
  Config.map(Config.string("CI"), (text) => !["", "0", "false"].includes(text)),
  () => false
)

/** Tests whether a person is asked: as `--ask` says, or else if stderr is a terminal and this is not a CI build. */
export const isAsked = (ask: Option.Option<string>): Effect.Effect<boolean, never, Stdio> =>
  Option.isSome(ask)
    ? Effect.succeed(isTold(ask))
    : Effect.flatMap(Stdio, ({ isTerminal }) =>
        isTerminal("stderr") ? Effect.map(isBuild, (isBuild) => !isBuild) : Effect.succeed(false)
      )

const { choice, filterMap, flag, option, optional, repeated, withDefault, withDescription, withPlaceholder } = Parameter

/** An option that may be repeated. Its values must not be empty, because `--deny "$UNSET"` would deny nothing. */
export const list = (name: string, placeholder: string, description: string) =>
  repeated(
    option(name).pipe(
      filterMap(
        Option.liftPredicate((text) => text.trim() !== ""),
        `--${name} must not be empty`
      ),
      withPlaceholder(placeholder)
    )
  ).pipe(withDescription(`${description} May be repeated.`))

/** An option whose value is a whole number from 1 on. */
export const whole = (
  name: string,
  placeholder: string,
  description: string,
  of = "",
  most = Number.MAX_SAFE_INTEGER
) =>
  optional(
    option(name).pipe(
      filterMap(
        (text) => Option.liftPredicate(Number(text), (count) => /^\+?\d+$/.test(text) && count >= 1 && count <= most),
        `--${name} must be a whole number${of} from 1 ${most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`}`
      )
    )
  ).pipe(withPlaceholder(placeholder), withDescription(description))

/** Reads `3000`, or `3000:8080` for another port outside of the sandbox. */
export const published = (name: string) =>
  filterMap((text: string) => {
    const [, inside, outside = inside] = /^([1-9]\d{0,4})(?::([1-9]\d{0,4}))?$/.exec(text) ?? []
    const port = { inside: Number(inside), outside: Number(outside) }
    return Option.liftPredicate(port, ({ inside, outside }) => inside < 65_536 && outside < 65_536)
  }, `${name} must be a port, or two: 3000:8080 opens port 3000 of the sandbox at 8080`)

/** The options that have no effect without a sandbox, by the sandbox setting that they change. */
const sandbox = {
  whitelist: list("allow", "path", "A path that commands may write, besides the working directory."),
  readable: list(
    "allow-read",
    "path",
    "A path that commands may read although a built-in rule hides it, such as .env."
  ),
  blacklist: list("deny", "pattern", "A path or pattern that commands may neither read nor write."),
  env: list("env", "name", "A variable that the sandbox would leave out, and commands are to get."),
  unixSockets: withDefault(undefined)(
    filterMap(
      (which: "own" | "all") => Option.some(which === "own" ? which : true),
      ""
    )(choice("unix-sockets", ["own", "all"]))
  ).pipe(
    withPlaceholder("own | all"),
    withDescription(
      "own: commands use unix sockets that they make, and those of --allow-socket. all: also those that programs outside listen on (tmux, an ssh-agent, Docker), by which commands can have them do anything, with your rights or root's."
    )
  ),
  sockets: list("allow-socket", "path", "A unix socket of a program outside that commands may use."),
  allowedHosts: list(
    "allow-host",
    "host",
    "A host on the network that commands may reach: example.com, *.example.com, example.com:8443, localhost:5432, private:example.com."
  ),
  allowNetwork: flag("allow-network").pipe(
    withDescription("Let commands reach any host with public addresses. Each can then be sent what commands read.")
  ),
  published: repeated(option("publish").pipe(published("--publish"))).pipe(
    withPlaceholder("port[:port]"),
    withDescription(
      "Open the port of a server in the sandbox on the machine's 127.0.0.1, behind a colon at another port. May be repeated."
    )
  ),
  temporaryFiles: withDefault(undefined)(choice("temporary", ["private", "host"])).pipe(
    withPlaceholder("private | host"),
    withDescription(
      "host: commands share the machine's /tmp. private (the default): their own, kept for the directory."
    )
  )
}

/** The options of every subcommand that runs commands. */
export const options = {
  cwd: optional(
    option("cwd").pipe(filterMap(Option.liftPredicate(HostPath.isDirectory), "--cwd must be a directory that exists"))
  ).pipe(
    withPlaceholder("directory"),
    withDescription("The directory that the shell starts in; the current directory by default.")
  ),
  timeout: whole(
    "timeout",
    "ms",
    "Milliseconds after which a command is ended, with exit code 124; by default 120000, and no limit in shell.",
    " of milliseconds",
    Timeout.longest
  ),
  noSandbox: flag("no-sandbox").pipe(withDescription("Run without a sandbox: with all the rights that you have.")),
  ...sandbox,
  ask: optional(choice("ask", ["never", "terminal"])).pipe(
    withPlaceholder("never | terminal"),
    withDescription(
      "terminal: ask there where the sandbox denies something; never: do not. exec, agent and shell ask by themselves where stderr is a terminal, call only when told."
    )
  )
}

export type Given = CommandGrammar.Params<typeof options>

export interface Named extends Given {
  /** The session of the daemon that the command runs in. */
  readonly session: Option.Option<string>
}

/** Settings for a session whose output files nobody could read. */
export const withoutFiles: Partial<Settings> = { outputFileLimit: 0 }

/** Settings for a session that ends with its only command, and with everything that the command leaves running. */
export const endsAtOnce: Partial<Settings> = { ...withoutFiles, maxJobs: 0, yield: 0 }

const isGiven = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false

/** Returns the first given option that has no effect without a sandbox, if any. */
export const onlyInSandbox = (given: Given): string | undefined => {
  const [, first] = Struct.entries(sandbox).find(([name]) => isGiven(given[name])) ?? []
  return first?.form.name ?? (isTold(given.ask) ? "--ask terminal" : undefined)
}

/**
 * Turns the given options into settings of the session and of the sandbox.
 *
 * @param output `endsAtOnce`, or nothing for a session that continues and can read its output files
 */
export const toSettings = (
  given: Given,
  output: Partial<Settings> = {}
): [Partial<Settings>, Partial<SandboxSettings.Settings>] => [
  {
    ...output,
    ...(given.cwd._tag === "Some" ? { cwd: given.cwd.value } : {}),
    ...(given.timeout._tag === "Some" ? { timeout: given.timeout.value } : {})
  },
  {
    ...(given.noSandbox ? { enabled: false } : {}),
    ...Record.filter(Struct.pick(given, ...Struct.keys(sandbox)), (value) => value !== undefined)
  }
]

/**
 * Returns the path of `sandbox.json` if it switches the sandbox off. Errors in the file are reported where it is used.
 */
const switchedOff = Effect.flatMap(SandboxConfig.SandboxConfig, ({ file, load }) =>
  Effect.match(load, {
    onFailure: () => undefined,
    onSuccess: ({ enabled }) => (enabled ? undefined : file)
  })
)

type Openness = Pick<Given, "allowNetwork" | "noSandbox">

/** Prints a line to stderr if `sandbox.json` switches the sandbox off, or if commands can reach any host. */
export const tellOf = ({
  allowNetwork,
  noSandbox
}: Openness): Effect.Effect<void, never, SandboxConfig.SandboxConfig | Stdio> =>
  noSandbox
    ? Effect.void
    : Effect.flatMap(switchedOff, (file) =>
        file === undefined
          ? tellOfNetwork(allowNetwork)
          : print("stderr", `synapse: commands run without a sandbox: ${file} switches it off`)
      )

export const tellOfNetwork = (allowNetwork: boolean): Effect.Effect<void, never, Stdio> =>
  allowNetwork
    ? print("stderr", "synapse: --allow-network: commands reach any public host, and can send it what they read")
    : Effect.void

const layer = SandboxConfig.layer.pipe(
  Layer.provide(SandboxSettings.layerFromEnv()),
  Layer.provide(NodeFileSystem.layer)
)

/** Does the same, and reads the file itself. */
export const tell = (given: Openness): Effect.Effect<void, ConfigError, Stdio> => Effect.provide(tellOf(given), layer)

/** Fails for an option that has no effect because `sandbox.json` switches the sandbox off. */
export const refuseWithoutSandbox = (option: string): Effect.Effect<void, ConfigError | WrongUsage> =>
  Effect.flatMap(switchedOff, (file) =>
    file === undefined
      ? Effect.void
      : new WrongUsage({ message: `${option} has no effect: ${file} switches the sandbox off.`, hasForm: true })
  ).pipe(Effect.provide(layer))
