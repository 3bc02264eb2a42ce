/**
 * Carries the messages to and from a server that is a program. The official client's transport ends the program alone
 * and leaves what it has started, holds 10 MB at most, and copies a long message once for each of its chunks.
 *
 * @since 0.1.0
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import * as Slices from "../../domain/Slices.js"
import * as Backlog from "./Backlog.js"
import * as MessageReader from "./MessageReader.js"
import * as Response from "./Response.js"
import * as ServerProcess from "./ServerProcess.js"

/**
 * A transport, and what it knows of a server that has ended.
 *
 * @since 0.1.0
 * @category models
 */
export interface StdioTransport extends Transport {
  /** How the program ended; undefined while it runs. */
  readonly ending: () => string | undefined
  /** The end of its standard error, or else the last line of its standard output that was no message. */
  readonly lastWords: () => string
}

/**
 * A message that the server can't have read.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotSent extends Error {}

/** Characters of answers that a server has not read; more are not made before it reads. */
const mostUnread = 64 * 1024

/** Milliseconds that messages are dealt with before the event loop has its turn. */
const slice = 4

/**
 * Makes a transport, which starts the program when the client does.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (program: ServerProcess.Program): StdioTransport => {
  const reader = MessageReader.make()
  let server: Promise<ServerProcess.ServerProcess> | undefined
  let running: ServerProcess.ServerProcess | undefined
  const unread = Backlog.make(mostUnread)
  let tooLarge = false
  let isClosing = false
  let worked = 0
  let delivered = Promise.resolve()

  const hand = (message: MessageReader.Message) => {
    try {
      // The client checks what a message is.
      transport.onmessage?.(Response.sound(message) as unknown as JSONRPCMessage)
    } catch (cause) {
      transport.onerror?.(new Error("The client can't take a message", { cause }))
    }
  }

  const deliver = async (chunk: Uint8Array) => {
    let since = performance.now()
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
        hand(next.value)
        // What the client does with it a moment later counts too; of a call's progress it would otherwise know nothing
        // where the answer follows at once.
        await undefined
      }
      await unread.room()
      if (worked + performance.now() - since >= slice) {
        await Slices.turn()
        worked = 0
        since = performance.now()
      }
    }
    // A pipe is read many times in one turn.
    worked += performance.now() - since
  }

  const end = async () => {
    isClosing = true
    unread.release()
    // It may be on its way.
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
      if (running?.isThere() !== true) throw new NotSent("The server has ended")
      const text = `${JSON.stringify(message)}\n`
      const written = running.write(text)
      if (!("method" in message)) unread.add(text.length, written)
      try {
        await written
      } catch (cause) {
        throw new NotSent("The server does not read", { cause })
      }
    },
    close: end,
    ending: () => (tooLarge ? `a message of more than ${MessageReader.largest / 1024 ** 2} MiB` : running?.ending()),
    lastWords: () => running?.stderr().trim() || reader.noise()
  }
  return transport
}
