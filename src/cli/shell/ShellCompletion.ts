/** Completes what a person types: names of commands, options of ours, and paths as commands see them. */
import * as Effect from "effect/Effect"
import * as ShellText from "../../bash/ShellText.js"
import { CommandRegistry } from "../../command/CommandRegistry.js"
import * as CallContext from "../../domain/CallContext.js"
import type * as CommandListener from "../../domain/CommandListener.js"
import { SandboxManager } from "../../sandbox/SandboxManager.js"
import * as Completion from "../../terminal/Completion.js"
import type { Options } from "../../terminal/LineEditor.js"
import * as OwnCommand from "./OwnCommand.js"
import * as ShellApp from "./ShellApp.js"

/** Milliseconds that a question may take, and the most bytes of its answer. */
const longest = 2000
const most = 1_000_000

/** Runs lines of bash whose output are names, each with an end behind it. Where that fails, there are none. */
const ask = (app: ShellApp.ShellApp, end: string, lines: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const sandbox = yield* ShellApp.service(app, SandboxManager)
    const backend = yield* sandbox.getSandbox(app.directory)
    const chunks: Array<Buffer> = []
    let size = 0
    const listener: CommandListener.CommandListener = {
      takesAll: true,
      onOutput: (stream, chunk) => {
        if (stream === "stderr" || size > most) return
        size += chunk.length
        chunks.push(Buffer.from(chunk))
      }
    }
    const text = ["(", "__synapse_status=$?", "set +euxvf +o noclobber", ...lines, "exit $__synapse_status", ")"].join(
      "\n"
    )
    yield* CallContext.locally(backend.execute(text, { timeout: longest }), { listener })
    return ShellText.decode(Buffer.concat(chunks)).split(end).slice(0, -1)
  }).pipe(
    Effect.timeout(longest),
    Effect.catchAll(() => Effect.succeed([]))
  )

/** Returns the names of all functions, aliases, builtins and programs. */
const commands = (app: ShellApp.ShellApp): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(ask(app, "\n", ["\\builtin compgen -A function -A alias -A builtin -A keyword -A command"]), (names) =>
    names.filter((name) => !name.startsWith("__synapse") && !/[\p{Cc}\p{Cs}]/u.test(name))
  )

/**
 * Lists a directory as commands see it. A byte of a name that is not UTF-8 is a lone surrogate, as `ShellText` has it.
 */
const list = (app: ShellApp.ShellApp, directory: string): Effect.Effect<ReadonlyArray<Completion.Name>> => {
  const lines = [
    "shopt -s nullglob dotglob; shopt -u failglob",
    `for path in ${Completion.write(directory === "" ? "." : directory, "'", true)}/*; do`,
    "  name=${path##*/}; [[ -d $path ]] && name+=/",
    "  \\builtin printf '%s\\0' \"$name\"",
    "done"
  ]
  return Effect.map(ask(app, "\0", lines), (names) =>
    names.map((name) => ({ name: name.replace(/\/$/, ""), isDirectory: name.endsWith("/") }))
  )
}

export const make =
  (app: ShellApp.ShellApp): Options["complete"] =>
  (text, place) =>
    Effect.flatMap(ShellApp.service(app, CommandRegistry), (registry) => {
      const ours = registry
        .listed()
        .flatMap((handler) => [handler, ...(handler.known?.() ?? [])])
        .filter(({ name }) => !/[*\s]/.test(name))
        .map(({ name }) => name)
      const complete = Completion.make({
        commands: Effect.map(commands(app), (others) => [...ours, ...others]),
        ownCommands: OwnCommand.names.map((name) => `/${name}`),
        options: (command) => {
          const handler = registry.find(command)
          return handler === undefined ? [] : ["--help", ...(handler.usage.match(/--[a-z][a-z-]*/g) ?? [])]
        },
        list: (directory) => list(app, directory),
        home: app.home
      })
      // What follows /tty is a command line of its own.
      const [own = ""] = /^\/tty\s+/.exec(text) ?? []
      if (own === "" || place < own.length) return complete(text, place)
      return Effect.map(complete(text.slice(own.length), place - own.length), ({ start, words }) => ({
        start: start + own.length,
        words
      }))
    })
