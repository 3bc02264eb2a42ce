/**
 * Bash completions that start no program and know no names. `@effect/cli` writes them from the table of subcommands.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Record from "effect/Record"
import type { Form } from "../command/Parameter.js"
import * as Version from "../domain/Version.js"
import { succeed, WrongUsage } from "./Invocation.js"
import type { Stdio } from "./Stdio.js"
import * as Subcommands from "./Subcommands.js"

const toArgs = ({ isRepeated, name }: Form): Args.Args<unknown> => {
  const args = Args.text({ name: name.slice(1, -1) })
  return isRepeated ? Args.repeated(args) : Args.optional(args)
}

const toOptions = ({ isRepeated, kind, name, placeholder }: Form): Options.Options<unknown> => {
  if (kind === "flag") return Options.boolean(name.slice(2))
  const option = Options.text(name.slice(2)).pipe(Options.withPseudoName(placeholder))
  return isRepeated ? Options.repeated(option) : Options.optional(option)
}

const toCommand = ({ config, name, summary }: Subcommands.Subcommand) =>
  Command.make(
    name.replace(/.* /, ""),
    Record.map(config, ({ form }) => (form.kind === "operand" ? toArgs(form) : toOptions(form))),
    () => Effect.void
  ).pipe(Command.withDescription(summary))

const root = Command.make("synapse").pipe(
  Command.withSubcommands([
    toCommand(Subcommands.find(["doctor"]) as Subcommands.Subcommand),
    ...Subcommands.all.filter(({ name }) => !name.includes(" ") && name !== "doctor").map(toCommand),
    ...Object.entries(Subcommands.groups).map(([group, summary]) => {
      const [first, ...others] = Subcommands.all.filter(({ name }) => name.startsWith(`${group} `)).map(toCommand)
      return Command.make(group).pipe(
        Command.withDescription(summary),
        Command.withSubcommands([first as NonNullable<typeof first>, ...others])
      )
    })
  ])
)

export const run: Effect.Effect<number, WrongUsage, Stdio> = Effect.gen(function* () {
  const printed: Array<string> = []
  yield* Effect.mapError(
    Command.run(root, { name: "synapse", version: Version.current })(["node", "synapse", "--completions", "sh"]),
    () => new WrongUsage({ message: "--completions sh can't be written." })
  ).pipe(Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)), (effect) =>
    Console.consoleWith((console) =>
      Effect.withConsole(effect, {
        ...console,
        log: (...texts) => Effect.sync(() => printed.push(texts.join(" "))),
        error: () => Effect.void
      })
    )
  )
  return yield* succeed(printed.join("\n").trimEnd())
})
