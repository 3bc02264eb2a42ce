/**
 * Follows which modes of a terminal a program has changed, so that they can be changed back when it has ended.
 *
 * @since 0.1.0
 */

/** The private modes that are on in a terminal which nobody has touched: wrapping, and the visible cursor. */
const usual = new Set(["7", "25"])

/** Matches the sequences by which programs change modes. */
const sequences =
  /\x1b(?:\[\?([0-9;]+)([hl])|\[>([0-9;]*)([um])|\[([0-9;]*) q|\[([0-9;]*)r|([=>])|\(([^B])|([c78])|\[!p)/g

/** The most of a sequence that is kept until the next chunk. */
const longest = 64

/**
 * The modes that a program has left changed.
 *
 * @since 0.1.0
 * @category models
 */
export class TerminalModes {
  private readonly changed = new Map<string, boolean>()
  private keyboards = 0
  private readonly others = new Set<string>()
  private rest = ""

  /** Follows a chunk of what the program writes. */
  take(chunk: Uint8Array): void {
    const text = this.rest + Buffer.from(chunk).toString("latin1")
    let end = 0
    for (const match of text.matchAll(sequences)) {
      end = match.index + match[0].length
      this.follow(match)
    }
    const start = Math.max(text.lastIndexOf("\x1b"), end)
    this.rest = text.indexOf("\x1b", end) >= 0 && text.length - start < longest ? text.slice(start) : ""
  }

  private follow([, modes, set, kept, kind, cursor, region, keypad, charset]: RegExpMatchArray): void {
    for (const mode of modes?.split(";") ?? []) {
      const isOn = set === "h"
      if (isOn === usual.has(mode)) this.changed.delete(mode)
      else this.changed.set(mode, isOn)
    }
    if (kind === "u") this.keyboards++
    // xterm's own keys (modifyOtherKeys); an empty or single number is its reset.
    else if (kind === "m" && kept?.includes(";") === true) this.others.add("\x1b[>4m")
    if (cursor !== undefined) this.others.add("\x1b[0 q")
    if (region !== undefined) this.others.add("\x1b7\x1b[r\x1b8")
    if (keypad === "=") this.others.add("\x1b>")
    if (charset !== undefined) this.others.add("\x1b(B")
  }

  /** Returns the sequences that put the terminal back. They harm nothing where it is as it should be. */
  reset(): string {
    const modes = [...this.changed].map(([mode, isOn]) => `\x1b[?${mode}${isOn ? "l" : "h"}`)
    const keyboards = this.keyboards > 0 ? `\x1b[<${this.keyboards}u` : ""
    // The first ends a string that was left open; the last ones are colours and the usual letters.
    return `\x1b\\${keyboards}${[...this.others].join("")}${modes.join("")}\x1b[m\x0f`
  }
}
