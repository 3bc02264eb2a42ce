/**
 * Reads lines where nothing can be drawn anew: the terminal, if there is one, edits them itself.
 *
 * @since 0.1.0
 */
import { stripVTControlCharacters } from "node:util"
import * as Effect from "effect/Effect"
import { Entered } from "./Entered.js"
import type { Keyboard } from "./Keyboard.js"
import type { Terminal } from "./Terminal.js"

const [interrupt, end, newline] = [3, 4, 10]

/**
 * Reads a text of one or more lines, behind a prompt without styles.
 *
 * @since 0.1.0
 */
export const read = (
  terminal: Terminal["Type"],
  keyboard: Keyboard["Type"],
  isOpen: (text: string) => boolean,
  prompt: string
): Effect.Effect<Entered> => {
  const write = (text: string) => Effect.promise(async () => terminal.write(text))
  const readLine = Effect.gen(function* () {
    let line = Buffer.alloc(0)
    for (;;) {
      const bytes = yield* keyboard.read
      if (bytes === undefined) return line.length === 0 ? Entered.Ended() : Entered.Text({ text: line.toString() })
      const at = bytes.findIndex(
        (byte) => byte === newline || byte === interrupt || (byte === end && line.length === 0)
      )
      line = Buffer.concat([line, at < 0 ? bytes : bytes.subarray(0, at)])
      if (at < 0) continue
      if (at + 1 < bytes.length) yield* keyboard.unread(bytes.subarray(at + 1))
      if (bytes[at] === interrupt) return Entered.Interrupted()
      if (bytes[at] === end) return Entered.Ended()
      return Entered.Text({ text: line.toString().replace(/\r$/, "") })
    }
  })
  return keyboard.attended(
    Effect.gen(function* () {
      let text: string | undefined
      for (;;) {
        yield* write(text === undefined ? stripVTControlCharacters(prompt) : "> ")
        const entered = yield* readLine
        if (entered._tag === "Interrupted") yield* write("\n")
        if (entered._tag !== "Text")
          return text === undefined || entered._tag === "Interrupted" ? entered : Entered.Text({ text })
        text = text === undefined ? entered.text : `${text}\n${entered.text}`
        if (!isOpen(text)) return Entered.Text({ text })
      }
    })
  )
}
