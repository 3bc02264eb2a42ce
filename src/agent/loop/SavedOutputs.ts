/**
 * Saves outputs that a conversation has no room for in a file that commands can read.
 *
 * The shell itself writes the file: it prints the outputs, encoded on its way, and the session keeps what is printed and
 * can't be shown whole. So the file lies where the sandbox lets commands read it, is bounded, and goes with the session.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as CommandListener from "../../domain/CommandListener.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { Toolset } from "../../toolset/Toolset.js"

/**
 * An output to save, and the command that it is of.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unsaved {
  readonly id: string
  readonly command: string
  readonly text: string
}

/** The most characters of outputs in one file. */
const mostInFile = 400_000

/** The first line is longer than a line that is shown, so that the session keeps a file. */
const firstLine = `Outputs of earlier commands, each after its command:${" ".repeat(2100)}.`

/**
 * Saves outputs, and returns by their ids the words that tell where each can be read. An output that could not be saved
 * has none.
 *
 * @param status the exit code of the last command, which `$?` is to be afterwards
 * @param nextId makes the id of a call
 * @since 0.1.0
 */
export const save = (
  toolset: Context.Tag.Service<Toolset>,
  outputs: ReadonlyArray<Unsaved>,
  status: number,
  nextId: () => string
): Effect.Effect<ReadonlyMap<string, string>> =>
  Effect.gen(function* () {
    const places = new Map<string, string>()
    if (!toolset.tools.some(({ name }) => name === "Bash")) return places
    for (const batch of batches(outputs)) {
      const { ranges, text } = fileOf(batch)
      const { extras } = yield* toolset.handle({
        id: nextId(),
        name: "Bash",
        arguments: JSON.stringify({
          command: commandOf(text, status),
          description: "Saves outputs of earlier commands."
        })
      })
      if (extras.stdoutFile === undefined) continue
      for (const [id, [first, last]] of ranges) {
        places.set(id, `lines ${first} to ${last} of ${extras.stdoutFile} hold it`)
      }
    }
    return places
  }).pipe(Effect.locally(CommandListener.current, {}))

const batches = (outputs: ReadonlyArray<Unsaved>): ReadonlyArray<ReadonlyArray<Unsaved>> => {
  const all: Array<Array<Unsaved>> = []
  let length = mostInFile
  for (const output of outputs) {
    if (length + output.text.length > mostInFile) {
      all.push([])
      length = 0
    }
    all.at(-1)?.push(output)
    length += output.text.length
  }
  return all
}

const fileOf = (outputs: ReadonlyArray<Unsaved>) => {
  const ranges = new Map<string, readonly [number, number]>()
  const parts = [firstLine]
  let line = 1
  for (const { command, id, text } of outputs) {
    const lines = text.replace(/\n$/, "").replaceAll("\0", "\u2400").split("\n")
    parts.push(`$ ${ForeignText.line(command, 300)}`, ...lines)
    ranges.set(id, [line + 2, line + 1 + lines.length])
    line += 1 + lines.length
  }
  return { ranges, text: `${parts.join("\n")}\n` }
}

/** Encoded, the text names no path and no command that anything on the way could take for the command's own. */
const commandOf = (text: string, status: number): string => {
  const lines =
    Buffer.from(text)
      .toString("base64")
      .match(/.{1,1000}/g) ?? []
  return `base64 -d <<'END'\n${lines.join("\n")}\nEND\n(exit ${status})`
}
