/**
 * The parameters of a command: operands (`<file>`), options with a value (`--limit N`) and flags (`--all`).
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Pipeable from "effect/Pipeable"
import * as Arguments from "./Arguments.js"

/**
 * The form of a parameter in a command line.
 *
 * @since 0.1.0
 * @category models
 */
export interface Form {
  readonly kind: "operand" | "option" | "flag"
  /** The name in a usage line: `<file>`, `--limit`. */
  readonly name: string
  /** Other names of an option: `-n`. */
  readonly aliases: ReadonlyArray<string>
  /** The placeholder for the value in a usage line: `N`. */
  readonly placeholder: string
  readonly isRequired: boolean
  /** True if it may be given more than once. */
  readonly isRepeated: boolean
  /** A sentence for the help. */
  readonly description?: string
}

/**
 * A parameter of a command, and the parser of its values.
 *
 * @since 0.1.0
 * @category models
 */
export class Parameter<out A> extends Pipeable.Class() {
  constructor(
    readonly form: Form,
    /** Parses the given values in order, or says on the left what is wrong with them. */
    readonly read: (values: ReadonlyArray<string>) => Either.Either<A, string>
  ) {
    super()
  }
}

const text = (form: Pick<Form, "kind" | "name">): Parameter<string> =>
  new Parameter({ ...form, aliases: [], placeholder: "text", isRequired: true, isRepeated: false }, ([value]) =>
    value === undefined ? Either.left(`${form.name} is missing.`) : Either.right(value)
  )

/**
 * Makes an operand: any text, even an empty one. Operands are taken in the order of their definition. Optional ones
 * must come last.
 *
 * @since 0.1.0
 * @category constructors
 */
export const operand = (name: string): Parameter<string> => text({ kind: "operand", name: `<${name}>` })

/**
 * Makes an option with a value: `--name value` or `--name=value`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const option = (name: string): Parameter<string> => text({ kind: "option", name: `--${name}` })

/**
 * Makes an option without a value. `--name=false` is the same as leaving it out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const flag = (name: string): Parameter<boolean> =>
  new Parameter({ ...text({ kind: "flag", name: `--${name}` }).form, isRequired: false }, ([value]) =>
    Either.right(value === "true")
  )

/**
 * Makes an option whose value is a whole number in decimal digits, not negative.
 *
 * @param least the smallest value allowed
 * @since 0.1.0
 * @category constructors
 */
export const count = (name: string, least = 0): Parameter<number> =>
  option(name).pipe(
    withPlaceholder("N"),
    filterMap((text) => {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
      return Number.isSafeInteger(value) && value >= least ? Option.some(value) : Option.none()
    }, `--${name} must be a whole number from ${least} to ${Number.MAX_SAFE_INTEGER}`)
  )

/**
 * Makes an option whose value is one of the given texts.
 *
 * @since 0.1.0
 * @category constructors
 */
export const choice = <const Choices extends ReadonlyArray<string>>(
  name: string,
  choices: Choices
): Parameter<Choices[number]> =>
  option(name).pipe(
    withPlaceholder(choices.join("|")),
    filterMap(
      (text) => Option.fromNullable(choices.find((choice) => choice === text)),
      `--${name} must be one of ${choices.join(", ")}`
    )
  )

/**
 * Converts the value into another, or refuses it.
 *
 * @param message the error for a refused value: `--limit must be a whole number`
 * @since 0.1.0
 * @category combinators
 */
export const filterMap =
  <A, B>(f: (value: A) => Option.Option<B>, message: string) =>
  (self: Parameter<A>): Parameter<B> =>
    new Parameter(self.form, (values) =>
      Either.flatMap(self.read(values), (value) =>
        Either.fromOption(f(value), () => `${message}; it was ${Arguments.quoted(values.at(-1) ?? "")}.`)
      )
    )

/**
 * Sets the placeholder for an option's value in a usage line.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withPlaceholder =
  (placeholder: string) =>
  <A>(self: Parameter<A>): Parameter<A> =>
    new Parameter({ ...self.form, placeholder }, self.read)

/**
 * Sets the sentence that describes the parameter in the help.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withDescription =
  (description: string) =>
  <A>(self: Parameter<A>): Parameter<A> =>
    new Parameter({ ...self.form, description }, self.read)

/**
 * Gives an option another name of one letter, as in `-n`.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withAlias =
  (letter: string) =>
  <A>(self: Parameter<A>): Parameter<A> =>
    new Parameter({ ...self.form, aliases: [...self.form.aliases, `-${letter}`] }, self.read)

/**
 * Makes a parameter optional by giving it a default.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withDefault =
  <B>(value: B) =>
  <A>(self: Parameter<A>): Parameter<A | B> =>
    new Parameter<A | B>({ ...self.form, isRequired: false }, (values) =>
      values.length === 0 ? Either.right(value) : self.read(values)
    )

/**
 * Makes a parameter optional. Its value is `Option.none` if it is left out.
 *
 * @since 0.1.0
 * @category combinators
 */
export const optional = <A>(self: Parameter<A>): Parameter<Option.Option<A>> =>
  new Parameter({ ...self.form, isRequired: false }, (values) =>
    values.length === 0 ? Either.right(Option.none()) : Either.map(self.read(values), Option.some)
  )

/**
 * Lets a parameter be given any number of times. An operand takes all remaining words.
 *
 * @since 0.1.0
 * @category combinators
 */
export const repeated = <A>(self: Parameter<A>): Parameter<ReadonlyArray<A>> =>
  new Parameter({ ...self.form, isRequired: false, isRepeated: true }, (values) =>
    Either.all(values.map((value) => self.read([value])))
  )
