/**
 * Reads a command from a person: editing, history, completion, several lines, pasted text.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Entered } from "./Entered.js"
import { History } from "./History.js"
import { Keyboard } from "./Keyboard.js"
import { LineEditing } from "./LineEditing.js"
import * as PlainLines from "./PlainLines.js"
import { Terminal } from "./Terminal.js"

/**
 * The completions of a text at a place: each replaces the characters from `start` to the place.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completions {
  readonly start: number
  readonly words: ReadonlyArray<{ readonly text: string; readonly shown: string }>
}

/**
 * The options of a line editor.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Finds completions; the place is counted in UTF-16 units. */
  readonly complete: (text: string, place: number) => Effect.Effect<Completions>
  /** Tests whether the text goes on with the next line: an open quote, a here-document, `\` at the end. */
  readonly isOpen: (text: string) => boolean
}

/**
 * Reads what a person enters.
 *
 * @since 0.1.0
 * @category models
 */
export interface LineEditor {
  /** Shows the prompt, which may hold styles, and reads until the text is whole. Texts go to the history. */
  readonly read: (prompt: string) => Effect.Effect<Entered>
}

/**
 * Makes a line editor. Where the terminal is not live, it writes a plain prompt, and reads lines as they come.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<LineEditor, never, Terminal | Keyboard | History> =>
  Effect.gen(function* () {
    const terminal = yield* Terminal
    const keyboard = yield* Keyboard
    const history = yield* History
    const editing = new LineEditing({ terminal, keyboard, history, options })
    const enter = (prompt: string) =>
      terminal.isLive ? editing.read(prompt) : PlainLines.read(terminal, keyboard, options.isOpen, prompt)
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
