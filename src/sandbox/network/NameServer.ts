/**
 * Reads DNS queries and writes the answers.
 */

/** A query for a name, which is in lower case and consists of letters, digits, `-` and `_`. */
export interface Question {
  readonly name: string
  readonly type: number
  /** The bytes of the question, which the answer repeats. */
  readonly raw: Buffer
  readonly id: number
  readonly wantsRecursion: boolean
}

/** The types of DNS records. */
export const types = { A: 1, AAAA: 28, HTTPS: 65 } as const

/** The codes of DNS answers. */
export const codes = { none: 0, malformed: 1, noSuchName: 3, refused: 5 } as const

const header = 12
const longestName = 255

/** Reads a packet. Returns undefined if it gets no answer, and a code if the answer is only that code. */
export const read = (packet: Buffer): Question | { readonly code: number } | undefined => {
  // An answer is never answered.
  if (packet.length < header || packet.readUInt16BE(2) & 0x8000) return undefined
  if (packet.readUInt16BE(2) & 0x7800 || packet.readUInt16BE(4) !== 1) return { code: codes.malformed }
  const labels: Array<string> = []
  let at = header
  for (;;) {
    const length = packet[at] ?? 0xff
    if (length === 0) break
    // The first byte of a compression pointer exceeds the limit too.
    if (length > 63 || at + length >= packet.length || at + length - header > longestName)
      return { code: codes.malformed }
    labels.push(packet.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  if (at + 5 > packet.length || packet.readUInt16BE(at + 3) !== 1) return { code: codes.malformed }
  if (labels.length === 0 || !labels.every((label) => /^[\w-]+$/.test(label))) return { code: codes.noSuchName }
  return {
    name: labels.join(".").toLowerCase(),
    type: packet.readUInt16BE(at + 1),
    raw: packet.subarray(header, at + 5),
    id: packet.readUInt16BE(0),
    wantsRecursion: (packet.readUInt16BE(2) & 0x100) !== 0
  }
}

const flagsOf = (code: number, wantsRecursion: boolean): number => 0x8080 | (wantsRecursion ? 0x100 : 0) | code

/** Writes the answer to a packet without a valid question. */
export const refuse = (packet: Buffer, code: number): Buffer => {
  const answer = Buffer.alloc(header)
  packet.copy(answer, 0, 0, 2)
  answer.writeUInt16BE(flagsOf(code, true), 2)
  return answer
}

/** Writes the answer to a query: an IPv4 address, if any, and a code. */
export const answer = ({ id, raw, wantsRecursion }: Question, code: number, address?: string): Buffer => {
  const head = Buffer.alloc(header)
  head.writeUInt16BE(id, 0)
  head.writeUInt16BE(flagsOf(code, wantsRecursion), 2)
  head.writeUInt16BE(1, 4)
  if (address === undefined) return Buffer.concat([head, raw])
  head.writeUInt16BE(1, 6)
  // The name of the question, type A, class IN, time to live 0, four bytes.
  const record = [0xc0, header, 0, types.A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]
  return Buffer.concat([head, raw, Buffer.from(record)])
}
