/**
 * `synapse read`, `write` and `edit`: the commands of those names, for a person.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { ConfigError } from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import { quote } from "../bash/Quote.js"
import * as CommandGrammar from "../command/CommandGrammar.js"
import type { Form } from "../command/Parameter.js"
import * as Edit from "../commands/edit/Edit.js"
import * as Read from "../commands/read/Read.js"
import * as Write from "../commands/write/Write.js"
import * as Advice from "../domain/Advice.js"
import * as CommandInput from "../domain/CommandInput.js"
import { handle } from "./Exec.js"
import { House, Invocation } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

const grammars = [Edit.grammar, Read.grammar, Write.grammar]
const names = grammars.map(({ name }) => name)
const person = Advice.person(names)

/**
 * Tests whether the program's first word is `read`, `write` or `edit`. If so, the command itself parses the words after
 * it.
 *
 * @since 0.1.0
 */
export const isOne = (word: string | undefined): boolean => word !== undefined && names.includes(word)

/**
 * Runs the command that the program was called with. Its advice names what a person can type, not tool calls.
 *
 * @since 0.1.0
 */
export const run: Effect.Effect<void, ConfigError, House | Invocation | Stdio> = Effect.gen(function* () {
  const { args, setExitCode } = yield* Invocation
  const stdio = yield* Stdio
  const [name = "", ...words] = args
  const grammar = grammars.find((one) => one.name === name)
  const answer = grammar && CommandGrammar.helpFor(grammar, words, person)
  if (answer !== undefined) return yield* Effect.promise(async () => stdio.write("stdout", answer))
  const house = yield* House
  const command = [name, ...words.map(quote)].join(" ")
  const call = { id: name, name: "Bash", arguments: JSON.stringify({ command }) }
  const code = yield* handle(call, false).pipe(
    Effect.locally(CommandInput.current, inputOf(stdio)),
    Effect.provide(house.layer(SessionOptions.passedOn, {})),
    Effect.locally(Advice.audience, person)
  )
  yield* setExitCode(code)
})

const inputOf = ({ hasInput, read }: Context.Tag.Service<Stdio>): CommandInput.CommandInput | undefined =>
  hasInput()
    ? Stream.repeatEffectOption(
        Effect.flatMap(read, (chunk) => (chunk === undefined ? Effect.fail(Option.none()) : Effect.succeed(chunk)))
      )
    : undefined

/** Makes a subcommand for the program's help and completions; the command itself parses the words. */
const toSubcommand = ({ config, name, summary }: CommandGrammar.CommandGrammar<unknown>) =>
  Command.make(
    name,
    Record.map(config, ({ form }) => (form.kind === "operand" ? toArgs(form) : toOptions(form))),
    () => run
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
 * The usages of `read`, `write` and `edit`, with their names.
 *
 * @since 0.1.0
 */
export const usages: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = grammars.map(({ name, usage }) => [
  name,
  [usage]
])
