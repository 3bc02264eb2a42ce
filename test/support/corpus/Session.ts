/** Runs a kind's calls in a session of its own, one after the other. */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Synapse from "../../../src/Synapse.js"
import type { ToolReturn } from "../../../src/toolset/ToolReturn.js"
import { Toolset } from "../../../src/toolset/Toolset.js"
import * as Directory from "../sandbox/Directory.js"
import * as Entry from "./Entry.js"
import * as Ground from "./Ground.js"

/** An entry and its answer. */
export interface Answered {
  readonly entry: Entry.Entry
  readonly answer: ToolReturn
  /** Replaces in a text what differs from machine to machine. */
  readonly plain: (text: string) => string
}

const plainOf =
  ({ root, tmp, user, work }: Ground.Ground) =>
  (text: string): string =>
    text
      .replace(/\/\S*\/(?:synapse-\d+|\.synapse\/run)\/[^/\s]+/g, "<session>")
      .replaceAll(work, "<cwd>")
      .replaceAll(user, "<home>")
      .replaceAll(tmp, "<tmp>")
      .replaceAll(root, "<root>")
      .replace(/(\/tool-cache\/)[0-9a-f]{16}/g, "$1<hash>")
      .replace(/(no longer know them: )\d+/g, "$1<pid>")
      .replace(/\b[0-9a-f]{7} Begin$/gm, "<hash> Begin")
      .replace(/(.)\1{99,}/g, (run: string, character: string) => `<${character} × ${run.length}>`)
      // Where a long line is cut depends on how long the name of the file with all of it is.
      .replace(/ × \d+>\[… \d+ characters/g, " × about 1900>[… about 1100 characters")

const cancelled = (toolset: typeof Toolset.Service, path: string, id: string) =>
  Effect.gen(function* () {
    while (!Fs.existsSync(path)) yield* Effect.sleep(10)
    yield* toolset.cancel(id)
  })

const environmentOf = ({ user, work }: Ground.Ground) => ({
  ...Ground.environment,
  HOME: user,
  PATH: Ground.pathOf(work)
})

/** Runs the entries, in a sandbox or without one. */
export const run = (entries: ReadonlyArray<Entry.Entry>, enabled: boolean): Effect.Effect<ReadonlyArray<Answered>> =>
  Effect.gen(function* () {
    const ground = Ground.prepare(yield* Directory.make)
    const settings = { cwd: ground.work, outputLimit: 3000, environment: environmentOf(ground) }
    const sandbox = { home: `${ground.root}/home`, userHome: ground.user, temporary: ground.tmp, enabled }
    return yield* Effect.provide(
      Effect.flatMap(Toolset, (toolset) =>
        Effect.forEach(entries, (entry, at) =>
          Effect.gen(function* () {
            const id = `${at}`
            const name = entry.tool ?? "Bash"
            const fiber = yield* Effect.fork(toolset.handle({ id, name, arguments: Entry.argumentsOf(entry) }))
            const { cancelOnceThere } = entry
            if (cancelOnceThere !== undefined) yield* cancelled(toolset, `${ground.work}/${cancelOnceThere}`, id)
            return { entry, answer: yield* Fiber.join(fiber), plain: plainOf(ground) }
          })
        )
      ),
      Synapse.layer(settings, { sandbox })
    )
  }).pipe(Effect.scoped, Effect.orDie)
