/** Reads a command from a person: editing, history, completion, several lines, pasted text. */

import { stripVTControlCharacters } from "node:util"
import * as Effect from "effect/Effect"
import { History } from "./History.js"
import { Entered } from "./internal/Entered.js"
import { LineEditing } from "./internal/LineEditing.js"
import { Keyboard } from "./Keyboard.js"
import { Terminal } from "./Terminal.js"

const [interrupt, end, newline] = [3, 4, 10]

/** Reads one or more lines after a plain prompt. */
const read = (
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

/** Completions, each of which replaces the text from `start` to the cursor. */
export interface Completions {
  readonly start: number
  readonly words: ReadonlyArray<{ readonly text: string; readonly shown: string }>
}

/** The options of a line editor. */
export interface Options {
  /** Finds completions at a cursor position in UTF-16 units. */
  readonly complete: (text: string, place: number) => Effect.Effect<Completions>
  /** Tests whether the text needs another line: an open quote, a here-document, a trailing `\`. */
  readonly isOpen: (text: string) => boolean
}

/** Reads what a person enters. */
export interface LineEditor {
  /** Shows the prompt, which may hold styles, and reads a complete text. Adds it to the history. */
  readonly read: (prompt: string) => Effect.Effect<Entered>
}

/** Makes a line editor. Without a live terminal it writes a plain prompt and reads lines. */
export const make = (options: Options): Effect.Effect<LineEditor, never, Terminal | Keyboard | History> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal
    const keyboard = yield* Keyboard
    const history = yield* History
    const editing = new LineEditing({ terminal, keyboard, history, options })
    const enter = (prompt: string) =>
      terminal.isLive ? editing.read(prompt) : read(terminal, keyboard, options.isOpen, prompt)
    return {
      read: Effect.fn("LineEditor.read")(function* (prompt: string) {
        const entered = yield* Effect.zipRight(tellProblem(terminal, history), enter(prompt))
        if (entered._tag === "Text") yield* history.add(entered.text)
        return entered
      })
    }
  })

const tellProblem = (terminal: Terminal["Type"], history: History["Type"]): Effect.Effect<void> =>
  Effect.flatMap(history.takeProblem, (problem) =>
    problem === undefined ? Effect.void : Effect.promise(async () => terminal.write(`${problem}\r\n`))
  )
