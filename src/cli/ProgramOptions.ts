/** The options of every subcommand that runs commands, as `@effect/cli` reads them. */
import * as Options from "@effect/cli/Options"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Timeout from "../domain/Timeout.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as Asking from "./Asking.js"
import { WrongUsage } from "./Invocation.js"
import * as OptionValue from "./OptionValue.js"
import * as SessionOptions from "./SessionOptions.js"

/** The directory, the time, and what the sandbox allows and denies. */
export const session = {
  cwd: OptionValue.directory("cwd").pipe(
    Options.withDescription("The directory that the shell starts in; the current one where it is not given."),
    Options.optional
  ),
  timeout: OptionValue.whole("timeout", " of milliseconds", Timeout.longest).pipe(
    Options.withPseudoName("ms"),
    Options.withDescription(
      "Milliseconds after which a command is ended, with exit code 124; 120000 without it, and none in shell."
    ),
    Options.optional
  ),
  noSandbox: Options.boolean("no-sandbox").pipe(
    Options.withDescription("Run without a sandbox: with all the rights that you have.")
  ),
  allow: Options.text("allow").pipe(
    Options.withPseudoName("path"),
    Options.withDescription("A path that commands may write, besides the working directory. May be repeated."),
    Options.repeated
  ),
  deny: Options.text("deny").pipe(
    Options.withPseudoName("pattern"),
    Options.withDescription("A path or pattern that commands may neither read nor write. May be repeated."),
    Options.repeated
  ),
  env: Options.text("env").pipe(
    Options.withPseudoName("name"),
    Options.withDescription("A variable that the sandbox would leave out, and commands are to get. May be repeated."),
    Options.repeated
  ),
  allowUnixSockets: Options.boolean("allow-unix-sockets").pipe(
    Options.withDescription(
      "Let commands use unix sockets. Where programs outside listen on one (tmux, an ssh-agent, Docker), commands can have them do anything, with your rights or root's."
    )
  ),
  ask: Options.choice("ask", Asking.modes).pipe(
    Options.withDescription(
      "terminal: ask there where the sandbox denies something; never: do not. exec, agent and shell ask by themselves where stderr is a terminal, call only when told."
    ),
    Options.optional
  )
}

/** Loaded by those who need it: building a policy takes time. */
const load = Effect.promise(() => import("./IdleAllow.js"))

/**
 * Fails for the name of a variable that can't be let through, and for options that have no effect, alone or together.
 */
export const check = (given: SessionOptions.Given): Effect.Effect<void, ConfigError | WrongUsage> => {
  const { env, noSandbox } = given
  const option = SessionOptions.onlyInSandbox(given)
  if (option === undefined) return Effect.void
  const reason = env.map(ShellEnvironment.refusal).find((one) => one !== undefined)
  if (reason !== undefined) return new WrongUsage({ message: `--env: ${reason}.` })
  if (noSandbox) {
    return new WrongUsage({ message: `${option} has no effect with --no-sandbox: leave one of them out.` })
  }
  return Effect.flatMap(load, ({ check }) => check(given, option))
}
