/** A whole app over this machine's own shell, in a directory of its own: what a model's tool call does and answers. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { it, layer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Handler } from "../../../src/command/CommandHandler.js"
import * as Synapse from "../../../src/Synapse.js"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import * as Extension from "../Extension.js"
import { isSandboxed } from "../sandbox/Bubblewrap.js"
import * as Directory from "../sandbox/Directory.js"

/** Whether the shell lies in a sandbox; the tests say so in their names where it does not. */
/** What a command put out and how it ended. */
interface Seen {
  readonly exitCode: number | undefined
  readonly stdout: string | undefined
  readonly stderr: string | undefined
}

export interface App {
  /** The directory that the shell begins in, by its real path. */
  readonly cwd: string
  /** The answer to a call of the tool Bash, or of another, with these parameters. Two at once need an id each. */
  readonly handle: (params: object, id?: string, tool?: string) => Effect.Effect<ToolReturn>
  /** Cancels the call of this id; tells whether it was running. */
  readonly cancel: (id: string) => Effect.Effect<boolean>
  /** The streams and the exit code of the answer. */
  readonly run: (command: string) => Effect.Effect<Seen>
  /** Gives a file of the directory this content. */
  readonly put: (name: string, content: string | Uint8Array) => void
  /** A file's bytes, each as the character of that number. */
  readonly bytes: (name: string) => string
}

/** A string as `bytes` gives it: each byte of its UTF-8 as a character. */
export const utf8 = (text: string): string => Buffer.from(text).toString("latin1")

/** A word for bash that stands for this text, whatever is in it. */
export const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const seen = ({ extras: { exitCode, stderr, stdout } }: ToolReturn): Seen => ({ exitCode, stdout, stderr })

/** A test with an app of its own, in a sandbox where there can be one and nothing else is asked for. */
export const inApp = (
  name: string,
  use: (app: App) => Effect.Effect<unknown>,
  enabled: boolean = isSandboxed,
  commands: Synapse.Commands = {}
): void => inAppOf(enabled, name, use, commands)

/**
 * A test with an app of its own, in a sandbox where there can be one. A contract's, whose name has its number, runs
 * without a sandbox as well. `handlers` are commands besides the app's own.
 */
export const inApps = (
  name: string,
  use: (app: App) => Effect.Effect<unknown>,
  handlers: ReadonlyArray<Handler> = []
): void => {
  if (isSandboxed) inAppOf(true, name, use, Extension.commands(handlers))
  if (!isSandboxed || /\bS\d+\b/.test(name)) inAppOf(false, name, use, Extension.commands(handlers))
}

const inAppOf = (
  enabled: boolean,
  name: string,
  use: (app: App) => Effect.Effect<unknown>,
  commands?: Synapse.Commands
): void =>
  it.live(
    enabled ? name : `${name} (without a sandbox)`,
    () => Effect.scoped(Effect.flatMap(make(enabled, commands), use)),
    60_000
  )

const make = (enabled: boolean, commands: Synapse.Commands = {}): Effect.Effect<App, never, Scope.Scope> =>
  Effect.gen(function* () {
    const cwd = yield* Directory.make
    const outside = yield* Directory.make
    const sandbox = { home: `${outside}/home`, temporary: outside, enabled }
    const services = yield* Effect.orDie(Layer.build(Synapse.layer({ cwd }, { sandbox, commands })))
    return appOf(cwd, Context.get(services, Toolset))
  })

const appOf = (cwd: string, toolset: typeof Toolset.Service): App => {
  const handle = (params: object, id = "1", name = "Bash") =>
    toolset.handle({ id, name, arguments: JSON.stringify(params) })
  return {
    cwd,
    handle,
    cancel: (id) => toolset.cancel(id),
    run: (command) => Effect.map(handle({ command }), seen),
    put: (file, content) => Fs.writeFileSync(`${cwd}/${file}`, content),
    bytes: (file) => Fs.readFileSync(`${cwd}/${file}`, "latin1")
  }
}

class Shared extends Context.Tag("test/SharedApp")<Shared, App>() {}

/** Tests of one app, each in a directory of its own, which none of them may spoil for the next. */
export const shareApp = (
  title: string,
  tests: (test: (name: string, use: (app: App) => Effect.Effect<unknown>) => void) => void
): void =>
  layer(Layer.scoped(Shared, make(isSandboxed)), { excludeTestServices: true })(title, (it) =>
    tests((name, use) =>
      it.effect(
        name,
        () =>
          Effect.gen(function* () {
            const shared = yield* Shared
            const cwd = Fs.mkdtempSync(`${shared.cwd}/`)
            yield* shared.run(`cd ${cwd}`)
            yield* use({
              ...shared,
              cwd,
              put: (file, content) => shared.put(`${Path.basename(cwd)}/${file}`, content),
              bytes: (file) => shared.bytes(`${Path.basename(cwd)}/${file}`)
            })
          }),
        60_000
      )
    )
  )
