/**
 * The commands that were entered before.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HistoryFile from "./HistoryFile.js"

/**
 * Keeps the commands that a person enters. What can't be kept in the file is still there until the end.
 *
 * @since 0.1.0
 * @category tags
 */
export class History extends Context.Tag("synapse/History")<
  History,
  {
    /** Returns the commands, the oldest first. */
    readonly entries: () => ReadonlyArray<string>
    /** Adds a command; not one that begins with a space, or that is the same as the last one. */
    readonly add: (text: string) => Effect.Effect<void>
    /** Takes the reason why the file is not used, where there is one: it is told once. */
    readonly takeProblem: Effect.Effect<string | undefined>
  }
>() {}

const make = (kept: ReadonlyArray<string>, append: (text: string) => string | undefined, flaw?: string) => {
  const entries = [...kept]
  let problem = flaw
  let isTold = flaw !== undefined
  return {
    entries: () => entries,
    add: (text: string) =>
      Effect.sync(() => {
        if (text.trim() === "" || text.startsWith(" ") || entries.at(-1) === text) return
        entries.push(text)
        if (entries.length > 2 * HistoryFile.mostEntries) entries.splice(0, entries.length - HistoryFile.mostEntries)
        const failed = append(text)
        if (failed !== undefined && !isTold) {
          isTold = true
          problem = failed
        }
      }),
    takeProblem: Effect.sync(() => {
      const told = problem
      problem = undefined
      return told
    })
  }
}

/**
 * A history that ends with the program.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<History> = Layer.sync(History, () => make([], () => undefined))

/**
 * A history in a file, which several shells may share. A file that can't be read or written is told of, and no shell
 * fails for it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (path: string): Layer.Layer<History> =>
  Layer.sync(History, () => {
    const { entries, flaw } = HistoryFile.open(path)
    return make(entries, (text) => (flaw === undefined ? HistoryFile.append(path, text) : undefined), flaw)
  })
