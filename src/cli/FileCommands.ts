/**
 * `synapse read`, `write` and `edit`: the commands of those names, for a person.
 *
 * @since 0.1.0
 */
import * as Command from "@effect/cli/Command"
import type { ConfigError } from "effect/ConfigError"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { quote } from "../bash/Quote.js"
import * as CommandGrammar from "../command/CommandGrammar.js"
import * as Edit from "../commands/edit/Edit.js"
import * as Read from "../commands/read/Read.js"
import * as Write from "../commands/write/Write.js"
import * as CommandInput from "../domain/CommandInput.js"
import { handle } from "./Exec.js"
import { FileHints } from "./FileHints.js"
import { House, Invocation } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import { Stdio } from "./Stdio.js"

const grammars = [Edit.grammar, Read.grammar, Write.grammar]
const names = grammars.map(({ name }) => name)

/**
 * Whether the program's first word is one of them: the words after it are for the command to read, not for the program.
 *
 * @since 0.1.0
 */
export const isOne = (word: string | undefined): boolean => word !== undefined && names.includes(word)

/**
 * Runs what the program was called with, where the first word is one of them.
 *
 * @since 0.1.0
 */
export const run: Effect.Effect<void, ConfigError, House | Invocation | Stdio> = Effect.gen(function* () {
  const { args, setExitCode } = yield* Invocation
  const stdio = yield* Stdio
  const [name = "", ...words] = args
  const grammar = grammars.find((one) => one.name === name)
  const answer = grammar && CommandGrammar.helpFor({ ...grammar, usage: `synapse ${grammar.usage}` }, words)
  if (answer !== undefined) return yield* Effect.promise(async () => stdio.write("stdout", answer))
  const house = yield* House
  const command = [name, ...words.map(quote)].join(" ")
  const call = { id: name, name: "Bash", arguments: JSON.stringify({ command }) }
  const hints = new FileHints(names, stdio.write)
  const code = yield* handle(call, false).pipe(
    Effect.provideService(Stdio, {
      ...stdio,
      write: (stream, chunk) => (stream === "stdout" ? stdio.write(stream, chunk) : hints.push(chunk))
    }),
    Effect.ensuring(Effect.promise(async () => hints.end())),
    Effect.locally(CommandInput.current, inputOf(stdio)),
    Effect.provide(house.layer(SessionOptions.passedOn, {}))
  )
  yield* setExitCode(code)
})

const inputOf = ({ hasInput, read }: Context.Tag.Service<Stdio>): CommandInput.CommandInput | undefined =>
  hasInput()
    ? Stream.repeatEffectOption(
        Effect.flatMap(read, (chunk) => (chunk === undefined ? Effect.fail(Option.none()) : Effect.succeed(chunk)))
      )
    : undefined

/**
 * Their place among the subcommands, for the program's help.
 *
 * @since 0.1.0
 * @category commands
 */
export const commands = [
  Command.withHandler(Edit.grammar.command, () => run),
  Command.withHandler(Read.grammar.command, () => run),
  Command.withHandler(Write.grammar.command, () => run)
] as const

/**
 * How each of them is used, by its name.
 *
 * @since 0.1.0
 */
export const usages: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = grammars.map(({ name, usage }) => [
  name,
  [usage]
])
