/**
 * A real HTTP server that answers as Anthropic (`/v1/messages`), as OpenAI (`/v1/responses`) and as an OpenAI-compatible
 * server (`/v1/chat/completions`): each request gets the next reply of a script, in the protocol of its path.
 *
 * ```ts
 * const server = yield* ModelServer.serve([
 *   ModelServer.calls({ name: "Bash", arguments: { command: "ls" } }),   // a turn with tool calls
 *   ModelServer.status(429, { "retry-after": "1" }),                     // a refusal
 *   ModelServer.answer({ text: ["There are ", "3 files."] })             // a turn with text, in these deltas
 * ])
 * server.env                  // the variables that send a program here: ANTHROPIC_BASE_URL, OPENAI_API_KEY, …
 * server.requests[0]?.body    // the requests so far, as they came
 * yield* server.quiet         // waits until no connection has a request on it
 * ```
 *
 * A script may also be a function of the request, for several clients at once. A request after the last reply gets
 * status 400, so that no client tries again. The server and all its connections end with the scope.
 */
import * as Http from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as LocalServer from "./LocalServer.js"
import * as Protocol from "./Protocol.js"

/** A turn of the model. */
export interface Answer {
  readonly _tag: "Answer"
  /** The deltas of its text. */
  readonly text: ReadonlyArray<string>
  readonly reasoning: ReadonlyArray<string>
  readonly calls: ReadonlyArray<Protocol.Call>
  /** The reason of Anthropic's protocol: `end_turn`, `tool_use`, `max_tokens`, `refusal`. */
  readonly reason: "end_turn" | "tool_use" | "max_tokens" | "refusal"
  /** All tokens sent, those of them that were read from the cache, and the tokens received; none told where undefined. */
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number } | undefined
  /** Milliseconds between two events. */
  readonly pause: number
  /** The connection is cut after this many events. */
  readonly cut: number | undefined
  /** The stream ends, properly for HTTP, after this many events. */
  readonly short: number | undefined
}

export type Reply =
  | Answer
  | {
      readonly _tag: "Status"
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: unknown
    }
  /** Bytes as they are; the response then ends, stays open, repeats them every 20 ms, or is cut. */
  | {
      readonly _tag: "Raw"
      readonly type: string
      readonly text: string
      readonly after: "end" | "stay" | "again" | "cut"
    }
  /** Accepts the request, and says nothing. */
  | { readonly _tag: "Silence" }
  /** Cuts the connection before a byte of the answer. */
  | { readonly _tag: "Reset" }

export interface Recorded {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of three protocols
  readonly body: any
}

export interface ModelServer {
  /** The address without a path. */
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  readonly requests: ReadonlyArray<Recorded>
  /** The number of connections. */
  readonly connections: () => number
  /** Waits until no request is being answered. */
  readonly quiet: Effect.Effect<void>
}

export const key = "sk-test-0123456789abcdef"

export const answer = (given: Partial<Omit<Answer, "_tag">> = {}): Answer => ({
  _tag: "Answer",
  text: [],
  reasoning: [],
  calls: [],
  reason: given.calls === undefined ? "end_turn" : "tool_use",
  usage: { input: 120, cached: 20, output: 7 },
  pause: 0,
  cut: undefined,
  short: undefined,
  ...given
})

/** A turn that is only this text. */
export const text = (...deltas: ReadonlyArray<string>): Answer => answer({ text: deltas })

/** A turn that is these calls; `arguments` that are text are sent as they are, also where they are no JSON. */
export const calls = (
  ...given: ReadonlyArray<{ readonly id?: string; readonly name: string; readonly arguments: unknown }>
): Answer =>
  answer({
    calls: given.map((call, at) => ({
      id: call.id ?? `call_${at + 1}`,
      name: call.name,
      arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)
    }))
  })

/** A refusal; its body is an error in the provider's form where none is given. */
export const status = (
  code: number,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = { type: "error", error: { type: "test_error", message: `refused with ${code}` } }
): Reply => ({ _tag: "Status", status: code, headers, body })

export const raw = (
  given: string,
  options: { type?: string; after?: "end" | "stay" | "again" | "cut" } = {}
): Reply => ({
  _tag: "Raw",
  text: given,
  type: options.type ?? "text/event-stream",
  after: options.after ?? "end"
})

export const silence: Reply = { _tag: "Silence" }
export const reset: Reply = { _tag: "Reset" }

const over = status(400, {}, { error: { type: "invalid_request_error", message: "the script has no further reply" } })

export type Script = ReadonlyArray<Reply> | ((request: Recorded, index: number) => Reply)

/** Starts a server, until the scope closes. */
export const serve = (script: Script): Effect.Effect<ModelServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<Recorded> = []
    let busy = 0
    const server = yield* LocalServer.listen(() =>
      Http.createServer((request, response) => {
        busy++
        response.once("close", () => busy--)
        void read(request).then((recorded) => {
          requests.push(recorded)
          const index = requests.length - 1
          const reply = typeof script === "function" ? script(recorded, index) : (script[index] ?? over)
          return send(reply, recorded, response)
        }, ignore)
      })
    )
    const url = `http://127.0.0.1:${server.port}`
    return {
      url,
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: key,
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_API_KEY: key,
        SYNAPSE_MODEL: "claude-test"
      },
      requests,
      connections: server.connections,
      quiet: Effect.async<void>((resume) => {
        const look = () => (busy === 0 ? resume(Effect.void) : void setTimeout(look, 5))
        look()
      })
    }
  })

const ignore = (): void => {}

const read = async (request: Http.IncomingMessage): Promise<Recorded> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  return { path: request.url ?? "", headers: request.headers, text: body, body: parse(body) }
}

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const send = async (reply: Reply, request: Recorded, response: Http.ServerResponse): Promise<void> => {
  switch (reply._tag) {
    case "Silence":
      return
    case "Reset":
      response.socket?.destroy()
      return
    case "Status": {
      const isText = typeof reply.body === "string"
      response.writeHead(reply.status, { "content-type": isText ? "text/plain" : "application/json", ...reply.headers })
      response.end(isText ? reply.body : JSON.stringify(reply.body))
      return
    }
    case "Raw":
      response.writeHead(200, { "content-type": reply.type })
      response.write(reply.text)
      if (reply.after === "end") response.end()
      if (reply.after === "again") {
        const again = setInterval(() => response.write(reply.text), 20)
        response.on("close", () => clearInterval(again))
      }
      if (reply.after === "cut") setImmediate(() => response.socket?.destroy())
      return
    case "Answer": {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const events = Protocol.events(request.path, reply, String(request.body?.model))
      for (const [at, event] of events.entries()) {
        if (at === reply.cut) {
          // Only what was written is to arrive.
          setTimeout(() => response.socket?.destroy(), 20)
          return
        }
        if (at === reply.short) break
        if (at > 0 && reply.pause > 0) await new Promise((resolve) => setTimeout(resolve, reply.pause))
        if (response.destroyed) return
        response.write(event)
      }
      response.end()
    }
  }
}
