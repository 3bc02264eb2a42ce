/**
 * The editing of a line on a live terminal.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CompletionList from "./CompletionList.js"
import { atEnd, insert } from "./EditedText.js"
import * as EditorLayout from "./EditorLayout.js"
import { EditorScreen } from "./EditorScreen.js"
import { EditorState, type Request } from "./EditorState.js"
import { Entered } from "./Entered.js"
import type { History } from "./History.js"
import type { Keyboard } from "./Keyboard.js"
import { KeyQueue } from "./KeyQueue.js"
import type { Completions, Options } from "./LineEditor.js"
import type { Terminal } from "./Terminal.js"

/** Between these, terminals tell of pasted text by marks around it. */
const pasteOn = "\x1b[?2004h"
const pasteOff = "\x1b[?2004l"
const nextPrompt = "> "

/**
 * The services and options of a line editor.
 *
 * @since 0.1.0
 * @category models
 */
export interface Parts {
  readonly terminal: Terminal["Type"]
  readonly keyboard: Keyboard["Type"]
  readonly history: History["Type"]
  readonly options: Options
}

/**
 * Reads one text after the other from the keys, and shows it meanwhile.
 *
 * @since 0.1.0
 * @category models
 */
export class LineEditing {
  private readonly state: EditorState
  private readonly keys: KeyQueue
  private readonly screen: EditorScreen
  private prompt = ""
  /** True where the last key was Tab, and changed nothing: the next one shows the list. */
  private hasAsked = false

  constructor(private readonly parts: Parts) {
    this.state = new EditorState(parts.history.entries)
    this.keys = new KeyQueue(parts.keyboard)
    this.screen = new EditorScreen(parts.terminal, (size) =>
      EditorLayout.layout(
        { prompt: this.state.search?.prompt ?? this.prompt, next: nextPrompt, edited: this.state.edited },
        size
      )
    )
  }

  /** Reads a text behind a prompt. Whatever ends it, the cursor is at the beginning of a line then. */
  read(prompt: string): Effect.Effect<Entered> {
    const { keyboard, terminal } = this.parts
    const { screen } = this
    let isDone = false
    const end = (text: string) => {
      isDone = true
      this.finish(text)
    }
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        this.state.clear()
        this.hasAsked = false
        // Of several lines, only the last is drawn again.
        const last = prompt.lastIndexOf("\n") + 1
        this.prompt = prompt.slice(last)
        screen.write(pasteOn + prompt.slice(0, last).replaceAll("\n", "\r\n"))
        screen.draw()
        return terminal.onResize(() => screen.draw())
      }),
      () => keyboard.attended(this.untilEntered(end)),
      (unlisten) =>
        Effect.suspend(() => {
          unlisten()
          if (!isDone) this.finish("")
          return Effect.zipRight(this.keys.leave, screen.settled)
        })
    )
  }

  private finish(text: string): void {
    this.state.search = undefined
    this.screen.end(pasteOff, text)
  }

  private untilEntered(end: (text: string) => void): Effect.Effect<Entered> {
    return Effect.gen(this, function* () {
      for (;;) {
        const key = this.keys.take()
        if (key === undefined) {
          this.screen.draw()
          yield* this.screen.settled
          if (yield* this.keys.more) continue
          end("")
          return Entered.Ended()
        }
        const { hasAsked } = this
        this.hasAsked = false
        const request = this.state.press(key)
        if (request === "complete") yield* this.complete(hasAsked)
        const entered = this.answer(request)
        if (entered === undefined) continue
        end(entered._tag === "Interrupted" ? "^C" : "")
        return entered
      }
    })
  }

  private answer(request: Request | undefined): Entered | undefined {
    if (request === "interrupt") return Entered.Interrupted()
    if (request === "end") return Entered.Ended()
    if (request === "clear") this.screen.clear()
    if (request !== "enter") return undefined
    const { text } = this.state.edited
    if (!this.parts.options.isOpen(text)) return Entered.Text({ text })
    this.state.change(insert(atEnd(text), "\n"))
    return undefined
  }

  /** Completes the word at the place as far as all completions agree; the second time, it shows them. */
  private complete(hasAsked: boolean): Effect.Effect<void> {
    const { edited } = this.state
    const search = this.parts.options.complete(edited.text, edited.place)
    return Effect.raceFirst(Effect.asSome(search), Effect.as(this.keys.interrupted, Option.none<Completions>())).pipe(
      Effect.map(Option.match({ onNone: () => {}, onSome: (found) => this.take(found, hasAsked) }))
    )
  }

  private take({ start, words }: Completions, hasAsked: boolean): void {
    const { edited } = this.state
    const written = edited.text.slice(start, edited.place)
    const common = CompletionList.commonStart(words.map(({ text }) => text))
    if (words.length === 1 || (common.length > written.length && common !== written)) {
      const text = edited.text.slice(0, start) + edited.text.slice(edited.place)
      this.state.change(insert({ text, place: start }, common))
    } else if (words.length > 0) {
      this.hasAsked = true
      if (!hasAsked) return
      const size = this.parts.terminal.size()
      this.screen.printBelow(
        CompletionList.inColumns(
          words.map(({ shown }) => shown),
          size
        )
      )
    }
  }
}
