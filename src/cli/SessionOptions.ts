/** Turns the options of a subcommand that runs commands into settings. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SandboxConfig from "../sandbox/config/SandboxConfig.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import type { Published } from "../sandbox/policy/SandboxPolicy.js"
import type { Settings } from "../session/SessionSettings.js"
import { print } from "./Invocation.js"
import { Stdio } from "./Stdio.js"

/** The values of `--ask`. */
export const askModes = ["never", "terminal"] as const

/** Tests whether `--ask` says that a person is asked. */
export const isTold = (ask: Option.Option<string>): boolean => Option.contains(ask, "terminal")

/** Reads whether nobody sits at the terminal: a build has one at times. */
const isBuild = Effect.orElseSucceed(
  Config.map(Config.string("CI"), (text) => !["", "0", "false"].includes(text)),
  () => false
)

/** Tests whether a person is asked: as `--ask` says, or where stderr is a terminal, and this is no build (`CI`). */
export const isAsked = (ask: Option.Option<string>): Effect.Effect<boolean, never, Stdio> =>
  Option.isSome(ask)
    ? Effect.succeed(isTold(ask))
    : Effect.flatMap(Stdio, ({ isTerminal }) =>
        isTerminal("stderr") ? Effect.map(isBuild, (isBuild) => !isBuild) : Effect.succeed(false)
      )

export interface Given {
  readonly cwd: Option.Option<string>
  readonly timeout: Option.Option<number>
  readonly noSandbox: boolean
  readonly allow: ReadonlyArray<string>
  readonly allowRead: ReadonlyArray<string>
  readonly deny: ReadonlyArray<string>
  readonly env: ReadonlyArray<string>
  readonly allowUnixSockets: boolean
  /** The sockets that commands may use: their own, or all. */
  readonly unixSockets: Option.Option<"own" | "all">
  readonly allowSocket: ReadonlyArray<string>
  readonly allowHost: ReadonlyArray<string>
  readonly allowNetwork: boolean
  readonly publish: ReadonlyArray<Published>
  readonly temporary: Option.Option<SandboxSettings.TemporaryFiles>
  /** Tells who is asked where the policy denies something: `never` nobody, `terminal` a person. */
  readonly ask: Option.Option<string>
}

/** The options of `exec`. */
export interface Named extends Given {
  /** The session of the daemon that the command runs in. */
  readonly session: Option.Option<string>
}

/**
 * Settings for a subcommand whose session ends with its only command: files of output would go before anybody reads them.
 */
export const endsAtOnce: Partial<Settings> = { outputFileLimit: 0 }

/** Returns the first option that was given which only a sandbox can follow; undefined where there is none. */
export const onlyInSandbox = ({
  allow,
  allowHost,
  allowNetwork,
  allowRead,
  allowSocket,
  allowUnixSockets,
  ask,
  deny,
  env,
  publish,
  temporary,
  unixSockets
}: Given): string | undefined => {
  if (allow.length > 0) return "--allow"
  if (allowRead.length > 0) return "--allow-read"
  if (allowHost.length > 0) return "--allow-host"
  if (allowNetwork) return "--allow-network"
  if (publish.length > 0) return "--publish"
  if (deny.length > 0) return "--deny"
  if (env.length > 0) return "--env"
  if (allowUnixSockets) return "--allow-unix-sockets"
  if (unixSockets._tag === "Some") return "--unix-sockets"
  if (allowSocket.length > 0) return "--allow-socket"
  if (temporary._tag === "Some") return "--temporary"
  return isTold(ask) ? "--ask terminal" : undefined
}

/**
 * Turns the options that were given into settings of the session and of the sandbox.
 *
 * @param output `endsAtOnce`, or nothing where the session goes on after a result, and may read the files that it names
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
    whitelist: given.allow,
    readable: given.allowRead,
    blacklist: given.deny,
    env: given.env,
    ...(given.unixSockets._tag === "Some" ? { unixSockets: given.unixSockets.value === "own" ? "own" : true } : {}),
    ...(given.allowUnixSockets ? { unixSockets: true } : {}),
    sockets: given.allowSocket,
    allowedHosts: given.allowHost,
    allowNetwork: given.allowNetwork,
    published: given.publish,
    ...(given.temporary._tag === "Some" ? { temporaryFiles: given.temporary.value } : {})
  }
]

type Openness = Pick<Given, "allowNetwork" | "noSandbox">

/** Prints one line to stderr where `sandbox.json` switches the sandbox off, and where commands reach any host. */
export const tellOf = ({
  allowNetwork,
  noSandbox
}: Openness): Effect.Effect<void, never, SandboxConfig.SandboxConfig | Stdio> =>
  noSandbox
    ? Effect.void
    : Effect.flatMap(SandboxConfig.SandboxConfig, ({ file, peek }) => {
        const config = peek()
        return Either.isLeft(config) || config.right.enabled
          ? tellOfNetwork(allowNetwork)
          : print("stderr", `synapse: commands run without a sandbox: ${file} switches it off`)
      })

export const tellOfNetwork = (allowNetwork: boolean): Effect.Effect<void, never, Stdio> =>
  allowNetwork
    ? print("stderr", "synapse: --allow-network: commands reach any public host, and can send it what they read")
    : Effect.void

/** Does the same, and reads the file itself. */
export const tell = (given: Openness): Effect.Effect<void, ConfigError, Stdio> =>
  Effect.provide(
    tellOf(given),
    SandboxConfig.layer.pipe(Layer.provide(SandboxSettings.layerFromEnv()), Layer.provide(NodeFileSystem.layer))
  )
