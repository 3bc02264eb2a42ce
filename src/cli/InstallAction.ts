/** The actions of `synapse mcp install` and `uninstall`, which add Synapse to other programs as an MCP server. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Attempt from "../domain/Attempt.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ClientFile from "../extension/mcp/ClientFile.js"
import * as ConfigFile from "../extension/mcp/ConfigFile.js"
import * as OwnFile from "../extension/mcp/OwnFile.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as TaintedPaths from "../sandbox/config/TaintedPaths.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as Action from "./Action.js"
import { complain, print, succeed } from "./Invocation.js"
import * as Mcp from "./Mcp.js"

/** The largest file, in bytes. Claude Code's file also holds its history. */
export const most = 64 * 1024 ** 2

/** The command that starts this program, with absolute paths because desktop programs have a short PATH. */
export const launch = (): ClientFile.Launch => ({
  command: process.execPath,
  args: [Attempt.orElse(() => Fs.realpathSync(process.argv[1] ?? ""), process.argv[1] ?? ""), "mcp", "serve"]
})

interface Given {
  readonly client: keyof typeof ClientFile.clients
  readonly yes: boolean
}

/** Changes a client's file after the person has agreed, or says that nothing has to change. */
export const change = ({ client: name, yes }: Given, server: ClientFile.Launch | undefined) =>
  Effect.gen(function* () {
    const client: ClientFile.Client = ClientFile.clients[name]
    const settings = yield* SandboxSettings.SandboxSettings
    const named = ClientFile.pathOf(client, settings)
    // Write to the target of a link, since the file may be a link into a dotfiles repository.
    const path = Attempt.orElse(() => Fs.realpathSync(named), named)
    if (server !== undefined && !Fs.existsSync(Path.dirname(path)))
      return yield* complain(`${client.title} is not here: there is no ${Path.dirname(path)}.`)
    const read = () => OwnFile.read(path, { most })
    const found = read()
    if (Either.isLeft(found)) return yield* complain(`${path} can't be changed: ${found.left}.`)
    const text = OwnFile.textOf(found)
    const changed = Either.isLeft(text)
      ? Either.left(text.left)
      : yield* Effect.promise(() => ClientFile.change(text.right ?? "", client, server))
    if (Either.isLeft(changed)) {
      const advice = server === undefined ? "" : ` Add this yourself:\n${ClientFile.entryOf(client, server)}`
      return yield* complain(`${path} can't be changed: ${changed.left}.${advice}`)
    }
    const { right: after } = changed
    if (after === undefined) {
      yield* print(
        "stdout",
        `Nothing to do: ${path} ${server === undefined ? "has no server" : "has the server"} synapse.`
      )
      return ExitCode.success
    }
    yield* print(
      "stdout",
      server === undefined
        ? `${path}: the server synapse is taken out.`
        : `${path} gets:\n${ClientFile.entryOf(client, server)}`
    )
    const cwd = Attempt.orElse(process.cwd, "/")
    const isExposed = (file: string) =>
      (cwd !== "/" && HostPath.isWithin(file, cwd)) || TaintedPaths.couldWrite(settings.home, file)
    const exposed = [server?.command, server?.args[0]].find((file) => file !== undefined && isExposed(file))
    if (exposed !== undefined)
      yield* print(
        "stdout",
        `Commands of a session in its directory can write ${exposed}, and ${client.title} runs it outside of the sandbox. An install elsewhere is safer.`
      )
    if (!(yield* Mcp.confirm("Write it?", yes))) {
      yield* print("stderr", "Nothing was written.")
      return ExitCode.failure
    }
    yield* ConfigFile.update(path, read, (now) =>
      now === Either.getOrUndefined(text)
        ? Either.right(after)
        : Either.left("it has changed meanwhile: run this again")
    )
    return yield* succeed(`Written. Restart ${client.title}.`)
  })

/** Adds Synapse to a client's list of servers, or prints the entry. */
export const install = ({ print: isPrinted, ...given }: Given & { readonly print: boolean }) =>
  Action.run(
    isPrinted
      ? succeed(ClientFile.entryOf(ClientFile.clients[given.client], launch()).trimEnd())
      : change(given, launch())
  )

/** Removes Synapse from a client's list of servers. */
export const uninstall = (given: Given) => Action.run(change(given, undefined))
