/** `synapse mcp`: shows and changes which MCP servers there are, and which are trusted. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Usage from "@effect/cli/Usage"
import * as Effect from "effect/Effect"
import * as ForeignText from "../domain/ForeignText.js"
import { Invocation, WrongUsage } from "./Invocation.js"

/** Load the modules that only these subcommands need. */
const load = Effect.promise(() => import("./McpActions.js"))
const loadTrust = Effect.promise(() => import("./McpTrust.js"))
const loadUntrust = Effect.promise(() => import("./McpUntrust.js"))
const loadTest = Effect.promise(() => import("./McpTest.js"))
const loadImport = Effect.promise(() => import("./McpImport.js"))

const endOfOwn = ({ length }: ReadonlyArray<string>, at: number) => (at < 0 ? length : at)

/**
 * Returns the program's words without those that are the server's, after `--`: `@effect/cli` would take a `--help` among
 * them for its own.
 */
export const ownWords = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0] === "mcp" ? args.slice(0, endOfOwn(args, args.indexOf("--"))) : args

const serversWords = (args: ReadonlyArray<string>): ReadonlyArray<string> => args.slice(ownWords(args).length + 1)

/** Returns what to write in place of an option that other programs have here. */
export const refusal = (args: ReadonlyArray<string>): string | undefined =>
  args[0] === "mcp" && args[1] === "add" && ownWords(args).some((word) => /^(?:--transport(?:=|$)|-t$)/.test(word))
    ? "There is no --transport: give an address with --url <address>, or a command after --."
    : undefined

const name = Args.text({ name: "name" }).pipe(Args.withDescription("The server's name, as in mcp:<name>:<tool>."))
const project = Options.boolean("project").pipe(
  Options.withDescription("Change mcp_servers.json in the current directory, in place of the one in $SYNAPSE_HOME/mcp.")
)
const yes = Options.boolean("yes").pipe(Options.withDescription("Do it without asking."))

const list = Command.make(
  "list",
  { json: Options.boolean("json").pipe(Options.withDescription("Print one line of JSON.")) },
  (given) => Effect.flatMap(load, (actions) => actions.list(given))
).pipe(Command.withDescription("Show the servers, and whether each can be used."))

const add = Command.make(
  "add",
  {
    env: Options.text("env").pipe(
      Options.withAlias("e"),
      Options.withPseudoName("name=value"),
      Options.withDescription("Set a variable of the command; '${NAME}' in a value is read when the server starts."),
      Options.repeated
    ),
    header: Options.text("header").pipe(
      Options.withPseudoName("name:value"),
      Options.withDescription("Send a header to the address, with '${NAME}' as in --env."),
      Options.repeated
    ),
    url: Options.text("url").pipe(
      Options.withPseudoName("address"),
      Options.withDescription("The server's address, for streamable HTTP."),
      Options.optional
    ),
    cwd: Options.text("cwd").pipe(
      Options.withPseudoName("dir"),
      Options.withDescription("Start the command in this directory."),
      Options.optional
    ),
    project,
    force: Options.boolean("force").pipe(Options.withDescription("Replace a server of the same name.")),
    name,
    words: Args.text({ name: "words" }).pipe(
      Args.withDescription("After --: the program that is the server, and its words."),
      Args.repeated
    )
  },
  (given) =>
    Effect.flatMap(Invocation, ({ args }) => {
      const behind = serversWords(args)
      const [extra] = args.includes("--") ? given.words : []
      if (extra !== undefined)
        return new WrongUsage({ message: `Unexpected word before --: ${ForeignText.word(extra)}` })
      return Effect.flatMap(load, (actions) => actions.add({ ...given, words: [...given.words, ...behind] }))
    })
).pipe(Command.withDescription("Add a server: synapse mcp add <name> [options] -- <command>, or with --url."))

const remove = Command.make("remove", { project, name }, (given) =>
  Effect.flatMap(load, (actions) => actions.remove(given))
).pipe(Command.withDescription("Remove a server."))

const trust = Command.make("trust", { yes }, (given) =>
  Effect.flatMap(loadTrust, (actions) => actions.trust(given))
).pipe(
  Command.withDescription(
    "Show what mcp_servers.json of the current directory would run, and ask whether to trust its content."
  )
)

const untrust = Command.make(
  "untrust",
  {
    files: Args.text({ name: "file" }).pipe(
      Args.withDescription("Take the trust back from this file only, as in the list of what is trusted."),
      Args.repeated
    )
  },
  (given) => Effect.flatMap(loadUntrust, (actions) => actions.untrust(given))
).pipe(
  Command.withDescription(
    "Take back the trust in mcp_servers.json of the current directory, and in what its servers run."
  )
)

const test = Command.make("test", { name }, (given) => Effect.flatMap(loadTest, (actions) => actions.test(given))).pipe(
  Command.withDescription("Connect to a server, and count its tools; exit code 1 where that fails.")
)

const importing = Command.make(
  "import",
  {
    from: Options.text("from").pipe(
      Options.withPseudoName("file"),
      Options.withDescription("Take over the servers of this file only."),
      Options.optional
    ),
    dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Say what would be taken over, and do nothing.")),
    yes
  },
  (given) => Effect.flatMap(loadImport, (actions) => actions.take(given))
).pipe(
  Command.withDescription(
    "Show the servers that Claude, Cursor, VS Code and Codex have, and ask whether to take them over; taken names stay as they are."
  )
)

/** The usages of the subcommands of `synapse mcp`. */
export const usages: ReadonlyArray<Usage.Usage> = [
  Command.getUsage(list),
  Command.getUsage(add),
  Command.getUsage(remove),
  Command.getUsage(trust),
  Command.getUsage(untrust),
  Command.getUsage(test),
  Command.getUsage(importing)
]

/** The subcommand `mcp`, whose subcommands show and change which MCP servers there are. */
export const mcp = Command.make("mcp", {}, () => new WrongUsage({ message: "The subcommand is missing." })).pipe(
  Command.withDescription("Show and change which MCP servers there are, and which of them are trusted."),
  Command.withSubcommands([list, add, remove, trust, untrust, test, importing])
)
