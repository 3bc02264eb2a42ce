/** `mcp:<server>:<tool>` calls a tool of an MCP server. `mcp:<server>` lists its tools. */
import * as Crypto from "node:crypto"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import * as Predicate from "effect/Predicate"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandCall, CommandHandler, Described, RunOptions } from "../../command/CommandHandler.js"
import { knownFrom } from "../../command/CommandRegistry.js"
import * as Advice from "../../domain/Advice.js"
import * as Collect from "../../domain/Collect.js"
import { type CommandError, type ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as CommandListener from "../../domain/CommandListener.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as ExitCode from "../../domain/ExitCode.js"
import * as UntrustedText from "../../domain/UntrustedText.js"
import * as Yield from "../../domain/Yield.js"
import {
  McpClient,
  type McpOutput,
  type McpProgress,
  type McpServer,
  type McpTool
} from "../../extension/mcp/McpClient.js"
import * as McpName from "../../extension/mcp/McpName.js"
import * as Arguments from "./internal/Mcp.arguments.js"
import * as McpHelp from "./internal/Mcp.help.js"
import * as Output from "./internal/Mcp.output.js"
import * as McpSchema from "./internal/Mcp.schema.js"
import * as Json from "./Mcp.json.js"

/** The most optional parameters shown in a list of tools. */
const mostOptions = 2

const mostSummary = 120

/** The reason why a tool that needs MCP tasks can't be called. */
const asTask = "it can be called as an MCP task only, which Synapse does not offer"

/** Returns the purpose of a tool in one line, or why it can't be called. Empty if the server gives no description. */
const summaryOf = ({ description = "", needsTask, title = "" }: McpTool): string =>
  needsTask === true
    ? `can't be called: ${asTask}`
    : UntrustedText.sentence(description.trim() === "" ? title : description, mostSummary)

/** Lists the tools of a server: the usage and purpose of each. */
export const toolsMcpList = (all: ReadonlyArray<McpTool>): string =>
  all
    .map((tool) => {
      const summary = summaryOf(tool)
      return `${McpHelp.usage(McpSchema.make(tool), mostOptions)}${summary === "" ? "" : `  # ${summary}`}\n`
    })
    .join("")

/** Lists the files and servers that can't be used, grouped by reason. */
const unusable = (servers: ReadonlyArray<McpServer>): ReadonlyArray<string> => {
  const names = new Map<string, ReadonlyArray<string>>()
  for (const { isFile, name, problem } of servers) {
    if (problem === undefined) continue
    names.set(problem, [
      ...(names.get(problem) ?? []),
      isFile === true ? UntrustedText.line(name, 300) : McpName.toWord(name)
    ])
  }
  return [...names].map(([problem, of]) => `${of.join(", ")} can't be used: ${UntrustedText.line(problem, 300)}`)
}

/**
 * Lists the servers with their sources, and below them what can't be used. It does not show their command lines, which
 * may hold a token.
 */
export const serversMcpList = (all: ReadonlyArray<McpServer>): string => {
  const lines = all.flatMap(({ isFile, name, problem, source }) =>
    isFile === true ? [] : [`${McpName.toWord(name)}  # ${source}${problem === undefined ? "" : ": not usable"}`]
  )
  return [...lines, ...unusable(all).map((note) => `# ${note}`)].map((line) => `${line}\n`).join("")
}

/** Returns the message for an empty list. */
const none = (server?: string): Advice.Advice =>
  server === undefined
    ? Advice.line`mcp: no servers are configured.`
    : Advice.line`${McpName.toWord(server)}: the server has no tools.`

/** How long a server that failed is not asked again, in milliseconds. */
const pause = 60_000

/** How long a search waits for a server, in milliseconds. A slower one goes on starting for the next search. */
const patience = 3000

/**
 * Makes an effect that asks all servers not asked yet, at the same time. It asks a failed one again after a minute.
 */
export const makeMcpLook = (client: Context.Tag.Service<McpClient>): NonNullable<Described["look"]> => {
  const failed = new Map<string, { readonly note: string; readonly at: number }>()

  const ask = Effect.fnUntraced(function* (name: string) {
    const say = (reason: string) => [`${McpName.toWord(name)}: ${UntrustedText.line(reason, 300)}`]
    const now = yield* Clock.currentTimeMillis
    const last = failed.get(name)
    if (last !== undefined && now - last.at < pause) return say(last.note)
    failed.delete(name)
    return yield* client.tools(name).pipe(
      Effect.as([]),
      Effect.timeoutTo({
        duration: patience,
        onSuccess: (none: ReadonlyArray<string>) => none,
        onTimeout: () => say(`it is still starting after ${patience / 1000} s; search again later`)
      }),
      Effect.catchAll(({ message }) => {
        failed.set(name, { note: message, at: now })
        return Effect.succeed(say(message))
      })
    )
  })

  return Effect.flatMap(client.servers, (servers) => {
    const usable = servers.filter(({ isFile, problem }) => isFile !== true && problem === undefined)
    return Effect.map(
      Effect.forEach(usable, ({ name }) => ask(name), { concurrency: "unbounded" }),
      (notes) => [...unusable(servers), ...notes.flat()]
    )
  })
}

/** The longest result, in characters, that is put out without the shell. The shell keeps a longer one in a file. */
const mostMcpAnswer = 16_000

const mostFiles = 100

const stride = 256 * 1024

/** Tests whether a result needs the shell, because it holds files or more text than is shown. */
const needsShell = (parts: ReadonlyArray<Output.Part>): boolean => {
  let size = 0
  for (const part of parts) {
    if (part._tag === "File") return true
    size += part.text.length
  }
  return size > mostMcpAnswer
}

/** Puts out a result. An error of the tool goes to standard error, so that a pipe does not take it for the answer. */
export const putMcpAnswer = Effect.fnUntraced(function* (
  call: CommandCall,
  { isError = false }: Pick<McpOutput, "isError">,
  parts: ReadonlyArray<Output.Part>,
  attachments: Output.Attachments
): Effect.fn.Return<CommandResult.CommandResult> {
  const images: Array<CommandResult.Image> = []
  let text = ""
  let files = 0
  for (const part of parts) {
    if (part._tag === "Text") text += part.text
    else if (++files <= mostFiles) {
      const saved = yield* attachments.save(call, part.attachment)
      text += `${saved.text}\n`
      if (saved.image !== undefined) images.push(saved.image)
    }
    // An error is reported whole at the end.
    if (!isError && text.length > stride && call.byShell === undefined) {
      yield* writeAll(call, text)
      text = ""
    }
  }
  if (files > mostFiles) {
    const left = files - mostFiles
    text += `[${left.toLocaleString("en")} more ${left === 1 ? "file" : "files"} not saved: of one result, ${mostFiles} are]\n`
  }
  const shown = images.length === 0 ? {} : { images }
  if (!isError) return CommandResult.make({ stdout: text, ...shown })
  const stderr = text.trim() === "" ? `${call.name}: the tool failed, and its server does not say why.\n` : text
  return CommandResult.make({ stderr, exitCode: ExitCode.failure, ...shown })
})

/** Writes a long text in pieces, and lets other fibers run in between. */
const writeAll = (call: CommandCall, text: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const bytes = Buffer.from(text)
    const starts = Array.from({ length: Math.ceil(bytes.length / stride) }, (_, at) => at * stride)
    return Effect.forEach(
      starts,
      (at) => Effect.zipRight(call.write(bytes.subarray(at, at + stride)), Effect.promise(Yield.turn)),
      { discard: true }
    )
  })

/** The largest input, in megabytes. */
const most = 32

const read = (
  stdin: NonNullable<CommandCall["stdin"]>
): Effect.Effect<Either.Either<string, string>, ExecutionFailed> =>
  Effect.map(Collect.bytes(stdin, most * 1024 ** 2), (bytes) =>
    bytes === undefined
      ? Either.left(`standard input has more than ${most} MiB.`)
      : Either.mapLeft(Collect.toText(bytes), () => "standard input is no UTF-8, which JSON needs.")
  )

/**
 * Parses the arguments of a tool, or says on the left what is wrong. The server checks their types.
 *
 * @param source the origin of the JSON in messages: `--json`
 */
const parseMcpInput = (
  json: string,
  source: string
): Effect.Effect<Either.Either<Readonly<Record<string, unknown>>, string>> =>
  Effect.map(
    Yield.run(() => Json.steps(json)),
    (parsed) =>
      Either.mapLeft(
        Either.filterOrLeft(parsed, Predicate.isReadonlyRecord, () => "it must be an object: {…}"),
        (reason) => `${source}: ${UntrustedText.word(reason, 300)}.`
      )
  )

const described: Described = {
  name: "mcp:*",
  summary: "Calls a tool of an MCP server; mcp: lists the servers, mcp:<server> its tools.",
  usage: "mcp:<server>:<tool> [<value> …] [--name <value> …]"
}

/** A result that waits for the shell to put it out. */
interface Held {
  readonly output: McpOutput
  readonly parts: ReadonlyArray<Output.Part>
}

export const make: Effect.Effect<CommandHandler, never, McpClient> = Effect.gen(function* () {
  const client = yield* McpClient
  const attachments = new Output.Attachments()
  const callable = new WeakMap<McpTool, McpSchema.CallableTool>()
  /** The waiting results, by the argument that the shell passes back. */
  const held = new Map<string, Held>()

  const toCallable = (tool: McpTool): McpSchema.CallableTool => {
    const made = callable.get(tool) ?? McpSchema.make(tool)
    callable.set(tool, made)
    return made
  }

  const toolsOf = (command: string, server: string, refresh = false) => client.tools(server, { command, refresh })

  const find = Effect.fnUntraced(function* (command: string, name: McpName.Name) {
    const found = McpName.find(name, yield* toolsOf(command, name.server))
    if (found !== undefined) return toCallable(found)
    // The tool may be new, so the server is asked again.
    const tools = yield* toolsOf(command, name.server, true)
    const now = McpName.find(name, tools)
    return now === undefined ? yield* McpName.unknownTool(command, name, tools) : toCallable(now)
  })

  const isServer = (name: string) =>
    Effect.map(
      client.servers,
      (servers) => name === "" || servers.some((server) => server.isFile !== true && server.name === name)
    )

  const list = Effect.fnUntraced(function* (command: string, { server }: McpName.Name) {
    const stdout = server === "" ? serversMcpList(yield* client.servers) : toolsMcpList(yield* toolsOf(command, server))
    if (stdout !== "") return CommandResult.make({ stdout })
    return CommandResult.make({ advice: [none(server === "" ? undefined : server)] })
  })

  /** Calls the tool and tells its progress to the listener. */
  const callTool = (
    { tool }: McpSchema.CallableTool,
    command: string,
    values: Readonly<Record<string, unknown>>,
    { timeout }: RunOptions
  ): Effect.Effect<McpOutput, CommandError> =>
    Effect.flatMap(FiberRef.get(CommandListener.current), ({ onProgress }) =>
      client.call(tool.server, tool.name, values, {
        timeout,
        onProgress: onProgress && ((progress) => onProgress({ ...harmless(progress), command }))
      })
    )

  /** Puts out a result, by a call of the shell if the result needs the shell. */
  const answer = (call: CommandCall, output: McpOutput): Effect.Effect<CommandResult.CommandResult, CommandError> => {
    const { server, tool } = McpName.parse(call.name)
    const parts = Output.partsOf(output, tool)
    const put = putMcpAnswer(call, output, parts, attachments)
    if (call.byShell === undefined || !needsShell(parts)) return put
    const word = `--synapse-held=${Crypto.randomUUID()}`
    held.set(word, { output, parts })
    return call.byShell([McpName.ofTool(server, tool), word]).pipe(
      // If the shell fails, put the result out all the same: the tool has already run.
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
      return yield* putMcpAnswer(call, waiting.output, waiting.parts, attachments)
    }
    const name = McpName.parse(call.name)
    if (name.tool === "" || name.server === "") {
      const isHelp = call.args.length === 1 && (word === "--help" || word === "-h")
      const isList = name.tool === "" && (call.args.length === 0 || isHelp)
      if (!isList && (yield* isServer(name.server))) return yield* incomplete(name)
      return yield* list(call.name, name)
    }
    const tool = yield* find(call.name, name)
    const given = Arguments.parse(tool, call.args)
    if (Either.isLeft(given)) return yield* McpHelp.misuse(tool, given.left)
    if (given.right._tag === "Help") return CommandResult.make({ stdout: McpHelp.help(tool) })
    if (tool.tool.needsTask === true) return yield* new InvalidUsage({ reason: `${call.name}: ${asTask}.` })
    const values = yield* valuesOf(tool, given.right, call)
    return yield* answer(call, yield* callTool(tool, call.name, values, options))
  })

  return {
    ...described,
    run,
    known: knownFrom(client.known, (tools) => tools.map((tool) => describe(tool, toCallable))),
    look: makeMcpLook(client)
  }
})

const valuesOf = Effect.fnUntraced(function* (
  tool: McpSchema.CallableTool,
  given: Exclude<Arguments.Given, { readonly _tag: "Help" }>,
  { byShell, stdin }: CommandCall
): Effect.fn.Return<Readonly<Record<string, unknown>>, CommandError> {
  const parse = (json: string, source: string) =>
    Effect.flatMap(
      parseMcpInput(json, source),
      Either.match({ onLeft: (problem) => Effect.fail(McpHelp.misuse(tool, [problem])), onRight: Effect.succeed })
    )
  if (given._tag === "Whole") return yield* parse(given.json, "--json")
  if (given._tag === "Values") {
    // A plain call with its own standard input can only mean it as arguments.
    if (byShell !== undefined && stdin !== undefined) {
      return yield* McpHelp.misuse(tool, [
        "It does not read standard input, but with --json -, which takes all arguments."
      ])
    }
    return given.values
  }
  const text = stdin === undefined ? Either.right("") : yield* read(stdin)
  if (Either.isLeft(text)) return yield* McpHelp.misuse(tool, [text.left])
  if (text.right.trim() === "") return yield* McpHelp.misuse(tool, [nothing(tool, given.isAsked)])
  if (!given.isAsked && !/^\s*[[{]/.test(text.right)) {
    return yield* McpHelp.misuse(tool, [
      'standard input has to be a JSON object of all arguments. Text goes into a word: "$(cat)".'
    ])
  }
  return yield* parse(text.right, "standard input")
})

const nothing = ({ parameters }: McpSchema.CallableTool, isAsked: boolean): string => {
  if (isAsked) return "--json -: nothing comes on standard input."
  const names = parameters.flatMap(({ isRequired, name }) => (isRequired ? [UntrustedText.word(name)] : []))
  return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing.`
}

const describe = (tool: McpTool, toCallable: (tool: McpTool) => McpSchema.CallableTool): Described => ({
  name: McpName.ofTool(tool.server, tool.name),
  summary: summaryOf(tool),
  // Computed on demand: of a thousand tools, only few usages are shown.
  get usage() {
    return McpHelp.usage(toCallable(tool))
  }
})

const harmless = ({ message, progress, total }: McpProgress): McpProgress => ({
  progress,
  ...(total === undefined ? undefined : { total }),
  ...(message === undefined ? undefined : { message: UntrustedText.line(message, 200) })
})

/** Makes the error for a name without a server, or for arguments after a name without a tool. */
const incomplete = ({ server, tool }: McpName.Name): InvalidUsage =>
  server === "" && tool !== ""
    ? new InvalidUsage({
        reason: `mcp::${UntrustedText.word(tool)}: it has no server in its name.`,
        advice: [Advice.line`Usage: ${described.usage}`, Advice.line`${Advice.run("mcp:")} lists the servers.`]
      })
    : CommandGrammar.misuse(
        { name: McpName.toWord(server), usage: described.usage },
        "it has no tool in its name, so that it takes no arguments but --help."
      )
