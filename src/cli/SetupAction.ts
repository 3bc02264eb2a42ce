/** The action of `synapse setup`, which shows a new user what is set up, and what adds the rest. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as LiveModelProvider from "../agent/model/LiveModelProvider.js"
import { ModelProvider } from "../agent/model/ModelProvider.js"
import * as ModelSettings from "../agent/model/ModelSettings.js"
import * as Attempt from "../domain/Attempt.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as ClientFile from "../extension/mcp/ClientFile.js"
import * as ConfigFile from "../extension/mcp/ConfigFile.js"
import * as OwnFile from "../extension/mcp/OwnFile.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as Action from "./Action.js"
import * as Completions from "./Completions.js"
import * as InstallAction from "./InstallAction.js"
import { print } from "./Invocation.js"

/** The largest start-up file of a shell, in bytes. */
const most = 1024 ** 2

/** The start-up file of each shell, and the line in it that loads the completions. */
const startUps: Readonly<Record<string, readonly [file: string, line: string]>> = {
  bash: [".bashrc", "source <(synapse --completions bash)"],
  zsh: [".zshrc", "source <(synapse --completions zsh)"],
  fish: [".config/fish/config.fish", "synapse --completions fish | source"]
}

const say = (what: string, text: string) => print("stdout", `${what.padEnd(12)}  ${text}`)

/** Loads the completions in the person's shell. */
const completions = (shell: string, home: string, isWritten: boolean) =>
  Effect.gen(function* () {
    const startUp = startUps[Path.basename(shell)]
    if (startUp === undefined)
      return yield* say(
        "completions",
        `for ${Completions.shells.join(", ")}: synapse --completions <shell> prints them`
      )
    const named = Path.join(home, startUp[0])
    // Write to the target of a link, since the file may be a link into a dotfiles repository.
    const path = Attempt.orElse(() => Fs.realpathSync(named), named)
    const [, line] = startUp
    const read = () => OwnFile.read(path, { most })
    const text = OwnFile.textOf(read())
    if (Either.isRight(text) && text.right?.includes(line) === true) return yield* say("completions", `in ${named}`)
    if (!isWritten) return yield* say("completions", `missing in ${named}: ${line}`)
    yield* ConfigFile.update(path, read, (before = "") =>
      Either.right(`${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${line}\n`)
    )
    return yield* say("completions", `${named} gets: ${line}`)
  })

type Settings = Context.Tag.Service<SandboxSettings.SandboxSettings>

/** Finds the installed clients by their files. */
const clientsIn = (settings: Settings): ReadonlyArray<keyof typeof ClientFile.clients> =>
  (Object.keys(ClientFile.clients) as ReadonlyArray<keyof typeof ClientFile.clients>).filter((name) => {
    const path = ClientFile.pathOf(ClientFile.clients[name], settings)
    return Fs.existsSync(path) || (Path.dirname(path) !== settings.userHome && Fs.existsSync(Path.dirname(path)))
  })

/** Adds Synapse to the installed clients. Returns false if one can't be changed. */
const clients = (settings: Settings, isWritten: boolean) =>
  Effect.gen(function* () {
    const here = clientsIn(settings)
    if (here.length === 0)
      yield* say("MCP clients", "none is here; synapse mcp install --help lists those that are known")
    const codes = yield* Effect.forEach(here, (name) =>
      Effect.gen(function* () {
        const client: ClientFile.Client = ClientFile.clients[name]
        const text = OwnFile.textOf(OwnFile.read(ClientFile.pathOf(client, settings), { most: InstallAction.most }))
        const changed = Either.isLeft(text)
          ? text
          : yield* Effect.promise(() => ClientFile.change(text.right ?? "", client, InstallAction.launch()))
        if (Either.isRight(changed) && changed.right === undefined)
          return yield* Effect.as(say("MCP clients", `${client.title} has Synapse`), ExitCode.success)
        if (isWritten) return yield* InstallAction.change({ client: name, yes: true }, InstallAction.launch())
        return yield* Effect.as(
          say("MCP clients", `${client.title} lacks it: synapse mcp install ${name}`),
          ExitCode.success
        )
      })
    )
    return codes.every((code) => code === ExitCode.success)
  })

/** Prints the configured model, or how to set one up. */
const model = Effect.flatMap(ModelProvider, ({ model }) => model()).pipe(
  Effect.matchEffect({
    onSuccess: ({ name, provider }) => say("model", `${provider}/${name}`),
    onFailure: ({ reason }) => say("model", `missing, which only synapse agent needs. ${reason}`)
  }),
  Effect.provide(LiveModelProvider.layer.pipe(Layer.provide(ModelSettings.layerFromEnv)))
)

/** Prints what is set up and what is missing. With `write`, adds everything that needs no secret. */
export const setup = ({ write }: { readonly write: boolean }) =>
  Effect.gen(function* () {
    const settings = yield* SandboxSettings.SandboxSettings
    const { userHome, variables } = settings
    yield* completions(variables["SHELL"] ?? "", userHome, write)
    const isDone = yield* clients(settings, write)
    yield* model
    if (!(variables["PATH"] ?? "").split(":").some((directory) => HostPath.isProgram(`${directory}/synapse`)))
      yield* say("PATH", "synapse is in none of its directories, and the completions need it there")
    if (!write) yield* say("to add", "synapse setup --write adds the completions and the clients that are missing")
    return isDone ? ExitCode.success : ExitCode.failure
  }).pipe(Action.run)
