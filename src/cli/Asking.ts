/** Decides whether a person is asked where the sandbox denies something (`--ask`). */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Stdio } from "./Stdio.js"

/** The values of `--ask`. */
export const modes = ["never", "terminal"] as const

/** Tests whether `--ask` says that a person is asked. */
export const isTold = (ask: Option.Option<string>): boolean => Option.contains(ask, "terminal")

/** Reads whether nobody sits at the terminal: a build has one at times. */
const isBuild = Effect.orElseSucceed(
  Config.map(Config.string("CI"), (text) => !["", "0", "false"].includes(text)),
  () => false
)

/** Tests whether a person is asked: as `--ask` says, or where stderr is a terminal, and this is no build (`CI`). */
export const isAsked = (ask: Option.Option<string>): Effect.Effect<boolean, never, Stdio> =>
  Option.isSome(ask)
    ? Effect.succeed(isTold(ask))
    : Effect.flatMap(Stdio, ({ isTerminal }) =>
        isTerminal("stderr") ? Effect.map(isBuild, (isBuild) => !isBuild) : Effect.succeed(false)
      )
