/**
 * The subcommands `read`, `write` and `edit`, for the program's help and completions; the words after them are read by the
 * commands themselves.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Record from "effect/Record"
import type * as CommandGrammar from "../command/CommandGrammar.js"
import type { Form } from "../command/Parameter.js"
import * as Edit from "../commands/edit/Edit.js"
import * as Read from "../commands/read/Read.js"
import * as Write from "../commands/write/Write.js"
import * as FileAction from "./FileAction.js"

const toSubcommand = ({ config, name, summary }: CommandGrammar.CommandGrammar<unknown>) =>
  Command.make(
    name,
    Record.map(config, ({ form }) => (form.kind === "operand" ? toArgs(form) : toOptions(form))),
    () => FileAction.run
  ).pipe(Command.withDescription(summary))

const toArgs = ({ isRepeated, isRequired, name }: Form): Args.Args<unknown> => {
  const args = Args.text({ name: name.slice(1, -1) })
  return isRepeated ? Args.repeated(args) : isRequired ? args : Args.optional(args)
}

const toOptions = ({ isRepeated, isRequired, kind, name, placeholder }: Form): Options.Options<unknown> => {
  if (kind === "flag") return Options.boolean(name.slice(2))
  const option = Options.text(name.slice(2)).pipe(Options.withPseudoName(placeholder))
  return isRepeated ? Options.repeated(option) : isRequired ? option : Options.optional(option)
}

/**
 * The subcommands `read`, `write` and `edit`, for the program's help and completions.
 *
 * @since 0.1.0
 * @category commands
 */
export const commands = [toSubcommand(Edit.grammar), toSubcommand(Read.grammar), toSubcommand(Write.grammar)] as const

/**
 * The usage of `read`, `write` and `edit`, by their names.
 *
 * @since 0.1.0
 */
export const usages: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = FileAction.grammars.map(
  ({ name, usage }) => [name, [usage]]
)
