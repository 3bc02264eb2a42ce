/** Undoes the changes of the agent's last turn in a directory, and tells its model. */
import * as Prompt from "@effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as Snapshots from "./Snapshots.js"
import * as OpenSession from "./transcript/OpenSession.js"
import * as Sessions from "./transcript/Sessions.js"

const words: Readonly<Record<Snapshots.Outcome["state"], string>> = {
  restored: "restored",
  removed: "removed",
  "changed since": "left, for it was changed since",
  failed: "left, for it can't be written"
}

const notCovered = ({ large = 0, unread = [] }: Snapshots.Turn): string =>
  [
    "Not covered: ignored and hidden files, repositories within, commits",
    ...(large === 0 ? [] : [`${large} file${large === 1 ? "" : "s"} of more than 10 MiB`]),
    ...(unread.length === 0
      ? []
      : [`what can't be read: ${unread.map((name) => UntrustedText.word(name, 300)).join(", ")}`])
  ].join(", ")

/** Adds a message to a session, which tells its model that the changes were undone. */
const note = (directory: string, session: string, lines: ReadonlyArray<string>) => {
  const more = lines.length > 50 ? [`… ${lines.length - 50} more`] : []
  const text = ["(The user took back what your last turn changed.", ...lines.slice(0, 50), ...more, ")"].join("\n")
  const message = Prompt.userMessage({ content: [Prompt.textPart({ text })] })
  return OpenSession.resume(directory, session, ({ writer }) =>
    Either.isLeft(writer) ? Effect.void : Effect.ignore(writer.right.append({ type: "message", message }))
  ).pipe(Effect.ignore)
}

/** Undoes the last turn in a directory, and reports each file and what is not covered. */
export const run = (place: Snapshots.Place) =>
  Effect.gen(function* () {
    const { turn, undo } = yield* Snapshots.last(place, true)
    const outcomes = yield* undo
    const lines = outcomes.map(({ path, state }) => `${words[state]}: ${UntrustedText.word(path, 300)}`)
    yield* note(Sessions.directoryIn(place.home), turn.session, lines)
    return {
      lines,
      limits: `${notCovered(turn)}.`,
      isWhole: outcomes.every(({ state }) => state === "restored" || state === "removed")
    }
  })

/** Returns what would be undone, as a diff. */
export const diff = (place: Snapshots.Place) => Effect.flatMap(Snapshots.last(place), ({ diff }) => diff)
