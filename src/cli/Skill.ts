/**
 * `synapse skill`: lists the skills, adds them and takes them away.
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
const load = Effect.promise(() => import("./SkillActions.js"))

const name = Args.text({ name: "name" }).pipe(Args.withDescription("The skill's name: that of its directory."))

const list = Command.make(
  "list",
  { json: Options.boolean("json").pipe(Options.withDescription("Print one line of JSON.")) },
  (given) => Effect.flatMap(load, (actions) => actions.list(given))
).pipe(Command.withDescription("List the skills: your own, and those of the current directory."))

const info = Command.make("info", { name }, (given) => Effect.flatMap(load, (actions) => actions.info(given))).pipe(
  Command.withDescription("Show what a skill is for, where it lies, its tools, and what is wrong with it.")
)

const add = Command.make(
  "add",
  {
    force: Options.boolean("force").pipe(Options.withDescription("Replace a skill of the same name.")),
    dir: Args.text({ name: "dir" }).pipe(
      Args.withDescription("A directory with a SKILL.md, or one of several such directories; they are copied.")
    )
  },
  (given) => Effect.flatMap(load, (actions) => actions.add(given))
).pipe(Command.withDescription("Copy a skill to your own, for every session to come."))

const remove = Command.make("remove", { name }, (given) =>
  Effect.flatMap(load, (actions) => actions.remove(given))
).pipe(Command.withDescription("Take away a skill of your own."))

/**
 * The usages of the subcommands of `synapse skill`.
 *
 * @since 0.1.0
 */
export const usages: ReadonlyArray<Usage.Usage> = [
  Command.getUsage(list),
  Command.getUsage(info),
  Command.getUsage(add),
  Command.getUsage(remove)
]

/**
 * The subcommand `skill`, whose subcommands list, show, add and remove skills.
 *
 * @since 0.1.0
 * @category commands
 */
export const skill = Command.make("skill", {}, () => new WrongUsage({ message: "The subcommand is missing." })).pipe(
  Command.withDescription("List, show, add and remove skills: instructions and programs for special tasks."),
  Command.withSubcommands([list, info, add, remove])
)
