/**
 * Reads the messages of a server: one JSON object a line.
 *
 * @since 0.1.0
 */

/**
 * Reads messages out of chunks of bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface MessageReader {
  /**
   * Takes the next bytes, and yields the messages that are complete, one when it is asked for; undefined for a line that
   * is none. Returns false where a message exceeds the limit: nothing can be read any more.
   */
  readonly read: (chunk: Uint8Array) => Generator<Message | undefined, boolean>
  /** The last line that was no message, or its beginning. */
  readonly noise: () => string
}

/**
 * A JSON-RPC message, of which nothing is certain but that it is an object.
 *
 * @since 0.1.0
 * @category models
 */
export interface Message {
  readonly jsonrpc: "2.0"
  readonly [key: string]: unknown
}

/**
 * The most bytes of a message.
 *
 * @since 0.1.0
 * @category constructors
 */
export const largest = 64 * 1024 ** 2

const newline = 0x0a

/**
 * Makes a reader. Lines that are no message are ignored: servers print to their standard output what they should not.
 *
 * @param limit the most bytes of a message
 * @since 0.1.0
 * @category constructors
 */
export const make = (limit: number = largest): MessageReader => {
  // A long line comes in thousands of chunks: they are put together once, when it is complete.
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

const parse = (text: string): Message | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isMessage(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0"
