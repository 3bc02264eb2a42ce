/**
 * Serves the tools to one MCP client, in a separate session that starts with the first call.
 *
 * A permission question goes to the person behind the client. The call is answered with the question and keeps running;
 * the client's answer comes with a second request. For older clients, the server package turns this into elicitation.
 */
import { randomUUID } from "node:crypto"
import * as Url from "node:url"
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  Server,
  type ServerContext
} from "@modelcontextprotocol/server"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Struct from "effect/Struct"
import * as Attempt from "../domain/Attempt.js"
import * as CallContext from "../domain/CallContext.js"
import * as ToolCall from "../domain/ToolCall.js"
import * as Version from "../domain/Version.js"
import * as Permission from "../sandbox/permission/Permission.js"
import * as PermissionPrompt from "../sandbox/permission/PermissionPrompt.js"
import type { ToolDefinition } from "../toolset/Tool.js"
import type * as ToolReturn from "../toolset/ToolReturn.js"
import { Toolset } from "../toolset/Toolset.js"

/** What all connections of a server share. */
export interface Options {
  readonly tools: Effect.Effect<ReadonlyArray<ToolDefinition>>
  /**
   * Makes the app of a connection.
   *
   * @param root the client's directory, if it names one
   * @param permission asks the person behind the client, if the client supports that
   */
  readonly open: (
    root: string | undefined,
    permission: Layer.Layer<Permission.Permission> | undefined
  ) => Layer.Layer<Toolset, ConfigError>
  /** Describes a setting that can't work. */
  readonly words: (error: ConfigError) => string
}

/** A question that a command waits for. Only one is open at a time. */
interface Question {
  readonly request: Permission.PermissionRequest
  readonly offered: ReadonlyArray<Permission.Answer>
  readonly answer: Deferred.Deferred<Permission.Answer>
  isShown: boolean
}

/** How long a question stays open. A client that leaves does not say so. */
const patience = Duration.minutes(10)

/** How many answers a call with questions may get, more than any person gives. */
const maxRounds = 1000

type Running = Fiber.RuntimeFiber<ToolReturn.ToolReturn>

/** The state of the request for the client's directories. */
const askingRoots = "roots"

const outputSchema = {
  type: "object",
  properties: {
    output: { type: "string", description: "What the command printed, and how it ended." },
    exitCode: { type: "integer" },
    failureCategory: { type: "string", enum: ["command_not_found", "invalid_usage", "blocked", "execution_error"] }
  },
  required: ["output"]
} as const

const annotations = {
  title: "Bash",
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true
}

const toResult = ({ extras, isError, output }: ToolReturn.ToolReturn): CallToolResult => ({
  content: [
    { type: "text", text: output },
    ...(extras.images ?? []).map(({ base64, mediaType }) => ({
      type: "image" as const,
      data: base64,
      mimeType: mediaType
    }))
  ],
  structuredContent: { output, ...Struct.pick(extras, "exitCode", "failureCategory") },
  ...(isError ? { isError } : {})
})

const failure = (text: string): CallToolResult => ({
  content: [{ type: "text", text }],
  structuredContent: { output: text },
  isError: true
})

const questionOf = ({ offered, request }: Question) =>
  inputRequired.elicit({
    message: PermissionPrompt.describe(request).join("\n"),
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          type: "string",
          title: "Allow it?",
          description: offered.map((answer) => `${answer}: ${PermissionPrompt.effectOf(answer, request)}`).join(". "),
          enum: [...offered]
        }
      },
      required: ["answer"]
    }
  })

/** Keeps the last line of a command's output. */
class LastLine {
  private tail = ""
  private readonly decoder = new TextDecoder()

  push(bytes: Uint8Array): void {
    this.tail = (this.tail + this.decoder.decode(bytes, { stream: true })).slice(-1000)
  }

  get text(): string {
    return PermissionPrompt.printable(
      this.tail
        .trimEnd()
        .split(/[\r\n]+/)
        .at(-1) ?? ""
    )
  }
}

/** A connection: a server for a transport, and a way to end the call of a request. */
export interface Connection {
  readonly server: Server
  /** Ends the call of a request, like the client's cancellation. */
  readonly cancel: (request: string | number) => void
  /** Tests whether a call is running. */
  readonly isBusy: () => boolean
}

/** Makes the server of one connection. Its session and everything that it started end with the scope. */
export const make = ({ open, tools, words }: Options): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const run = yield* FiberSet.makeRuntimePromise<never>()
    const fork = yield* FiberSet.makeRuntime<never>()
    const running = new Map<string | number, Running>()
    /** The calls whose question waits for an answer, by the state that the answer brings back. */
    const waiting = new Map<string, { readonly fiber: Running; readonly question: Question }>()
    let asked = yield* Deferred.make<Question>()

    const permission = Permission.layerCallback((request, offered) =>
      Effect.gen(function* () {
        const question = { request, offered, answer: yield* Deferred.make<Permission.Answer>(), isShown: false }
        yield* Deferred.succeed(asked, question)
        return yield* Deferred.await(question.answer).pipe(
          Effect.timeoutTo({ duration: patience, onSuccess: (answer) => answer, onTimeout: () => "deny" as const })
        )
      }).pipe(
        Effect.ensuring(
          Effect.map(Deferred.make<Question>(), (next) => {
            asked = next
          })
        )
      )
    )

    /** The client's directory and whether it can ask, known from the first call on. */
    const client = yield* Deferred.make<{ readonly root: string | undefined; readonly asks: boolean }>()
    // In a separate fiber, so that cancelling the first call does not end the session for other calls.
    const opening = yield* Effect.forkScoped(
      Effect.flatMap(Deferred.await(client), ({ asks, root }) =>
        Effect.map(Layer.buildWithScope(open(root, asks ? permission : undefined), scope), Context.get(Toolset))
      )
    )

    const server = new Server(
      { name: "synapse", title: "Synapse", version: Version.current },
      { capabilities: { tools: {} }, inputRequired: { maxRounds } }
    )

    const capabilities = ({ mcpReq: { envelope } }: ServerContext): ClientCapabilities => {
      const said = envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined
      return said?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
    }

    const start = (
      given: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
      context: ServerContext
    ) =>
      Effect.gen(function* () {
        const toolset = yield* Fiber.join(opening)
        const { _meta, id, notify } = context.mcpReq
        const call = ToolCall.make({ id: randomUUID(), name: given.name, arguments: given.arguments ?? {} })
        const last = new LastLine()
        const fiber = fork(
          CallContext.locally(toolset.handle(call), { listener: { onOutput: (_, bytes) => last.push(bytes) } })
        )
        running.set(id, fiber)
        fiber.addObserver(() => running.delete(id))
        const progressToken = _meta?.progressToken
        if (progressToken !== undefined) {
          let progress = 0
          const tell = Effect.promise(() =>
            notify({
              method: "notifications/progress",
              params: { progressToken, progress: ++progress, message: last.text }
            }).catch(() => {})
          )
          const ticking = fork(Effect.delay(Effect.repeat(tell, Schedule.spaced("1 second")), "1 second"))
          fiber.addObserver(() => fork(Fiber.interrupt(ticking)))
        }
        return fiber
      })

    /** Waits for a call's end, or for a question that no other call has shown. */
    const settle = (fiber: Running): Effect.Effect<CallToolResult | InputRequiredResult> =>
      Effect.gen(function* () {
        for (;;) {
          const question = yield* Effect.raceFirst(Effect.as(Fiber.await(fiber), undefined), Deferred.await(asked))
          if (question === undefined) {
            const exit = yield* Fiber.await(fiber)
            return Exit.isSuccess(exit) ? toResult(exit.value) : failure("The call was cancelled.")
          }
          if (!question.isShown) {
            question.isShown = true
            const state = randomUUID()
            waiting.set(state, { fiber, question })
            fiber.addObserver(() => waiting.delete(state))
            return inputRequired({ inputRequests: { permission: questionOf(question) }, requestState: state })
          }
          yield* Effect.raceFirst(Fiber.await(fiber), Deferred.await(question.answer))
          yield* Effect.yieldNow()
        }
      })

    const answer = (state: string, context: ServerContext) =>
      Effect.gen(function* () {
        const held = waiting.get(state)
        if (held === undefined) return failure("No call waits for this answer: its question has ended.")
        waiting.delete(state)
        const { fiber, question } = held
        const said = inputResponse(context.mcpReq.inputResponses, "permission")
        const given = said.kind === "elicit" && said.action === "accept" ? said.content?.["answer"] : undefined
        yield* Deferred.succeed(question.answer, question.offered.find((one) => one === given) ?? "deny")
        return yield* ending(fiber, context)
      })

    /** Ends the call when its request is cancelled. */
    const ending = (fiber: Running, { mcpReq: { signal } }: ServerContext) => {
      const end = () => void fork(Fiber.interrupt(fiber))
      if (signal.aborted) end()
      else signal.addEventListener("abort", end, { once: true })
      return settle(fiber)
    }

    const rootOf = (context: ServerContext): string | undefined => {
      const said = inputResponse(context.mcpReq.inputResponses, askingRoots)
      const address = said.kind === "roots" ? said.roots.find(({ uri }) => uri.startsWith("file://"))?.uri : undefined
      return address === undefined ? undefined : Attempt.orUndefined(() => Url.fileURLToPath(address))
    }

    server.setRequestHandler("tools/list", () =>
      run(
        Effect.map(tools, (all) => ({
          tools: all.map(({ description, name, parameters }) => ({
            name,
            description,
            inputSchema: { ...parameters, type: "object" as const },
            outputSchema,
            annotations
          }))
        }))
      )
    )
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const state = context.mcpReq.requestState<string>()
      const { elicitation, roots } = capabilities(context)
      const called = Effect.gen(function* () {
        if (state !== undefined && state !== askingRoots) return yield* answer(state, context)
        if (state === undefined && roots !== undefined && !(yield* Deferred.isDone(client))) {
          return inputRequired({
            inputRequests: { [askingRoots]: inputRequired.listRoots() },
            requestState: askingRoots
          })
        }
        yield* Deferred.succeed(client, { root: rootOf(context), asks: elicitation !== undefined })
        return yield* ending(yield* start(params, context), context)
      })
      return run(Effect.catchAll(called, (error) => Effect.succeed(failure(words(error))))) as Promise<CallToolResult>
    })

    return {
      server,
      cancel: (request) => {
        const fiber = running.get(request)
        if (fiber !== undefined) fork(Fiber.interrupt(fiber))
      },
      isBusy: () => running.size > 0
    }
  })
