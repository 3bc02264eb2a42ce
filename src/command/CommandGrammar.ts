/**
 * A command's name, grammar and help in one definition: for the model, and for a person at the command line.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import type { FileSystem } from "@effect/platform/FileSystem"
import type { Path } from "@effect/platform/Path"
import type { Terminal } from "@effect/platform/Terminal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Types from "effect/Types"
import { type CommandError, InvalidUsage } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as Arguments from "./Arguments.js"
import type { CommandCall, CommandHandler, Described, RunOptions } from "./CommandHandler.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface CommandGrammar<A> extends Described {
  /** All that there is to know of it: USAGE, ARGUMENTS, OPTIONS, EXAMPLES. */
  readonly help: string
  /** The same as a subcommand for `@effect/cli`; it does nothing yet. */
  readonly command: Command.Command<string, never, never, A>
  /** Reads the words after the name. What does not fit fails with InvalidUsage: what is wrong, and the usage. */
  readonly parse: (args: ReadonlyArray<string>) => Effect.Effect<A, InvalidUsage>
}

/**
 * The options, and the operands in their order: texts, numbers, choices; no `Args.file`, which would ask the host's file
 * system. An operand that may be left out stands after those that may not.
 *
 * @since 0.1.0
 * @category models
 */
export type Config = Readonly<Record<string, Args.Args<unknown> | Options.Options<unknown>>>

/**
 * What there is to parse with `Config`.
 *
 * @since 0.1.0
 * @category models
 */
export type Params<C extends Config> = Types.Simplify<Command.Command.ParseConfig<C>>

const cliConfig = CliConfig.make({ autoCorrectLimit: 0, isCaseSensitive: true })

/** `@effect/cli` asks for these in its types. Texts, numbers and choices use none of them. */
const unused: Context.Context<FileSystem | Path | Terminal> = Context.unsafeMake(new Map())

/**
 * Options may stand before, between and behind the operands, as `--name value` and `--name=value`, flags alone; after `--`
 * there are operands only. Operands are taken as they are, the empty text too.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <const C extends Config>(
  definition: Described & { readonly help: string; readonly config: C }
): CommandGrammar<Params<C>> => {
  const { config, help, name, summary, usage } = definition
  const parts = Object.entries(config).map(([key, part]) =>
    Args.isArgs(part)
      ? { key, operand: part }
      : { key, option: part, kinds: Arguments.optionsOf([Options.getUsage(part)]) }
  )
  const kinds = new Map(parts.flatMap((part) => [...(part.kinds ?? [])]))
  const refuse = (reason: string) =>
    new InvalidUsage({ reason: `${name}: ${reason}\nUsage: ${usage}\nBash(command="${name} --help") shows more.` })

  const readOption = (
    option: Options.Options<unknown>,
    own: Arguments.Kinds,
    given: ReadonlyArray<Arguments.Given>
  ) => {
    const mine = given.filter(({ kind }) => own.has(kind.name))
    const words = mine.flatMap(({ kind, value }) => [kind.name, value])
    return Effect.mapError(Options.processCommandLine(option, words, cliConfig), (error) => {
      const optionName = [...own.values()][0]?.name ?? ""
      if (mine.length === 0 && ValidationError.isMissingValue(error)) return refuse(`${optionName} is missing.`)
      return refuse(complaint(mine[0]?.kind.name ?? optionName, error, mine.at(-1)?.value))
    })
  }

  const readOperand = (operand: Args.Args<unknown>, words: ReadonlyArray<string>) =>
    Effect.mapError(Args.validate(operand, words, cliConfig), (error) =>
      refuse(
        words.length < Args.getMinSize(operand)
          ? `${nameOf(operand)} is missing.`
          : complaint(nameOf(operand), error, words[0])
      )
    )

  const parse = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
    const split = Arguments.split(args, kinds)
    if (Either.isLeft(split)) return yield* refuse(split.left)
    const params: Record<string, unknown> = {}
    let words = split.right.operands
    for (const part of parts) {
      if (part.operand === undefined) {
        params[part.key] = (yield* readOption(part.option, part.kinds, split.right.options))[2]
      } else {
        const [rest, value] = yield* readOperand(part.operand, words)
        params[part.key] = value
        words = rest
      }
    }
    const [extra] = words
    if (extra !== undefined) return yield* refuse(`${Arguments.shown(extra)} is one operand too many.`)
    return params as Params<C>
  }, Effect.provide(unused))

  const command: Command.Command<string, never, never, Params<C>> = Command.make(name, config)
  return { name, summary, usage, help, command: Command.withDescription(command, summary), parse }
}

/**
 * What there is to say where the words ask how the command is used, and for nothing else: `-h` (the usage) as the first word,
 * `--help` (the help) as the first, or as the last with no `--` before it.
 *
 * @since 0.1.0
 * @category destructors
 */
export const helpFor = (
  { help, usage }: Pick<CommandGrammar<unknown>, "help" | "usage">,
  args: ReadonlyArray<string>
): string | undefined => {
  if (args[0] === "-h") return `Usage: ${usage}\n`
  const asksForHelp = args[0] === "--help" || (args.at(-1) === "--help" && !args.includes("--"))
  return asksForHelp ? help : undefined
}

/**
 * A handler: it answers what asks for help by itself (`helpFor`); else it reads the arguments and runs.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toHandler = <A>(
  grammar: CommandGrammar<A>,
  run: (params: A, call: CommandCall, options: RunOptions) => Effect.Effect<CommandResult.CommandResult, CommandError>,
  options: Pick<CommandHandler, "usesFiles" | "takesBare"> = {}
): CommandHandler => {
  const { name, parse, summary, usage } = grammar
  return {
    ...options,
    name,
    summary,
    usage,
    run: (call, runOptions) => {
      const answer = helpFor(grammar, call.args)
      if (answer !== undefined) return Effect.succeed(CommandResult.make({ stdout: answer }))
      return Effect.flatMap(parse(call.args), (params) => run(params, call, runOptions))
    }
  }
}

/**
 * An option whose value is a whole number that is not negative, in decimal digits.
 *
 * @param least the smallest that it may be
 * @since 0.1.0
 * @category options
 */
export const count = (name: string, least = 0): Options.Options<number> =>
  Options.text(name).pipe(
    Options.withPseudoName("N"),
    Options.filterMap((text) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
      return Number.isSafeInteger(value) && value >= least ? Option.some(value) : Option.none()
    }, `--${name} must be a whole number from ${least} to ${Number.MAX_SAFE_INTEGER}`)
  )

/** `<file>` */
const nameOf = (operand: Args.Args<unknown>): string => Option.getOrElse(Args.getIdentifier(operand), () => "<text>")

/** What `@effect/cli` says of a value, with the name and the value where it left them out. */
const complaint = (name: string, { error }: ValidationError.ValidationError, value: string | undefined): string => {
  const text = HelpDoc.toAnsiText(error)
    .replace(/\x1b\[[0-9;]*m/g, "")
    .trim()
    .slice(0, 500)
  const was = value === undefined ? "" : `; it was ${Arguments.shown(value)}`
  return `${text.includes(name) ? text : `${name}: ${text}`}${was}.`
}
