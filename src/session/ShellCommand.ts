/** Parses the command line that starts a shell. */
import * as Either from "effect/Either"
import * as CommandLine from "../bash/CommandLine.js"
import { InvalidUsage } from "../domain/CommandError.js"

/** A program to spawn, and its arguments. */
export interface Spawnable {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/**
 * The options of the keeper, which starts the shells: `--norc --noprofile` keep the user's files out (S26), `-p` the
 * functions in the environment, which reach the shells all the same.
 */
const keeperOptions = ["--norc", "--noprofile", "-p"]

/**
 * Splits `shellCommand` into words as a shell does (quotes and backslashes, no expansions), and appends the
 * keeper's options, which its file follows: `sandbox-exec -f /tmp/test.sb /bin/bash` spawns `sandbox-exec` with `-f
 * /tmp/test.sb /bin/bash --norc --noprofile …`. A wrapper must pass its further arguments on to bash, and should pass
 * on descriptor 3.
 */
export const parse = (shellCommand: string): Either.Either<Spawnable, InvalidUsage> => {
  const words: Array<string> = []
  for (const token of CommandLine.parse(shellCommand).tokens) {
    if (token._tag === "Word" && token.closed) words.push(token.value)
    else if (token._tag !== "Blank") {
      const reason = "shellCommand must be a program and its arguments; quote what means more to a shell"
      return Either.left(new InvalidUsage({ reason: `${reason}: ${shellCommand}` }))
    }
  }
  const [program, ...args] = words
  return program === undefined || program === ""
    ? Either.left(new InvalidUsage({ reason: "shellCommand is empty: name a bash, for example /bin/bash" }))
    : Either.right({ program, args: [...args, ...keeperOptions] })
}
