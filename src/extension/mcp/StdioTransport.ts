/**
 * Carries the messages to and from a server that is a program. The official client's transport ends the program alone
 * and leaves what it has started, holds 10 MB at most, and copies a long message once for each of its chunks.
 *
 * @since 0.1.0
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import * as MessageReader from "./MessageReader.js"
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
  let tooLarge = false

  /** The client hears notifications a moment late: of a call's progress it would know nothing where the answer follows at once. */
  const deliver = async (messages: ReadonlyArray<MessageReader.Message>) => {
    for (const message of messages) {
      // The client checks what a message is.
      transport.onmessage?.(message as unknown as JSONRPCMessage)
      if (!("id" in message)) await undefined
    }
  }

  const onOutput = (chunk: Uint8Array) => {
    if (tooLarge) return
    const messages = reader.read(chunk)
    if (messages === undefined) {
      tooLarge = true
      void running?.end()
      return
    }
    void deliver(messages)
  }
  const onEnd = () => transport.onclose?.()

  const transport: StdioTransport = {
    start: async () => {
      server = ServerProcess.start(program, { onOutput, onEnd })
      running = await server
    },
    send: async (message) => {
      if (running === undefined || running.ending() !== undefined) throw new NotSent("The server has ended")
      try {
        await running.write(`${JSON.stringify(message)}\n`)
      } catch (cause) {
        throw new NotSent("The server does not read", { cause })
      }
    },
    close: async () => {
      // It may be on its way.
      const started = await server?.catch(() => undefined)
      await started?.end()
    },
    ending: () => (tooLarge ? `a message of more than ${MessageReader.largest / 1024 ** 2} MiB` : running?.ending()),
    lastWords: () => running?.stderr().trim() || reader.noise()
  }
  return transport
}
