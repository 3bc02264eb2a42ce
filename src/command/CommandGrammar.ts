/**
 * Defines a command's name, parameters and help in one place, for the model and for a person at the command line.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Types from "effect/Types"
import * as Advice from "../domain/Advice.js"
import { type CommandError, InvalidUsage } from "../domain/CommandError.js"
import * as CommandResult from "../domain/CommandResult.js"
import * as Arguments from "./Arguments.js"
import type { CommandCall, CommandHandler, Described, RunOptions } from "./CommandHandler.js"
import type { Parameter } from "./Parameter.js"

/**
 * The grammar of a command: its name, usage and help, and the parser of its words.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommandGrammar<A> extends Described {
  /** The full help: USAGE, ARGUMENTS, OPTIONS, EXAMPLES. */
  readonly help: string
  /** The parameters, by their names in the result of `parse`. */
  readonly config: Config
  /**
   * Parses the words after the name. Wrong words fail with InvalidUsage, which tells what is wrong and shows the usage.
   */
  readonly parse: (args: ReadonlyArray<string>) => Either.Either<A, InvalidUsage>
}

/**
 * The parameters of a command by name: its options, and its operands in their order.
 *
 * @since 0.1.0
 * @category models
 */
export type Config = Readonly<Record<string, Parameter<unknown>>>

/**
 * The result of `parse` for a `Config`.
 *
 * @since 0.1.0
 * @category models
 */
export type Params<C extends Config> = Types.Simplify<{
  readonly [K in keyof C]: C[K] extends Parameter<infer A> ? A : never
}>

/**
 * Makes a grammar. Options may stand before, between and after the operands, as `--name value` or `--name=value`. Flags
 * take no value. All words after `--` are operands. An operand may be any text, even an empty one.
 *
 * @example
 * ```ts
 * import { CommandGrammar, Parameter } from "synapse-shell"
 *
 * const grammar = CommandGrammar.make({
 *   name: "greet",
 *   summary: "Greets somebody.",
 *   usage: "greet <name> [--times N]",
 *   help: "greet - greet somebody\n",
 *   config: {
 *     name: Parameter.operand("name"),
 *     times: Parameter.count("times", 1).pipe(Parameter.withDefault(1))
 *   }
 * })
 *
 * grammar.parse(["Ada", "--times", "2"]) // { name: "Ada", times: 2 }
 * ```
 * @since 0.1.0
 * @category constructors
 */
export const make = <const C extends Config>(
  definition: Described & { readonly help: string; readonly config: C }
): CommandGrammar<Params<C>> => {
  const { config, help, name, summary, usage } = definition
  const read = reader(config)
  const parse = (args: ReadonlyArray<string>) => Either.mapLeft(read(args), (reason) => misuse({ name, usage }, reason))
  return { name, summary, usage, help, config, parse }
}

/**
 * Makes a grammar whose help begins with the summary and the usage.
 *
 * @param definition.more the rest of the help, from its second section on
 * @since 0.1.0
 * @internal
 */
export const described = <const C extends Config>({
  more = "",
  ...definition
}: Described & { readonly more?: string; readonly config: C }): CommandGrammar<Params<C>> => {
  const { name, summary, usage } = definition
  return make({ ...definition, help: `${name} - ${summary}\n\nUSAGE\n  ${usage}\n${more}` })
}

/**
 * Makes a parser of a call's words. Its left side says what is wrong with them.
 *
 * @param explain words the error for an unknown option; by default, it tells that an operand goes after `--`
 * @since 0.1.0
 * @category constructors
 */
export const reader = <const C extends Config>(
  config: C,
  explain?: Arguments.Explain
): ((args: ReadonlyArray<string>) => Either.Either<Params<C>, string>) => {
  const parameters = Object.entries<Parameter<unknown>>(config)
  const options = new Map(
    parameters.flatMap(([, { form }]) =>
      form.kind === "operand" ? [] : [...form.aliases, form.name].map((name) => [name, form] as const)
    )
  )
  return (args) => {
    const split = Arguments.split(args, options, explain)
    if (Either.isLeft(split)) return Either.left(split.left)
    const params: Record<string, unknown> = {}
    let { operands } = split.right
    for (const [key, { form, read }] of parameters) {
      const isOperand = form.kind === "operand"
      const taken = form.isRepeated ? operands.length : 1
      const values = isOperand ? operands.slice(0, taken) : (split.right.options.get(form.name) ?? [])
      if (isOperand) operands = operands.slice(taken)
      const value = read(values)
      if (Either.isLeft(value)) return Either.left(value.left)
      params[key] = value.right
    }
    const [extra] = operands
    return extra === undefined
      ? Either.right(params as Params<C>)
      : Either.left(`${Arguments.quoted(extra)} is one operand too many.`)
  }
}

/**
 * Makes the error for a wrong call of a command: what is wrong, the usage, and how to read more.
 *
 * @param examples correct calls: each a line, and the lines that belong to it
 * @since 0.1.0
 * @category errors
 */
export const misuse = (
  { name, usage }: Pick<Described, "name" | "usage">,
  reason: string,
  examples: ReadonlyArray<readonly [line: string, ...more: ReadonlyArray<string>]> = []
): InvalidUsage =>
  new InvalidUsage({
    reason: `${name}: ${reason}`,
    advice: [
      Advice.line`Usage: ${usage}`,
      ...examples.flatMap(([line, ...more]) => [Advice.line`  ${line}`, ...more.map((text) => Advice.line`  ${text}`)]),
      Advice.line`${Advice.run(`${name} --help`)} shows more.`
    ]
  })

/**
 * Returns the usage if the first word is `-h`. Returns the help if the first word is `--help`, or the last one is and
 * no `--` precedes it. Otherwise returns undefined.
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
 * Makes a handler. It answers calls that ask for help (`helpFor`), and parses the words of all others before it runs
 * them.
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
    hasHelp: true,
    run: (call, runOptions) => {
      const answer = helpFor(grammar, call.args)
      if (answer !== undefined) return Effect.succeed(CommandResult.make({ stdout: answer }))
      return Effect.flatMap(parse(call.args), (params) => run(params, call, runOptions))
    }
  }
}
