/** Makes the transport of an entry, and interprets its errors. */
import * as fs from "node:fs"
import type * as Client from "@modelcontextprotocol/client"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Attempt from "../../../domain/Attempt.js"
import type { ExecutionFailed } from "../../../domain/CommandError.js"
import { UserEnvironment } from "../../../domain/UserEnvironment.js"
import * as Yield from "../../../domain/Yield.js"
import type { McpEntry } from "../McpConfig.js"
import * as McpConfig from "../McpConfig.js"
import * as McpEnvironment from "../McpEnvironment.js"
import * as NamedFiles from "../NamedFiles.js"
import * as OAuth from "../OAuth.js"
import * as FailureCause from "./FailureCause.js"
import * as RemoteFetch from "./RemoteFetch.js"
import * as ServerProcess from "./ServerProcess.js"

export interface MessageReader {
  /**
   * Takes bytes and yields the complete messages lazily, with undefined for a line that is not a message. Returns false
   * if a message exceeds the limit, after which nothing can be read.
   */
  readonly read: (chunk: Uint8Array) => Generator<Message | undefined, boolean>
  /** The beginning of the last line that was not a message. */
  readonly noise: () => string
}

/** A JSON-RPC message. Only its being an object is checked. */
interface Message {
  readonly jsonrpc: "2.0"
  readonly [key: string]: unknown
}

const largest = 64 * 1024 ** 2

const newline = 0x0a

/**
 * Makes a reader. It ignores lines that are not messages, because servers print other text to standard output.
 *
 * @param limit the largest message, in bytes
 */
export const makeMessageReader = (limit: number = largest): MessageReader => {
  // A long line comes in thousands of chunks, which are joined once at its end.
  let begun: Array<Uint8Array> = []
  let length = 0
  let noise = ""

  const take = (end: Uint8Array): Message | undefined => {
    const line = begun.length === 0 ? end : Buffer.concat([...begun, end])
    begun = []
    length = 0
    const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString("utf8")
    const message = parse(text)
    if (message === undefined && text.trim() !== "") noise = text.slice(0, 300)
    return message
  }

  return {
    *read(chunk) {
      let at = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, at)) {
        if (length + end - at > limit) return false
        const line = chunk.subarray(at, end)
        at = end + 1
        yield take(line)
      }
      if (at < chunk.length) {
        length += chunk.length - at
        if (length > limit) return false
        begun.push(chunk.subarray(at))
      }
      return true
    },
    noise: () => noise
  }
}

const parse = (text: string): Message | undefined =>
  Attempt.orUndefined(() => {
    const value: unknown = JSON.parse(text)
    return isMessage(value) ? value : undefined
  })

const isMessage = (value: unknown): value is Message => isObject(value) && value["jsonrpc"] === "2.0"

/** The answers that a server has not read yet. If there are too many, its further requests are not read. */
class UnreadAnswers {
  private readonly all = new Set<Promise<void>>()

  constructor(private readonly most: number) {}

  add(taken: Promise<unknown>): void {
    const settled: Promise<void> = taken
      .then(
        () => {},
        () => {}
      )
      .finally(() => this.all.delete(settled))
    this.all.add(settled)
  }

  async room(): Promise<void> {
    while (this.all.size >= this.most) await Promise.race(this.all)
  }
}

const internalError = -32_603

/** Repairs a response so that the client accepts it. A response without a result or an error becomes an error. */
const repaired = (message: Message): Message => {
  if (!("id" in message) || "method" in message) return message
  const { error, id, result } = message
  if (isObject(result)) {
    const { _meta, ...rest } = result
    return { jsonrpc: "2.0", id, result: isObject(_meta) ? result : rest }
  }
  const { code, data, message: said } = isObject(error) ? error : {}
  return {
    jsonrpc: "2.0",
    id,
    error: {
      code: Number.isSafeInteger(code) ? code : internalError,
      message: typeof said === "string" ? said : FailureCause.own.noResult,
      data
    }
  }
}

const isObject = Predicate.isReadonlyRecord

/** A transport that also tells how its server ended. */
export interface StdioTransport extends Transport {
  /** How the program ended. Undefined while it runs. */
  readonly ending: () => string | undefined
  /** The end of its standard error, or else the last line of standard output that was not a message. */
  readonly lastWords: () => string
}

/** The error for a message that the server can't have read. */
class NotSent extends Error {}

/** The milliseconds of work after which the event loop gets a turn. */
const slice = 4

/** Makes a transport. The program starts when the client connects. */
export const makeStdioTransport = (program: ServerProcess.Program): StdioTransport => {
  const reader = makeMessageReader()
  let server: Promise<ServerProcess.ServerProcess> | undefined
  let running: ServerProcess.ServerProcess | undefined
  const unread = new UnreadAnswers(1)
  let tooLarge = false
  let isClosing = false
  let since = performance.now()
  let delivered = Promise.resolve()

  const passOn = (message: Message) => {
    try {
      // The client validates the message.
      transport.onmessage?.(repaired(message) as unknown as JSONRPCMessage)
    } catch (cause) {
      transport.onerror?.(new Error("The client can't take a message", { cause }))
    }
  }

  const deliver = async (chunk: Uint8Array) => {
    const messages = reader.read(chunk)
    for (let next = messages.next(); !isClosing; next = messages.next()) {
      if (next.done === true) {
        if (!next.value) {
          tooLarge = true
          void end()
        }
        break
      }
      if (next.value !== undefined) {
        passOn(next.value)
        // Lets the client process the message first: it would miss a call's progress if the answer followed at once.
        await undefined
      }
      await unread.room()
      if (performance.now() - since >= slice) {
        await Yield.turn()
        since = performance.now()
      }
    }
  }

  const end = async () => {
    isClosing = true
    // The server may still be starting.
    const started = await server?.catch(() => undefined)
    await started?.end()
  }
  const onOutput = (chunk: Uint8Array) => {
    if (!isClosing) delivered = deliver(chunk)
    return delivered
  }
  const onEnd = () => void delivered.then(() => transport.onclose?.())

  const transport: StdioTransport = {
    start: async () => {
      server = ServerProcess.start(program, { onOutput, onEnd })
      running = await server
    },
    send: async (message) => {
      const isAnswer = !("method" in message)
      // To ask the system costs more than an answer, and nobody waits for one.
      if (running === undefined || (!isAnswer && !running.isThere())) throw new NotSent("The server has ended")
      const text = `${JSON.stringify(message)}\n`
      const written = running.write(text)
      if (isAnswer) unread.add(written)
      try {
        await written
      } catch (cause) {
        throw new NotSent("The server does not read", { cause })
      }
    },
    close: end,
    ending: () => (tooLarge ? `a message of more than ${largest / 1024 ** 2} MiB` : running?.ending()),
    lastWords: () => running?.stderr().trim() || reader.noise()
  }
  return transport
}

/** Makes a transport. It connects when the client does, and tells the `WWW-Authenticate` header of the last answer. */
const makeHttp = (client: typeof Client, entry: McpEntry & { readonly _tag: "Http" }, home: string) => {
  const { headers, url } = entry
  let challenge: string | undefined
  const streams = new Map<unknown, AbortController>()
  const unread = new UnreadAnswers(mostUnread)
  const fetch = RemoteFetch.make(url, headers)
  const transport = new client.StreamableHTTPClientTransport(new URL(url), {
    ...(OAuth.isLoggedIn(home, entry) ? { authProvider: OAuth.provider(home, url) } : {}),
    fetch: async (address, init) => {
      const response = await fetch(address, init)
      challenge = response.headers.get("www-authenticate") ?? undefined
      const limited = response.ok ? RemoteFetch.limited(response, largest) : RemoteFetch.begun(response, mostOfFailure)
      return RemoteFetch.isStream(response) ? RemoteFetch.piped(limited, paced(unread)) : limited
    }
  })
  const close = transport.close.bind(transport)
  const send = transport.send.bind(transport)
  return Object.assign(transport, {
    challenge: () => challenge,
    // If the stream for the answer ends early, the client would wait until its timeout.
    send: (message: Client.JSONRPCMessage, options?: SendOptions) => {
      if ("method" in message && message.method === "notifications/cancelled") {
        streams.get(message.params?.["requestId"])?.abort()
      }
      if (!("method" in message)) {
        const taken = send(message, options)
        unread.add(taken)
        return taken
      }
      if (!("id" in message)) return send(message, options)
      const error = { code: noAnswer, message: FailureCause.own.noAnswer }
      const { id } = message
      // Stop listening to a cancelled call, because its answer may be an endless stream.
      const stream = new AbortController()
      streams.set(id, stream)
      for (const old of streams.keys()) if (streams.size > mostStreams) streams.delete(old)
      const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error })
      return send(message, { ...options, onRequestStreamEnd, requestSignal: stream.signal }).catch(reworded)
    },
    close: async () => {
      // Tell a server with sessions that this one is over, but do not wait for long.
      await ServerProcess.within(
        transport.terminateSession().catch(() => {}),
        farewell
      )
      await close()
    }
  })
}

type SendOptions = Parameters<Client.StreamableHTTPClientTransport["send"]>[1]

const farewell = 500
const noAnswer = -32_000

/** The most answers that a server has not read. Further ones wait. */
const mostUnread = 32

/** The most requests whose answers can be cut off. */
const mostStreams = 200

/** The most bytes read of an error's body. */
const mostOfFailure = 8192

/** The bytes of an event stream that are passed on before the event loop gets a turn. */
const stride = 8192

/** Passes on an event stream as fast as the answers to it are read, and yields in between. */
const paced = (unread: UnreadAnswers): TransformStream<Uint8Array, Uint8Array> =>
  new TransformStream({
    transform: async (chunk, controller) => {
      for (let at = 0; at < chunk.length; at += stride) {
        await unread.room()
        controller.enqueue(chunk.subarray(at, at + stride))
        await Yield.turn()
      }
    }
  })

/** Replaces the client's error for an invalid message, which lists every possible shape. */
const reworded = (cause: unknown): never => {
  const isNoMessage = cause instanceof Error && (cause.name === "ZodError" || cause instanceof SyntaxError)
  throw isNoMessage ? new Error(FailureCause.own.noResult) : cause
}

/** A transport, and the meaning of its errors. */
export interface Wire {
  readonly transport: Client.Transport
  /** Makes the error for a failed connection. */
  readonly notReady: (cause: unknown) => ExecutionFailed
  /** Tests whether a failed request did not reach the server. */
  readonly isUnsent: (cause: unknown) => boolean
  /** Tests whether the server refused the sender rather than the request. */
  readonly isRefusal: (cause: unknown) => boolean
  /** How the server ended. Undefined while it may be running. */
  readonly ending: () => string | undefined
  /** What the server said last, for an error. */
  readonly lastWords: () => string
}

/** Stops programs from loading code from the temporary directory, which commands may write. */
const noCaches = {
  NODE_DISABLE_COMPILE_CACHE: "1",
  DISABLE_V8_COMPILE_CACHE: "1",
  JITI_FS_CACHE: "0",
  TSX_DISABLE_CACHE: "1"
}

/** Makes the wire to a program. Finds the program here, and the client starts it. */
export const stdio = (
  entry: McpEntry & { readonly _tag: "Stdio" },
  places: McpConfig.Places
): Effect.Effect<Wire, ExecutionFailed> =>
  Effect.gen(function* () {
    const { variables } = yield* UserEnvironment
    const temporary = places.temporary && (yield* places.temporary)
    const isWritable = places.isWritable && (yield* places.isWritable)
    const own = temporary === undefined ? undefined : { TMPDIR: temporary, ...noCaches }
    const environment = McpEnvironment.make({ ...own, ...entry.env }, places.root, variables, isWritable)
    if (!fs.existsSync(entry.cwd)) {
      return yield* FailureCause.notStarted(entry, places, `there is no directory ${entry.cwd}`)
    }
    const find = (command: string, searched = environment["PATH"] ?? "") =>
      McpEnvironment.find(command, entry.cwd, searched)
    const found = find(entry.command)
    if (found === undefined) {
      const elsewhere = find(entry.command, entry.env["PATH"] ?? variables["PATH"])
      if (elsewhere !== undefined) {
        const advice = `where any command can put one: give its path as "command"`
        return yield* FailureCause.notStarted(entry, places, `${entry.command} is ${elsewhere}, ${advice}`)
      }
      const [program = "", ...args] = entry.command.split(/\s+/)
      const isLine = args.length > 0 && find(program) !== undefined
      const advice = isLine ? `. Write "command": ${JSON.stringify(program)}, "args": ${JSON.stringify(args)}` : ""
      return yield* FailureCause.notStarted(entry, places, `there is no program ${entry.command}${advice}`)
    }
    const change = NamedFiles.changeOf(entry.written?.named ?? NamedFiles.nothing, entry.files ?? [], found)
    if (change !== undefined) {
      return yield* FailureCause.notStarted(entry, places, `${change}; ${McpConfig.howToTrust(places.root)}`)
    }
    const transport = makeStdioTransport({ ...entry, program: found, environment })
    return {
      transport,
      notReady: (cause: unknown) =>
        isSystemError(cause) && transport.ending() === undefined
          ? FailureCause.notStarted(entry, places, `${found} in ${entry.cwd}: ${cause.message}`, cause)
          : FailureCause.notReady(entry, places, transport.ending(), cause, transport.lastWords()),
      isUnsent: (cause: unknown) => cause instanceof NotSent,
      isRefusal: () => false,
      ending: transport.ending,
      lastWords: transport.lastWords
    }
  })

/** Makes the wire to an address. */
export const http = (
  library: typeof Client,
  entry: McpEntry & { readonly _tag: "Http" },
  places: McpConfig.Places
): Effect.Effect<Wire, ExecutionFailed> =>
  Effect.map(
    Effect.try({
      try: () => makeHttp(library, entry, places.home),
      catch: (cause) => FailureCause.notReached(entry, places, cause, undefined)
    }),
    (transport) => ({
      transport,
      notReady: (cause) => FailureCause.notReached(entry, places, cause, transport.challenge()),
      // A restarted server answers an unknown session with one of these.
      isUnsent: (cause) =>
        isRefusedConnection(cause) ||
        (transport.sessionId !== undefined && [400, 404].includes(FailureCause.httpOf(cause).status ?? 0)),
      isRefusal: (cause) =>
        [401, 403].includes(FailureCause.httpOf(cause).status ?? 0) || FailureCause.isLoggedOut(cause),
      ending: () => undefined,
      lastWords: () => ""
    })
  )

const isSystemError = (cause: unknown): cause is NodeJS.ErrnoException => cause instanceof Error && "syscall" in cause

/** The connection was refused, so nothing was sent. */
const isRefusedConnection = (cause: unknown): boolean =>
  cause instanceof Error && FailureCause.httpOf(cause.cause).code === "ECONNREFUSED"
