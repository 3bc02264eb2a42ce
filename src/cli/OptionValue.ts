/** Options with a kind of value, whose errors name them: those of `@effect/cli`'s own kinds do not. */
import * as Fs from "node:fs"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"

/**
 * Makes an option whose value is a whole number from 1 on.
 *
 * @param of words behind `a whole number`: ` of milliseconds`
 */
export const whole = (name: string, of = "", most = Number.MAX_SAFE_INTEGER): Options.Options<number> =>
  Options.text(name).pipe(
    Options.filterMap(
      (text) => Option.liftPredicate(Number(text), (count) => /^\+?\d+$/.test(text) && count >= 1 && count <= most),
      `--${name} must be a whole number${of} from 1 ${most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`}`
    )
  )

/** Makes an option whose value is the path of a directory. */
export const directory = (name: string): Options.Options<string> =>
  Options.directory(name).pipe(
    Options.filterMap(
      Option.liftPredicate((path) => Fs.existsSync(path)),
      `--${name} must be a directory that exists`
    )
  )
