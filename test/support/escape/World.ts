/**
 * An app with secrets in it and a real sandbox around its shell, for the attacks of one family.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CommandResult } from "../../../src/domain/CommandResult.js"
import { McpClient } from "../../../src/extension/mcp/McpClient.js"
import * as Synapse from "../../../src/Synapse.js"
import * as Permission from "../../../src/sandbox/permission/Permission.js"
import * as SandboxManager from "../../../src/sandbox/SandboxManager.js"

export interface Places {
  readonly base: string
  /** The user's home, in which nothing may be written. */
  readonly home: string
  /** The current directory, whitelisted. */
  readonly project: string
  /** Readable, and nothing to be written. */
  readonly outside: string
  readonly temporary: string
  /** What no attack may get to see, and no process may carry in its words when all is over. */
  readonly secret: string
  /** The words by which processes of this world are known. */
  readonly mark: string
}

export interface Shape extends Places {
  /** Runs a script that the preflight can't read: only the kernel stands in its way. */
  readonly attack: (script: string) => Effect.Effect<CommandResult>
  /** Runs a command in the session's own shell. */
  readonly execute: (command: string) => Effect.Effect<CommandResult>
  /** Talks to the servers of the same session. */
  readonly mcp: Context.Tag.Service<typeof McpClient>
  readonly manager: Context.Tag.Service<typeof SandboxManager.SandboxManager>
}

export class World extends Context.Tag("test/World")<World, Shape>() {}

export interface Setup {
  /** Programs that it takes. */
  readonly needs?: ReadonlyArray<string>
  /** Makes files before the policy is looked up. */
  readonly prepare?: (places: Places) => void
  readonly whitelist?: (places: Places) => ReadonlyArray<string>
  readonly blacklist?: (places: Places) => ReadonlyArray<string>
  /** Where Synapse's own files are; `home/.synapse` where it is not given. */
  readonly synapseHome?: (places: Places) => string
  readonly program?: (places: Places) => ReadonlyArray<string>
  /** The directory for temporary files; by default, the process's own. */
  readonly temporary?: (places: Places) => string
  /** Gives commands the machine's directory for temporary files, in place of their own. */
  readonly sharesTemporary?: true
  readonly permission?: Permission.Answer
  /** Run in a session before that of the tests, which changes nothing outside either. */
  readonly earlier?: (places: Places) => string
  /** Further places for private directories; the session's own lies in `temporary`. */
  readonly privateDirectories?: (places: Places) => ReadonlyArray<string>
}

export const write = (path: string, text: string, mode = 0o644): void => {
  Fs.mkdirSync(Path.dirname(path), { recursive: true })
  Fs.writeFileSync(path, text, { mode })
}

const build = (ground: string): Places => {
  const base = Fs.mkdtempSync(Path.join(ground, "world-"))
  const places: Places = {
    base,
    home: `${base}/home`,
    project: `${base}/project`,
    outside: `${base}/outside`,
    temporary: Path.join(ground, "tmp"),
    secret: `s3cr3t-${crypto.randomUUID()}`,
    mark: `mark-${crypto.randomUUID()}`
  }
  const text = `${places.secret}\n`
  write(`${places.home}/.ssh/id_rsa`, text, 0o600)
  write(`${places.home}/.aws/credentials`, text)
  write(`${places.home}/.synapse/sandbox.json`, '{ "providerOptions": { "keep": "me" } }\n')
  write(`${places.home}/.synapse/settings.json`, `{ "providers": { "anthropic": { "apiKey": "${places.secret}" } } }\n`)
  write(`${places.home}/.synapse/sessions/old.jsonl`, `"${places.secret}"\n`)
  for (const name of ["places", "tmp", "tool-cache"]) Fs.mkdirSync(`${places.home}/.synapse/${name}`, { mode: 0o700 })
  write(`${places.home}/notes`, "notes\n")
  write(`${places.project}/.env`, text)
  write(`${places.project}/pkg/.env`, text)
  write(`${places.project}/README`, "read me\n")
  write(`${places.outside}/file`, "precious\n")
  write(`${places.outside}/directory/file`, "precious\n")
  write(`${places.outside}/run.sh`, "#!/bin/sh\n", 0o755)
  return places
}

/** Where Synapse itself remembers the places of sessions, and makes the caches of tools, which commands may write. */
const ofSessions = /\/\.synapse\/(places|tmp|tool-cache)$/

/** Everything below a directory: kind, rights, owner, size and text, without following anything. */
export const snapshot = (directory: string): ReadonlyArray<string> =>
  Fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (ofSessions.test(directory)) return []
    const path = Path.join(directory, entry.name)
    const { gid, mode, mtimeMs, nlink, uid } = Fs.lstatSync(path)
    const text = entry.isFile() ? Fs.readFileSync(path, "utf8") : entry.isSymbolicLink() ? Fs.readlinkSync(path) : ""
    const isDirectory = entry.isDirectory()
    const own = [path, mode.toString(8), uid, gid, ...(isDirectory ? [] : [nlink, mtimeMs]), text].join(" ")
    return [own, ...(isDirectory ? snapshot(path) : [])]
  })

/** The words of processes on this machine in which one of some texts occurs. */
export const processesWith = (...texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = Fs.readFileSync(`/proc/${pid}/cmdline`, "latin1")
        return texts.some((text) => words.includes(text)) ? [`${pid} ${words.replaceAll("\0", " ")}`] : []
      } catch {
        return []
      }
    })

const appOf = (places: Places, setup: Setup) =>
  Synapse.layer(
    {
      cwd: places.project,
      privateDirectories: [
        `${places.temporary}/synapse-${process.getuid?.()}`,
        ...(setup.privateDirectories?.(places) ?? [])
      ]
    },
    {
      sandbox: {
        home: setup.synapseHome?.(places) ?? `${places.home}/.synapse`,
        userHome: places.home,
        temporary: setup.temporary?.(places) ?? places.temporary,
        enabled: true,
        temporaryFiles: setup.sharesTemporary === true ? "host" : "private",
        whitelist: setup.whitelist?.(places) ?? [],
        blacklist: setup.blacklist?.(places) ?? [],
        ...(setup.program === undefined ? {} : { program: setup.program(places) })
      },
      ...(setup.permission === undefined
        ? {}
        : {
            permission: Layer.succeed(Permission.Permission, { ask: () => Effect.succeed(setup.permission ?? "deny") })
          })
    }
  )

const make = (ground: string, setup: Setup) =>
  Effect.gen(function* () {
    const places = yield* Effect.acquireRelease(
      Effect.sync(() => build(ground)),
      ({ base, mark }) =>
        Effect.sync(() => {
          const left = processesWith(base, mark)
          // Not by path: an attack may have nested directories deeper than a path can say.
          if (ChildProcess.spawnSync("rm", ["-rf", base], { stdio: "ignore" }).status !== 0) {
            ChildProcess.execFileSync("chmod", ["-R", "u+rwX", base], { stdio: "ignore" })
            ChildProcess.execFileSync("rm", ["-rf", base], { stdio: "ignore" })
          }
          if (left.length > 0) throw new Error(`left behind: ${left.join("; ")}`)
        })
    )
    setup.prepare?.(places)
    const context = yield* Layer.build(appOf(places, setup))
    const manager = Context.get(context, SandboxManager.SandboxManager)
    const execute = (command: string) => Effect.orDie(manager.execute(command))
    let count = 0
    const world: Shape = {
      ...places,
      manager,
      mcp: Context.get(context, McpClient),
      execute,
      attack: (script) =>
        Effect.suspend(() => {
          const name = `attack-${++count}.sh`
          write(`${places.project}/.attacks/${name}`, `${script}\necho RAN\n`)
          return execute(`cd ${places.project} && bash .attacks/${name} </dev/null`)
        })
    }
    if (setup.earlier !== undefined) {
      const before = [places.home, places.outside].map(snapshot)
      assert.match((yield* world.attack(setup.earlier(places))).stdout, /^RAN$/m)
      yield* manager.shutdown
      assert.deepStrictEqual([places.home, places.outside].map(snapshot), before)
    }
    return world
  })

export const layer = (ground: string, setup: Setup = {}): Layer.Layer<World> =>
  Layer.scoped(World, Effect.orDie(make(ground, setup)))
