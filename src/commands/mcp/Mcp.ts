/**
 * `mcp:<server>:<tool>`: calls a tool of an MCP server; `mcp:<server>` lists its tools.
 *
 * @since 0.1.0
 */
import * as Crypto from "node:crypto"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import type { CommandCall, CommandHandler, Described, RunOptions } from "../../command/CommandHandler.js"
import { type CommandError, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandListener from "../../domain/CommandListener.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ForeignText from "../../domain/ForeignText.js"
import { McpClient, type McpOutput, type McpProgress, type McpTool } from "../../extension/mcp/McpClient.js"
import * as McpName from "../../extension/mcp/McpName.js"
import * as Answer from "./Mcp.answer.js"
import * as Arguments from "./Mcp.arguments.js"
import { help } from "./Mcp.help.js"
import * as Input from "./Mcp.input.js"
import * as List from "./Mcp.list.js"
import * as Look from "./Mcp.look.js"
import * as Mistaken from "./Mcp.mistaken.js"
import * as Output from "./Mcp.output.js"
import { Attachments } from "./Mcp.saved.js"
import * as Signature from "./Mcp.signature.js"
import * as Tool from "./Mcp.tool.js"
import * as Unknown from "./Mcp.unknown.js"

const described: Described = {
  name: "mcp:*",
  summary: "Calls a tool of an MCP server; mcp: lists the servers, mcp:<server> its tools.",
  usage: "mcp:<server>:<tool> [<value> …] [--name <value> …]"
}

/** A result that the shell puts out. */
interface Held {
  readonly output: McpOutput
  readonly parts: ReadonlyArray<Output.Part>
}

/**
 * Makes the handler of all names that begin with `mcp:`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<CommandHandler, never, McpClient> = Effect.gen(function* () {
  const client = yield* McpClient
  const attachments = new Attachments()
  const callable = new WeakMap<McpTool, Tool.CallableTool>()
  /** The results that wait for the shell to put them out, by the word that it calls them by. */
  const held = new Map<string, Held>()
  let known: { readonly tools: ReadonlyArray<McpTool>; readonly commands: ReadonlyArray<Described> } | undefined

  const toCallable = (tool: McpTool): Tool.CallableTool => {
    const made = callable.get(tool) ?? Tool.make(tool)
    callable.set(tool, made)
    return made
  }

  const toolsOf = (command: string, server: string, refresh = false) => client.tools(server, { command, refresh })

  const find = Effect.fnUntraced(function* (command: string, name: McpName.Name) {
    const found = McpName.find(name, yield* toolsOf(command, name.server))
    if (found !== undefined) return toCallable(found)
    // It may be new.
    const tools = yield* toolsOf(command, name.server, true)
    const now = McpName.find(name, tools)
    return now === undefined ? yield* Unknown.tool(command, name, tools) : toCallable(now)
  })

  const isServer = (name: string) =>
    Effect.map(
      client.servers,
      (servers) => name === "" || servers.some((server) => server.isFile !== true && server.name === name)
    )

  const list = Effect.fnUntraced(function* (command: string, { server }: McpName.Name) {
    const stdout = server === "" ? List.servers(yield* client.servers) : List.tools(yield* toolsOf(command, server))
    if (stdout !== "") return CommandResult.make({ stdout })
    return CommandResult.make({ advice: [List.none(server === "" ? undefined : server)] })
  })

  const misnamed = Effect.fnUntraced(function* ({ args, name: command }: CommandCall, name: McpName.Name) {
    const server = Unknown.serverOf(name.server, yield* client.servers)
    const tools =
      server === undefined ? client.known() : yield* Effect.orElseSucceed(toolsOf(command, server), () => [])
    const meant = Unknown.meant(name, args, tools)
    if (yield* isServer(name.server)) return yield* Unknown.incomplete(described, name, meant)
    if (meant !== undefined) return yield* Unknown.server(command, name, meant)
    return yield* list(command, name)
  })

  /** Calls the tool; who listens hears of its progress. */
  const callTool = (
    { tool }: Tool.CallableTool,
    command: string,
    values: Readonly<Record<string, unknown>>,
    { timeout }: RunOptions
  ): Effect.Effect<McpOutput, CommandError> =>
    Effect.flatMap(FiberRef.get(CommandListener.current), ({ onProgress }) =>
      client.call(tool.server, tool.name, values, {
        timeout,
        ...(onProgress === undefined
          ? undefined
          : { onProgress: (progress) => onProgress({ ...harmless(progress), command }) })
      })
    )

  /** Puts out a result: at once where it can be, and otherwise by a call that the shell makes. */
  const answer = (call: CommandCall, output: McpOutput): Effect.Effect<CommandResult.CommandResult, CommandError> => {
    const { server, tool } = McpName.parse(call.name)
    const parts = Output.partsOf(output, tool)
    const put = Answer.put(call, output, parts, attachments)
    if (call.byShell === undefined || !Answer.needsShell(parts)) return put
    const word = `--synapse-held=${Crypto.randomUUID()}`
    held.set(word, { output, parts })
    return call.byShell([McpName.ofTool(server, tool), word]).pipe(
      // Without a shell, what the tool has said is not lost.
      Effect.catchIf(
        () => held.has(word),
        () => put
      ),
      Effect.ensuring(Effect.sync(() => held.delete(word)))
    )
  }

  const run = Effect.fnUntraced(function* (call: CommandCall, options: RunOptions) {
    const [word = ""] = call.args
    const waiting = held.get(word)
    if (waiting !== undefined) {
      held.delete(word)
      return yield* Answer.put(call, waiting.output, waiting.parts, attachments)
    }
    const name = McpName.parse(call.name)
    if (name.tool === "" || name.server === "") {
      const isHelp = call.args.length === 1 && (word === "--help" || word === "-h")
      const isList = name.tool === "" && (call.args.length === 0 || isHelp)
      return yield* isList && (yield* isServer(name.server)) ? list(call.name, name) : misnamed(call, name)
    }
    const tool = yield* find(call.name, name)
    const given = Arguments.parse(tool, call.args)
    if (Either.isLeft(given)) return yield* Signature.misuse(tool, given.left)
    if (given.right._tag === "Help") return CommandResult.make({ stdout: help(tool) })
    if (tool.tool.needsTask === true) return yield* new InvalidUsage({ reason: `${call.name}: ${List.asTask}.` })
    const values = yield* valuesOf(tool, given.right, call)
    return yield* answer(call, yield* callTool(tool, call.name, values, options))
  })

  return {
    ...described,
    run,
    known: () => {
      const tools = client.known()
      if (known?.tools !== tools) known = { tools, commands: tools.map((tool) => describe(tool, toCallable)) }
      return known.commands
    },
    look: yield* Look.make(client)
  }
})

/** Reads the arguments from wherever they are. */
const valuesOf = Effect.fnUntraced(function* (
  tool: Tool.CallableTool,
  given: Exclude<Arguments.Given, { readonly _tag: "Help" }>,
  { byShell, stdin }: CommandCall
): Effect.fn.Return<Readonly<Record<string, unknown>>, CommandError> {
  const parse = (json: string, source: string) =>
    Effect.flatMap(
      Input.parse(tool, json, source),
      Either.match({ onLeft: (problem) => Effect.fail(Signature.misuse(tool, [problem])), onRight: Effect.succeed })
    )
  if (given._tag === "Whole") {
    const mistaken = Mistaken.unquoted([given.json])
    return yield* mistaken === undefined ? parse(given.json, "--json") : Signature.misuse(tool, [mistaken])
  }
  if (given._tag === "Values") {
    // An input that can only be meant for this call.
    if (byShell !== undefined && stdin !== undefined) {
      return yield* Signature.misuse(tool, [
        "It does not read standard input, but with --json -, which takes all arguments."
      ])
    }
    return given.values
  }
  const text = stdin === undefined ? Either.right("") : yield* Input.read(stdin)
  if (Either.isLeft(text)) return yield* Signature.misuse(tool, [text.left])
  if (text.right.trim() === "") return yield* Signature.misuse(tool, [nothing(tool, given.isAsked)])
  if (!given.isAsked && !/^\s*[[{]/.test(text.right)) {
    return yield* Signature.misuse(tool, [
      'standard input has to be a JSON object of all arguments. Text goes into a word: "$(cat)".'
    ])
  }
  return yield* parse(text.right, "standard input")
})

const nothing = ({ parameters }: Tool.CallableTool, isAsked: boolean): string => {
  if (isAsked) return "--json -: nothing comes on standard input."
  const names = parameters.flatMap(({ isRequired, name }) => (isRequired ? [ForeignText.word(name)] : []))
  return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing.`
}

const describe = (tool: McpTool, toCallable: (tool: McpTool) => Tool.CallableTool): Described => ({
  name: McpName.ofTool(tool.server, tool.name),
  summary: List.summaryOf(tool),
  // Of a thousand tools, the usage of few is asked for.
  get usage() {
    return Signature.usage(toCallable(tool))
  }
})

const harmless = ({ message, progress, total }: McpProgress): McpProgress => ({
  progress,
  ...(total === undefined ? undefined : { total }),
  ...(message === undefined ? undefined : { message: ForeignText.line(message, 200) })
})
