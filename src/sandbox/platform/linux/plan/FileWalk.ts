/**
 * One walk over directories for all globs together: hidden, ignored and installed files included, symbolic links to
 * directories not followed.
 *
 * Reading synchronously takes half the time of reading asynchronously; the walk lets others have their turn in between.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import { setImmediate as turn } from "node:timers/promises"
import type { RuleMatcher } from "../../../policy/PathRule.js"
import type { Rule } from "../../../policy/SandboxPolicy.js"

/**
 * An entry that a glob names. Everything that is no directory and no link is a file here: FIFOs and sockets are masked
 * like one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Match {
  readonly path: string
  readonly kind: "file" | "directory" | "link"
  readonly rule: Rule
}

/** Milliseconds without a turn for others. */
const slice = 12

/**
 * Calls `visit` for every entry below the roots; it says whether to go into a directory. What can't be read is passed over:
 * neither can the sandbox read it, unless somebody gives it the right, and then the next walk finds it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const visitAll = async (
  roots: ReadonlyArray<string>,
  visit: (directory: string, entry: Fs.Dirent) => boolean
): Promise<void> => {
  const left = [...roots]
  let until = performance.now() + slice
  for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
    let entries: Array<Fs.Dirent>
    try {
      entries = Fs.readdirSync(directory, { withFileTypes: true })
    } catch {
      continue
    }
    for (const entry of entries) {
      if (visit(directory, entry) && entry.isDirectory()) left.push(join(directory, entry.name))
    }
    if (performance.now() > until) {
      await turn()
      until = performance.now() + slice
    }
  }
}

const join = (directory: string, name: string): string => `${directory === "/" ? "" : directory}/${name}`

const kindOf = (entry: Fs.Dirent): Match["kind"] =>
  entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "file"

/**
 * All that the globs name below the roots, and no deeper where they name a directory. Roots must not lie in each other;
 * `skip` names directories not to enter.
 *
 * @since 0.1.0
 */
export const find = async (
  roots: ReadonlyArray<string>,
  matcher: Pick<RuleMatcher, "findEntry">,
  skip: ReadonlySet<string> = new Set()
): Promise<Array<Match>> => {
  const matches: Array<Match> = []
  await visitAll(roots, (directory, entry) => {
    const rule = matcher.findEntry(directory, entry.name)
    if (rule === undefined) return skip.size === 0 || !skip.has(join(directory, entry.name))
    matches.push({ path: join(directory, entry.name), kind: kindOf(entry), rule })
    return false
  })
  return matches
}
