/** A session of an agent, as its transcript tells it. */
import type * as Prompt from "@effect/ai/Prompt"
import * as Either from "effect/Either"
import * as RunLimits from "../loop/RunLimits.js"
import * as Entry from "./Entry.js"

/** The way in which a run ended. */
export interface End {
  /** An `Ending` of the loop, or `interrupted`. */
  readonly ending: string
  readonly reason: string | undefined
}

/** A session of an agent. */
export interface Transcript {
  readonly session: Entry.Session
  /** The conversation; where the process was killed, calls may be without results. */
  readonly messages: ReadonlyArray<Prompt.Message>
  /** The conversation as a resumed run goes on with it: the same, or what it was made to where it was made shorter. */
  readonly context: ReadonlyArray<Prompt.Message>
  /** The turns and the usage of all runs. */
  readonly turns: number
  readonly usage: RunLimits.TokenUsage
  /** The provider and the model of the last run; undefined where none has begun. */
  readonly model: { readonly provider: string; readonly name: string } | undefined
  /** How the last run ended; undefined where it goes on, or was killed. */
  readonly end: End | undefined
  /** The bytes of the whole lines; what follows them was torn by a crash. */
  readonly length: number
}

const newline = 0x0a

type State = { -readonly [Key in keyof Omit<Transcript, "messages" | "context">]: Transcript[Key] } & {
  readonly messages: Array<Prompt.Message>
  context: Array<Prompt.Message>
}

const usageOf = (usage: Extract<Entry.Entry, { readonly type: "turn" }>["usage"]): RunLimits.TokenUsage => ({
  cost: undefined,
  ...usage
})

const add = (state: State, entry: Exclude<Entry.Entry, Entry.Session>): void => {
  switch (entry.type) {
    case "run":
      state.model = { provider: entry.provider, name: entry.model }
      state.end = undefined
      return
    case "message":
      state.messages.push(entry.message)
      state.context.push(entry.message)
      return
    case "compacted":
      state.context = [...entry.messages]
      return
    case "turn":
      state.turns = entry.turns
      state.usage = usageOf(entry.usage)
      return
    case "end":
      state.end = { ending: entry.ending, reason: entry.reason }
      state.turns = entry.turns
      state.usage = usageOf(entry.usage)
  }
}

/** Makes the transcript of a session that has only begun. */
export const begin = (session: Entry.Session): Transcript => ({
  session,
  messages: [],
  context: [],
  turns: 0,
  usage: RunLimits.none,
  model: undefined,
  end: undefined,
  length: 0
})

/** Checks the first line. */
const sessionOf = (entry: Entry.Entry, id: string): Either.Either<Entry.Session, string> => {
  if (entry.type !== "session") return Either.left("it does not begin as a transcript")
  if (entry.version !== 1) return Either.left("a newer version of Synapse wrote it")
  return entry.id === id ? Either.right(entry) : Either.left("it is the transcript of another session")
}

/**
 * Reads the lines of a transcript. A last line that has no newline was torn, and is left out. On the left is the reason
 * why it can't be read.
 *
 * @param id the session's, by the name of the file
 */
export const read = (bytes: Uint8Array, id: string): Either.Either<Transcript, string> => {
  let state: State | undefined
  for (let start = 0, line = 1; ; line++) {
    const end = bytes.indexOf(newline, start)
    if (end < 0) break
    const decoded = Entry.decode(bytes.subarray(start, end))
    if (Either.isLeft(decoded)) return Either.left(`line ${line}: ${decoded.left}`)
    const entry = decoded.right
    if (state === undefined) {
      const session = sessionOf(entry, id)
      if (Either.isLeft(session)) return Either.left(session.left)
      state = { ...begin(session.right), messages: [], context: [] }
    } else if (entry.type === "session") return Either.left(`line ${line}: a session begins in it once more`)
    else add(state, entry)
    start = end + 1
    state.length = start
  }
  return state === undefined ? Either.left("it ends before its first line does") : Either.right(state)
}

/**
 * Reads what the first line and the last lines tell: the messages are not among it. `turns` may be too small where the
 * last lines are long.
 *
 * @param start the beginning of the file
 * @param end the end of the file, where `start` is not all of it; it may begin within a line
 */
export const summary = (start: Uint8Array, end: Uint8Array, id: string): Either.Either<Transcript, string> => {
  if (end.length === 0) return read(start, id)
  const first = start.indexOf(newline)
  return Either.map(read(start.subarray(0, first + 1), id), (transcript) => {
    const state: State = { ...transcript, messages: [], context: [] }
    for (const part of [start.subarray(first + 1), end.subarray(end.indexOf(newline) + 1)]) {
      for (let at = 0, next = part.indexOf(newline); next >= 0; at = next + 1, next = part.indexOf(newline, at)) {
        const decoded = Entry.decode(part.subarray(at, next))
        if (Either.isRight(decoded) && decoded.right.type !== "session") add(state, decoded.right)
      }
    }
    return { ...state, messages: [], context: [] }
  })
}
