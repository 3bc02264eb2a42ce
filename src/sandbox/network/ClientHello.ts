/**
 * Reads the server's name from the first message of a TLS connection.
 */

/** The result: `more` if the message is incomplete, `none` if it is not a ClientHello or has no name. */
export type Hello = { readonly name: string } | "more" | "none"

/** The largest first message, in bytes. */
const most = 64 * 1024
const handshake = 22
const clientHello = 1

/** Joins the bytes of the handshake, which may be split over records anywhere. */
const messageIn = (bytes: Buffer): Buffer | "more" | "none" => {
  const parts: Array<Buffer> = []
  let at = 0
  let needed = 4
  let length = 0
  while (length < needed) {
    if (bytes.length > at && bytes[at] !== handshake) return "none"
    if (bytes.length < at + 5) return bytes.length > most ? "none" : "more"
    const size = bytes.readUInt16BE(at + 3)
    if (bytes[at + 1] !== 3 || size === 0) return "none"
    const part = bytes.subarray(at + 5, at + 5 + size)
    parts.push(part)
    length += part.length
    at += 5 + size
    const start = Buffer.concat(parts)
    if (start.length >= 4) needed = 4 + start.readUIntBE(1, 3)
    if (needed > most || (start.length > 0 && start[0] !== clientHello)) return "none"
    if (bytes.length < at && length < needed) return "more"
  }
  return Buffer.concat(parts).subarray(4, needed)
}

/** Reads the name from the message's extensions. */
const nameIn = (message: Buffer): string | undefined => {
  // The version and the random bytes; then the session, the ciphers and the compressions, each preceded by its length.
  let at = 34
  at += 1 + message.readUInt8(at)
  at += 2 + message.readUInt16BE(at)
  at += 1 + message.readUInt8(at)
  const end = at + 2 + message.readUInt16BE(at)
  let found: string | undefined
  for (at += 2; at + 4 <= end; at += 4 + message.readUInt16BE(at + 2)) {
    if (message.readUInt16BE(at) !== 0) continue
    // The server name extension, which holds one host name.
    const list = message.subarray(at + 4, at + 4 + message.readUInt16BE(at + 2))
    const length = list.readUInt16BE(3)
    if (found !== undefined || list[2] !== 0 || list.readUInt16BE(0) !== length + 3 || list.length !== length + 5)
      return undefined
    found = list.toString("latin1", 5)
  }
  return found
}

export const read = (bytes: Buffer): Hello => {
  const message = messageIn(bytes)
  if (typeof message === "string") return message
  try {
    const name = nameIn(message)
    return name === undefined ? "none" : { name: name.toLowerCase() }
  } catch {
    // A length goes beyond the end.
    return "none"
  }
}
