/** A tree to walk, with an index of it and a count of the directories that were read for it. */
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type { DirectoryIndex } from "../../../src/sandbox/platform/linux/plan/internal/DirectoryIndex.js"
import * as FileWalk from "../../../src/sandbox/platform/linux/plan/internal/FileWalk.js"
import * as PathRule from "../../../src/sandbox/policy/PathRule.js"
import { rule } from "./Sandboxed.js"

export const rules = [rule("/**/.env"), rule("/**/*.pem")]

/** A clock by which all that was made just now has rested long enough. */
export const later = (): number => Date.now() + 60_000

/** A directory with these files, and directories for names that end with a slash, which goes with the scope. */
export const tree = (files: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "walk-test-")))
      for (const file of files) {
        const path = Path.join(root, file)
        Fs.mkdirSync(file.endsWith("/") ? path : Path.dirname(path), { recursive: true })
        if (!file.endsWith("/")) Fs.writeFileSync(path, "")
      }
      return root
    }),
    (root) =>
      Effect.sync(() => {
        // A test may have taken away the right to list a directory.
        execFileSync("chmod", ["-R", "u+rwX", root])
        Fs.rmSync(root, { recursive: true, force: true })
      })
  )

/** What the rules name in a tree: paths and kinds, and which directories had to be read for it. */
export const walk = async (root: string, index?: DirectoryIndex) => {
  const matcher = PathRule.make(rules)
  const read = new Set<string>()
  const found = await FileWalk.find([root], {
    findEntry: (directory, name) => {
      read.add(directory)
      return matcher.findEntry(directory, name)
    },
    indexOf: () => index
  })
  const named = found.map(({ kind, path }) => `${Path.relative(root, path)} ${kind}`).sort()
  return { named, read: Array.from(read, (path) => Path.relative(root, path)).sort() }
}
