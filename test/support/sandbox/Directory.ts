/** A directory of its own for a test, gone afterwards whatever happens in it. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Its real path. */
export const make: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "synapse-test-"))),
  (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, force: true }))
)

/** What lies in it, in order. */
export const list = (directory: string): ReadonlyArray<string> => Fs.readdirSync(directory).sort()

export const isRoot = process.getuid?.() === 0
