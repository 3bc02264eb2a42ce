/** The current directory of the process, which may have been deleted. */
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"

/** Returns the current directory; fails where it was deleted, or can't be found out. */
export const current = (): Either.Either<string, ConfigError.ConfigError> =>
  Either.try({
    try: () => process.cwd(),
    catch: (error) => {
      const { code, message } = error as NodeJS.ErrnoException
      const what = code === "ENOENT" ? "was deleted" : `can't be read (${message})`
      return ConfigError.InvalidData(
        [],
        `The current directory ${what}: change to one that is there, or name it (cwd).`
      )
    }
  })
