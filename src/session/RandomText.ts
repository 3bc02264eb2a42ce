/** Makes texts that nobody can guess. node's `crypto` makes them too, but loading it takes a tenth of node's own start. */
import * as Fs from "node:fs"

/** Random bytes for many texts, drawn at once. */
const drawn = { bytes: Buffer.allocUnsafeSlow(1024), left: 0 }

const take = (count: number): Buffer => {
  if (drawn.left < count) {
    const fd = Fs.openSync("/dev/urandom", "r")
    try {
      drawn.left = Fs.readSync(fd, drawn.bytes)
    } finally {
      Fs.closeSync(fd)
    }
    if (drawn.left < count) throw new Error("/dev/urandom gives no random bytes")
  }
  drawn.left -= count
  return drawn.bytes.subarray(drawn.left, drawn.left + count)
}

/** Makes a text of random bytes, such as 8 bytes as 16 hexadecimal digits or 11 characters of base64. */
export const make = (count: number, encoding: "hex" | "base64url" = "hex"): string => take(count).toString(encoding)
