/** The table of the program's subcommands. Parsing, help, usage and completions are all made from it. */
import * as Path from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as CommandGrammar from "../command/CommandGrammar.js"
import * as Parameter from "../command/Parameter.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import { UserEnvironment } from "../domain/UserEnvironment.js"
import * as HostPath from "../sandbox/policy/HostPath.js"
import * as ShellEnvironment from "../session/ShellEnvironment.js"
import * as ExecAction from "./ExecAction.js"
import { type App, print, WrongUsage } from "./Invocation.js"
import * as SessionOptions from "./SessionOptions.js"
import type { Stdio } from "./Stdio.js"

/** The action of a subcommand, which returns the program's exit code. */
export type Action = Effect.Effect<number, ConfigError | WrongUsage, FileSystem.FileSystem | App | Stdio>

/** A subcommand, or one of a group: `mcp add`. */
export interface Subcommand {
  readonly name: string
  readonly summary: string
  readonly config: CommandGrammar.Config
  /** The name of its only operand, if that may be any text: `command`. */
  readonly text: string | undefined
  /** True if the words after `--` belong to another command. */
  readonly hasWordsBehind: boolean
  /** Parses the words after its name into an action, or says on the left what is wrong. */
  readonly read: (words: ReadonlyArray<string>) => Either.Either<Action, string>
}

const define = <const C extends CommandGrammar.Config>(
  name: string,
  summary: string,
  config: C,
  run: (given: CommandGrammar.Params<C>, behind: ReadonlyArray<string> | undefined) => Action,
  { hasWordsBehind = false, text }: { readonly text?: string; readonly hasWordsBehind?: boolean } = {}
): Subcommand => ({
  name,
  summary,
  config,
  text,
  hasWordsBehind,
  read: (words) => {
    const end = hasWordsBehind ? words.indexOf("--") : -1
    const own = end < 0 ? words : words.slice(0, end)
    const explain = text === undefined ? undefined : beforeText(text, name, own)
    return Either.map(CommandGrammar.reader(config, explain)(own), (given) =>
      run(given, end < 0 ? undefined : words.slice(end + 1))
    )
  }
})

const { choice, filterMap, flag, operand, option, optional, repeated, withAlias, withDescription, withPlaceholder } =
  Parameter
const { list, published, whole } = SessionOptions

const maybe = (name: string, placeholder: string, description: string) =>
  optional(option(name)).pipe(withPlaceholder(placeholder), withDescription(description))

const json = (description = "Print one line of JSON.") => flag("json").pipe(withDescription(description))

/** Fails for a variable that can't be let through, and for options that have no effect without a sandbox. */
const checked = (given: SessionOptions.Given, run: Action): Action => {
  const { env, noSandbox } = given
  const only = SessionOptions.onlyInSandbox(given)
  if (only === undefined) return run
  const reason = env.map(ShellEnvironment.refusal).find((one) => one !== undefined)
  if (reason !== undefined) return new WrongUsage({ message: `--env: ${reason}.` })
  return noSandbox
    ? new WrongUsage({ message: `${only} has no effect with --no-sandbox: leave one of them out.` })
    : SessionOptions.refuseWithoutSandbox(only).pipe(Effect.zipRight(tellMissing(given)), Effect.zipRight(run))
}

/** Names allowed paths that do not exist. What holds `~`, `$` or a backslash is expanded elsewhere. */
const tellMissing = ({ cwd, readable, whitelist }: SessionOptions.Given) =>
  Effect.flatMap(UserEnvironment, ({ directory }) =>
    Effect.forEach(
      [...whitelist, ...readable],
      (path, at) =>
        /[~$\\]/.test(path) || !HostPath.isMissing(Path.resolve(Option.getOrElse(cwd, directory), path))
          ? Effect.void
          : print(
              "stderr",
              `synapse: ${at < whitelist.length ? "--allow" : "--allow-read"} ${UntrustedText.word(path, 300)}: no such file or directory`
            ),
      { discard: true }
    )
  )

/** Explains an unknown option where a text is expected. After another word, quotes are missing. */
const beforeText =
  (what: string, name: string, words: ReadonlyArray<string>) =>
  (message: string, operands: ReadonlyArray<string>): string =>
    operands.length === 0
      ? `${message} A ${what} that begins with a dash is given after --.`
      : words[0]?.startsWith("-")
        ? `The ${what} is one argument. Quote it: synapse ${name} -- '…'`
        : notOne(what, name, words)

/** Explains that several words should be one argument. */
const notOne = (what: string, name: string, words: ReadonlyArray<string>): string =>
  `The ${what} is one argument, and there are ${words.length}. Quote it: synapse ${name} -- '${UntrustedText.word(words.join(" "), 200).replaceAll("'", "'\\''")}'`

/** Returns the text, which must be one argument. Empty if there is none. */
const textOf = (what: string, name: string, words: ReadonlyArray<string>): Effect.Effect<string, WrongUsage> => {
  const [text = ""] = words
  if (words.length > 1) return new WrongUsage({ message: notOne(what, name, words) })
  return words.length === 1 && text.trim() === ""
    ? new WrongUsage({ message: `The ${what} is empty.` })
    : Effect.succeed(text)
}

/** Runs an action of a module that is loaded when needed. */
const later = <Module>(load: () => Promise<Module>, run: (module: Module) => Action): Action =>
  Effect.flatMap(Effect.promise(load), run)

const path = (description: string) => operand("path").pipe(withDescription(description))
const serverName = operand("name").pipe(withDescription("The server's name, as in mcp:<name>:<tool>."))
const skillName = operand("name").pipe(withDescription("The skill's name: that of its directory."))
const project = flag("project").pipe(
  withDescription("Change mcp_servers.json in the current directory, in place of the one in $SYNAPSE_HOME/mcp.")
)
const yes = flag("yes").pipe(withDescription("Do it without asking."))

export const clients = [
  "claude-code",
  "claude-desktop",
  "codex",
  "cursor",
  "gemini",
  "opencode",
  "vscode",
  "zed"
] as const
const client = operand("client").pipe(
  filterMap(
    (text) => Option.fromNullable(clients.find((one) => one === text)),
    `The client must be one of ${clients.join(", ")}`
  ),
  withDescription(`The program: ${clients.join(", ")}.`)
)

const fetchers = ["npm", "pip", "uv", "cargo", "go", "git", "apt"] as const

const loadPorts = () => import("./SandboxPorts.js")
const loadCall = () => import("./CallAction.js")
const loadShell = () => import("./ShellAction.js")
const loadTools = () => import("./ToolsAction.js")
const loadDaemon = () => import("./DaemonActions.js")
const loadDoctor = () => import("./DoctorActions.js")
const loadAgent = () => import("./AgentAction.js")
const loadSessions = () => import("./AgentSessions.js")
const loadInstall = () => import("./InstallAction.js")
const loadServe = () => import("./ServeAction.js")
const loadMcp = () => import("./Mcp.js")
const loadSetup = () => import("./SetupAction.js")
const loadSandbox = () => import("./SandboxActions.js")
const loadSkill = () => import("./SkillActions.js")

/** The subcommands, in the order of the help. */
export const all: ReadonlyArray<Subcommand> = [
  define(
    "exec",
    "Run a command and pass on its output and its exit code.",
    {
      ...SessionOptions.options,
      session: optional(
        option("session").pipe(
          filterMap(
            Option.liftPredicate((name) => /^\w[\w.-]*$/.test(name)),
            "--session must be a name of letters, digits, dots, dashes and underscores"
          )
        )
      ).pipe(
        withPlaceholder("name"),
        withDescription(
          "Run it in the session of that name, which keeps its state from one call to the next. The first call opens it."
        )
      ),
      json: json("Print the result as the model gets it, as one line of JSON, in place of the output."),
      command: repeated(operand("command")).pipe(
        withPlaceholder("<command>"),
        withDescription("The command line, in one argument: synapse exec 'ls -la | head'")
      )
    },
    ({ command, json, ...given }) =>
      checked(
        given,
        Effect.flatMap(textOf("command", "exec", command), (text) =>
          text === "" ? new WrongUsage({ message: "The command is missing." }) : ExecAction.exec(text, json, given)
        )
      ),
    { text: "command" }
  ),
  define(
    "call",
    'Answer tool calls: one JSON per line on stdin, {"id","name","arguments"} or {"cancel":"<id>"}; one result per line on stdout.',
    {
      ...SessionOptions.options,
      brief: flag("brief").pipe(
        withDescription(
          "Leave out what output tells already: stdout, stderr, notices, and a message that says no more."
        )
      ),
      events: flag("events").pipe(
        withDescription('Print a line {"event":"job","job":…} as well when a job begins or ends.')
      ),
      json: json("Accepted for scripts: the results are always JSON.")
    },
    (given) =>
      checked(
        given,
        later(loadCall, (actions) => actions.call(given))
      )
  ),
  define(
    "shell",
    "Use the shell yourself, at a terminal, and ask the agent in it. /help there tells more.",
    SessionOptions.options,
    (given) =>
      checked(
        given,
        later(loadShell, (actions) => actions.shell(given))
      )
  ),
  define(
    "agent",
    "Let a model work on a task until it is done, and print its answer. synapse agent list shows its sessions.",
    {
      model: maybe("model", "name", "The model, as name or provider/name; the settings' default without it."),
      maxTurns: whole(
        "max-turns",
        "n",
        "The most requests to the model; 50 without it. Exit code 3 where it is reached."
      ),
      maxTokens: whole("max-tokens", "n", "The most tokens, sent and received. Exit code 3 where they are used up."),
      budget: optional(
        option("budget").pipe(
          filterMap(
            (text) => Option.liftPredicate(Number(text), (budget) => budget > 0 && Number.isFinite(budget)),
            "--budget must be a number above 0"
          )
        )
      ).pipe(
        withPlaceholder("amount"),
        withDescription("The most that it may cost, by the prices in the settings. Exit code 3 where it is used up.")
      ),
      resume: maybe(
        "resume",
        "id",
        "Go on with a session; the beginning of its id is enough. Without a prompt, where it stopped."
      ),
      continues: flag("continue").pipe(withDescription("Go on with the newest session of this directory.")),
      json: json("Print every step as a line of JSON, in place of the answer."),
      quiet: flag("quiet").pipe(withDescription("Print no steps on stderr.")),
      plan: flag("plan").pipe(
        withDescription("Only read, and end with a plan. synapse agent --continue carries it out.")
      ),
      undo: flag("undo").pipe(withDescription("Take back what the last turn in this directory changed.")),
      diff: flag("diff").pipe(withDescription("Show what --undo would take back.")),
      noInstructions: flag("no-instructions").pipe(withDescription("Leave out what AGENTS.md files say.")),
      ...SessionOptions.options,
      prompt: repeated(operand("prompt")).pipe(
        withPlaceholder("<prompt>"),
        withDescription("What to do, in one argument. It may come from stdin; with both, stdin follows the argument.")
      )
    },
    ({ diff, prompt, undo, ...given }) => {
      const isBack = diff || undo
      const conflicts: ReadonlyArray<readonly [isSo: boolean, message: string]> = [
        [Option.isSome(given.resume) && given.continues, "Give either --resume or --continue: not both."],
        [given.plan && given.noSandbox, "--plan needs the sandbox, which keeps commands from writing."],
        [isBack && (diff === undo || prompt.length > 0), "--undo and --diff stand alone, without a prompt."]
      ]
      const message = conflicts.find(([isSo]) => isSo)?.[1]
      if (message !== undefined) return new WrongUsage({ message })
      return isBack
        ? later(loadSessions, (actions) => actions.undo(given.cwd, diff))
        : checked(
            given,
            Effect.flatMap(textOf("prompt", "agent", prompt), (text) =>
              later(loadAgent, (actions) => actions.run(given, text))
            )
          )
    },
    { text: "prompt" }
  ),
  define(
    "agent list",
    "List the sessions, the newest first.",
    { all: flag("all").pipe(withDescription("List all sessions, not only the newest 20.")), json: json() },
    (given) => later(loadSessions, (actions) => actions.list(given))
  ),
  define(
    "tools",
    "Print the tool definitions for a model's tool list, and the commands, as JSON.",
    {
      format: optional(choice("format", ["anthropic", "openai", "mcp"])).pipe(
        withPlaceholder("anthropic | openai | mcp"),
        withDescription("As the list of tools that an API takes; without it: { tools, commands }.")
      )
    },
    (given) => later(loadTools, (actions) => actions.tools(given))
  ),
  define(
    "sandbox policy",
    "Show the policy for the current directory, and where each rule comes from.",
    { all: flag("all").pipe(withDescription("List the built-in rules, too.")), json: json() },
    (given) => later(loadSandbox, (actions) => actions.policy(given))
  ),
  define(
    "sandbox explain",
    "Say whether a path may be read, or a host reached, and which rule says so; exit code 1 where it may not.",
    {
      json: json(),
      write: flag("write").pipe(withDescription("Ask about writing, in place of reading.")),
      host: flag("host").pipe(withDescription("Ask about a host, where the name could be a path too.")),
      path: path("A path, whether it is there or not, or a host, as example.com:443.")
    },
    (given) =>
      given.path.trim() === ""
        ? new WrongUsage({ message: "The path is empty." })
        : later(loadSandbox, (actions) => actions.explain(given))
  ),
  define(
    "sandbox allow",
    "Let sandboxed commands write to a path, read one that is hidden, or reach a host, in every session to come.",
    {
      write: flag("write").pipe(withDescription("Let them write what is hidden, too.")),
      host: flag("host").pipe(withDescription("Allow a host, where the name could be a path too.")),
      from: optional(choice("from", fetchers)).pipe(
        withPlaceholder(fetchers.join(" | ")),
        withDescription("Allow the hosts that your configuration of a tool names, or the remotes of the repository.")
      ),
      path: optional(
        path("A path, and all below it; or a host: example.com, *.example.com:22, localhost:5432, private:example.com.")
      ).pipe(withPlaceholder("[<path>]"))
    },
    ({ from, path, ...given }) =>
      Option.isSome(path) === Option.isSome(from)
        ? new WrongUsage({ message: "Name a path or a host, or a tool with --from." })
        : later(loadSandbox, (actions) =>
            Option.isSome(from)
              ? actions.allowFrom(from.value)
              : actions.allow({ ...given, path: Option.getOrElse(path, () => "") })
          )
  ),
  define(
    "sandbox deny",
    "Hide a path from sandboxed commands, or deny them a host, in every session to come.",
    {
      host: flag("host").pipe(withDescription("Deny a host, where the name could be a path too.")),
      path: path("A path, or a quoted pattern: '*.pem' in every directory, '~/work/**/*.key' below one; or a host.")
    },
    (given) => later(loadSandbox, (actions) => actions.deny(given))
  ),
  define(
    "sandbox forget",
    "Take back what was allowed or denied. What is built in stays.",
    { path: path("As it was allowed or denied.") },
    (given) => later(loadSandbox, (actions) => actions.forget(given))
  ),
  define("sandbox clean", "Remove each private /tmp that no session uses now.", {}, () =>
    later(loadSandbox, (actions) => actions.clean)
  ),
  define(
    "port",
    "Open the port of a server in a sandbox that runs on the machine's 127.0.0.1, until it is ended. Without a port, list them.",
    {
      port: optional(operand("port").pipe(published("The port"))).pipe(
        withPlaceholder("[<port>[:<port>]]"),
        withDescription("The port in the sandbox, and behind a colon the machine's, where that is another one.")
      )
    },
    ({ port }) => later(loadPorts, (actions) => actions.run(Option.getOrUndefined(port)))
  ),
  define(
    "mcp serve",
    "Be an MCP server with the tool Bash, for any client: on standard input and output, or with --http.",
    {
      http: maybe("http", "port", "Listen on this port of 127.0.0.1, or on host:port, in place of standard input."),
      ...SessionOptions.options
    },
    (given) =>
      checked(
        given,
        later(loadServe, (actions) => actions.serve(given))
      )
  ),
  define(
    "mcp install",
    "Make Synapse an MCP server of another program: shows the change to its file, and asks.",
    { print: flag("print").pipe(withDescription("Print the entry, and change nothing.")), yes, client },
    (given) => later(loadInstall, (actions) => actions.install(given))
  ),
  define("mcp uninstall", "Take Synapse out of another program's servers.", { yes, client }, (given) =>
    later(loadInstall, (actions) => actions.uninstall(given))
  ),
  define("mcp list", "Show the servers, and whether each can be used.", { json: json() }, (given) =>
    later(loadMcp, (actions) => actions.list(given))
  ),
  define(
    "mcp add",
    "Add a server: synapse mcp add <name> [options] -- <command>, or with --url.",
    {
      env: list(
        "env",
        "name=value",
        "Set a variable of the command; '${NAME}' in a value is read when the server starts."
      ).pipe(withAlias("e")),
      header: list("header", "name:value", "Send a header to the address, with '${NAME}' as in --env."),
      url: maybe("url", "address", "The server's address, for streamable HTTP."),
      cwd: maybe("cwd", "dir", "Start the command in this directory."),
      project,
      force: flag("force").pipe(withDescription("Replace a server of the same name.")),
      name: serverName,
      words: repeated(operand("words")).pipe(
        withPlaceholder("[-- <words>...]"),
        withDescription("After --: the program that is the server, and its words.")
      )
    },
    (given, behind) => {
      const [extra] = behind === undefined ? [] : given.words
      return extra === undefined
        ? later(loadMcp, (actions) => actions.add({ ...given, words: [...given.words, ...(behind ?? [])] }))
        : new WrongUsage({ message: `Unexpected word before --: ${UntrustedText.word(extra)}` })
    },
    { hasWordsBehind: true }
  ),
  define("mcp remove", "Remove a server.", { project, name: serverName }, (given) =>
    later(loadMcp, (actions) => actions.remove(given))
  ),
  define(
    "mcp trust",
    "Show what mcp_servers.json of the current directory would run, and ask whether to trust its content.",
    { yes },
    (given) => later(loadMcp, (actions) => actions.trust(given))
  ),
  define(
    "mcp untrust",
    "Take back the trust in the files of the current directory, and in what its mcp_servers.json runs.",
    {},
    () => later(loadMcp, (actions) => actions.untrust())
  ),
  define("mcp login", "Log in to a server at an address, by OAuth in a browser.", { name: serverName }, (given) =>
    later(loadMcp, (actions) => actions.login(given))
  ),
  define("mcp logout", "Forget the login to a server.", { name: serverName }, (given) =>
    later(loadMcp, (actions) => actions.logout(given))
  ),
  define(
    "mcp import",
    "Show the servers that Claude, Cursor, VS Code, Codex and Gemini have, and ask whether to take them over; taken names stay as they are.",
    { yes },
    (given) => later(loadMcp, (actions) => actions.take(given))
  ),
  define("daemon list", "List the sessions of exec --session.", { json: json() }, (given) =>
    later(loadDaemon, (actions) => actions.list(given))
  ),
  define(
    "daemon stop",
    "End a session of exec --session, with what runs in it; without a name all of them, and the daemon.",
    { name: optional(operand("name")).pipe(withPlaceholder("[<name>]"), withDescription("The session's name.")) },
    (given) => later(loadDaemon, (actions) => actions.stop(given))
  ),
  define("skill list", "List the skills: your own, and those of the current directory.", { json: json() }, (given) =>
    later(loadSkill, (actions) => actions.list(given))
  ),
  define(
    "skill add",
    "Copy a skill to your own, for every session to come.",
    {
      force: flag("force").pipe(withDescription("Replace a skill of the same name.")),
      dir: operand("dir").pipe(withDescription("A directory with a SKILL.md, which is copied."))
    },
    (given) => later(loadSkill, (actions) => actions.add(given))
  ),
  define("skill remove", "Take away a skill of your own.", { name: skillName }, (given) =>
    later(loadSkill, (actions) => actions.remove(given))
  ),
  define(
    "setup",
    "Say which completions, MCP clients and model are set up, and which line adds what is missing.",
    { write: flag("write").pipe(withDescription("Add the completions, and Synapse to the clients that are here.")) },
    (given) => later(loadSetup, (actions) => actions.setup(given))
  ),
  define(
    "doctor",
    "Check whether the sandbox can start, and say what to do about it; exit code 1 where it can't.",
    { json: json("Print one line of JSON: { ok, platform, checks }.") },
    (given) => later(loadDoctor, (actions) => actions.doctor(given))
  )
]

/** The groups, with their descriptions. */
export const groups: Readonly<Record<string, string>> = {
  sandbox: "Show, explain and change what sandboxed commands may read and write.",
  daemon: "List and end the sessions of exec --session, which a daemon keeps.",
  mcp: "Show and change which MCP servers there are, and which of them are trusted.",
  skill: "List, add and remove skills: instructions and programs for special tasks."
}

export const find = ([name, next]: ReadonlyArray<string>): Subcommand | undefined =>
  all.find((one) => one.name === `${name} ${next}`) ?? all.find((one) => one.name === name)
