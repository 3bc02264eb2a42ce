/** The secrets that mark the frames in which a shell reports. */

/**
 * The secrets of one command. `begun` marks the frame that reports its begin, and may become known to it; `ended` marks
 * the last one, and stands where no trap, trace or prompt sees it before that frame is out.
 */
export interface Nonces {
  readonly begun: string
  readonly ended: string
}

/**
 * Makes a nonce, which a command can't guess and so can't forge a frame with: 64 random bits in 11 characters, since
 * bash takes a time for each. The first 48 bits of an identifier and its last 16 hold no version; node draws the bits
 * of many at once.
 */
export const make = (): string => {
  const random = crypto.randomUUID()
  return Buffer.from(`${random.slice(0, 8)}${random.slice(9, 13)}${random.slice(-4)}`, "hex").toString("base64url")
}

/** Makes the secrets of one command. */
export const makePair = (): Nonces => ({ begun: make(), ended: make() })
