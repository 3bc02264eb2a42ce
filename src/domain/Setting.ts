import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"

/** Returns the current directory, or an error if it was deleted or can't be read. */
export const currentDirectory = (read = () => process.cwd()): Either.Either<string, ConfigError.ConfigError> =>
  Either.try({
    try: read,
    catch: (error) => {
      const { code, message } = error as NodeJS.ErrnoException
      const what = code === "ENOENT" ? "was deleted" : `can't be read (${message})`
      return ConfigError.InvalidData(
        [],
        `The current directory ${what}: change to one that is there, or name it (cwd).`
      )
    }
  })

/** A setting that is a whole number of at least `least`. Any other text is a ConfigError. */
export const wholeNumber = (name: string, least: 0 | 1): Config.Config<number> =>
  Config.string(name).pipe(
    Config.mapOrFail((text) => {
      const value = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN
      return checkWholeNumber(name, value, least, text)
    })
  )

/**
 * Checks a whole number that a program passes as a setting.
 *
 * @param shown the value in the error's words
 */
export const checkWholeNumber = (
  name: string,
  value: unknown,
  least: 0 | 1,
  shown = String(value)
): Either.Either<number, ConfigError.ConfigError> => {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return Either.right(value)
  const kind = least === 0 ? "a whole number, 0 or more" : "a positive whole number"
  return Either.left(ConfigError.InvalidData([], `${name}=${shown}: must be ${kind}`))
}
