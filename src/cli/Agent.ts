/** `synapse agent`: runs an agent to its end; its subcommands tell of the sessions that there were. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Usage from "@effect/cli/Usage"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as AgentWords from "./AgentWords.js"
import { Invocation, WrongUsage } from "./Invocation.js"
import * as OptionValue from "./OptionValue.js"
import * as ProgramOptions from "./ProgramOptions.js"

/** Load the modules that only these subcommands need. */
const load = Effect.promise(() => import("./AgentAction.js"))
const loadSessions = Effect.promise(() => import("./AgentSessions.js"))

const whole = (name: string, description: string) =>
  OptionValue.whole(name).pipe(Options.withPseudoName("n"), Options.withDescription(description), Options.optional)

const json = Options.boolean("json")

/** Runs an agent. */
export const agent = Command.make(
  "agent",
  {
    model: Options.text("model").pipe(
      Options.withPseudoName("name"),
      Options.withDescription("The model, as name or provider/name; the settings' default without it."),
      Options.optional
    ),
    maxTurns: whole("max-turns", "The most requests to the model; 50 without it. Exit code 3 where it is reached."),
    maxTokens: whole("max-tokens", "The most tokens, sent and received. Exit code 3 where they are used up."),
    budget: Options.text("budget").pipe(
      Options.filterMap(
        (text) => Option.liftPredicate(Number(text), (budget) => budget > 0 && Number.isFinite(budget)),
        "--budget must be a number above 0"
      ),
      Options.withPseudoName("amount"),
      Options.withDescription(
        "The most that it may cost, by the prices in the settings. Exit code 3 where it is used up."
      ),
      Options.optional
    ),
    resume: Options.text("resume").pipe(
      Options.withPseudoName("id"),
      Options.withDescription(
        "Go on with a session; the beginning of its id is enough. Without a prompt, where it stopped."
      ),
      Options.optional
    ),
    continues: Options.boolean("continue").pipe(
      Options.withDescription("Go on with the newest session of this directory.")
    ),
    json: json.pipe(Options.withDescription("Print every step as a line of JSON, in place of the answer.")),
    quiet: Options.boolean("quiet").pipe(Options.withDescription("Print no steps on stderr.")),
    ...ProgramOptions.session,
    prompt: Args.text({ name: "prompt" }).pipe(
      Args.withDescription(
        "What to do, in one argument. It may come from stdin; with both, stdin follows the argument."
      ),
      Args.repeated
    )
  },
  ({ prompt, ...given }) =>
    Effect.gen(function* () {
      const { args } = yield* Invocation
      yield* ProgramOptions.check(given)
      if (Option.isSome(given.resume) && given.continues)
        return yield* new WrongUsage({ message: "Give either --resume or --continue: not both." })
      const written = yield* AgentWords.promptOf(prompt, args)
      const actions = yield* load
      return yield* actions.run(given, written)
    })
).pipe(
  Command.withDescription(
    "Let a model work on a task until it is done, and print its answer. synapse agent list, show and remove are about its sessions."
  )
)

const id = Args.text({ name: "id" }).pipe(Args.withDescription("The session's id, or its beginning."))

const list = Command.make(
  "list",
  {
    all: Options.boolean("all").pipe(Options.withDescription("List all sessions, not only the newest 20.")),
    json: json.pipe(Options.withDescription("Print one line of JSON."))
  },
  (given) => Effect.flatMap(loadSessions, (actions) => actions.list(given))
).pipe(Command.withDescription("List the sessions, the newest first."))

const show = Command.make(
  "show",
  { json: json.pipe(Options.withDescription("Print one line of JSON, with the whole conversation.")), id },
  (given) => Effect.flatMap(loadSessions, (actions) => actions.show(given))
).pipe(Command.withDescription("Show the conversation of a session."))

const remove = Command.make("remove", { id }, (given) =>
  Effect.flatMap(loadSessions, (actions) => actions.remove(given))
).pipe(Command.withDescription("Remove a session."))

/** The usages of `synapse agent` and of its subcommands. */
export const usages: ReadonlyArray<Usage.Usage> = [
  Command.getUsage(agent),
  Command.getUsage(list),
  Command.getUsage(show),
  Command.getUsage(remove)
]

/**
 * The subcommand `agent` where the next word is one of its own subcommands. It stands in the place of `agent`, since
 * `@effect/cli` would look for subcommands behind a prompt as well.
 */
export const sessions = Command.make("agent", {}, () => new WrongUsage({ message: "The subcommand is missing." })).pipe(
  Command.withDescription("List, show and remove the sessions of agents."),
  Command.withSubcommands([list, show, remove])
)
