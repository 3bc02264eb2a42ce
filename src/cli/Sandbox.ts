/**
 * `synapse sandbox`: shows what sandboxed commands may do, explains it, and changes it permanently.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Usage from "@effect/cli/Usage"
import * as Effect from "effect/Effect"
import { WrongUsage } from "./Invocation.js"

/** Loads the module that only these subcommands need. */
const load = Effect.promise(() => import("./SandboxActions.js"))

const json = Options.boolean("json").pipe(Options.withDescription("Print one line of JSON."))
const path = (description: string) => Args.text({ name: "path" }).pipe(Args.withDescription(description))

const policy = Command.make("policy", { json }, (given) =>
  Effect.flatMap(load, (actions) => actions.policy(given))
).pipe(Command.withDescription("Show the policy for the current directory, and where each rule comes from."))

const explain = Command.make(
  "explain",
  {
    json,
    write: Options.boolean("write").pipe(Options.withDescription("Ask about writing, in place of reading.")),
    path: path("What it is about, whether it is there or not.")
  },
  (given) =>
    given.path.trim() === ""
      ? new WrongUsage({ message: "The path is empty." })
      : Effect.flatMap(load, (actions) => actions.explain(given))
).pipe(Command.withDescription("Say whether a path may be read, and which rule says so; exit code 1 where it may not."))

const allow = Command.make("allow", { path: path("It and all below it; nothing around it.") }, (given) =>
  Effect.flatMap(load, (actions) => actions.allow(given))
).pipe(Command.withDescription("Let sandboxed commands write to a path, in every session to come."))

const deny = Command.make(
  "deny",
  { path: path("A path, or a quoted pattern: '*.pem' in every directory, '~/work/**/*.key' below one.") },
  (given) => Effect.flatMap(load, (actions) => actions.deny(given))
).pipe(Command.withDescription("Hide a path from sandboxed commands, in every session to come."))

const forget = Command.make("forget", { path: path("As it was allowed or denied.") }, (given) =>
  Effect.flatMap(load, (actions) => actions.forget(given))
).pipe(Command.withDescription("Take back what was allowed or denied. What is built in stays."))

/**
 * The usages of the subcommands of `synapse sandbox`.
 *
 * @since 0.1.0
 */
export const usages: ReadonlyArray<Usage.Usage> = [
  Command.getUsage(policy),
  Command.getUsage(explain),
  Command.getUsage(allow),
  Command.getUsage(deny),
  Command.getUsage(forget)
]

/**
 * The subcommand `sandbox`, whose subcommands show, explain and change the sandbox's policy.
 *
 * @since 0.1.0
 * @category commands
 */
export const sandbox = Command.make(
  "sandbox",
  {},
  () => new WrongUsage({ message: "The subcommand is missing." })
).pipe(
  Command.withDescription("Show, explain and change what sandboxed commands may read and write."),
  Command.withSubcommands([policy, explain, allow, deny, forget])
)
