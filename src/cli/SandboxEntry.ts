/** Turns a typed path into an entry of the sandbox's lists, and explains what would have no effect. */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../domain/Attempt.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as HostEntry from "../sandbox/policy/HostEntry.js"
import * as PathEntry from "../sandbox/policy/PathEntry.js"
import * as PathGlob from "../sandbox/policy/PathGlob.js"
import * as PathRule from "../sandbox/policy/PathRule.js"

const isThere = (text: string): boolean =>
  Attempt.orUndefined(() => Fs.lstatSync(text, { throwIfNoEntry: false })) !== undefined

/** Returns why allowing writes has no effect on the file at a path, if so. */
const indifferent = (path: string): string | undefined => {
  const at = Attempt.orUndefined(() => Fs.statSync(path, { throwIfNoEntry: false }))
  if (at?.isSocket() === true) return "it is a socket, which commands use with --allow-socket alone"
  return at?.isBlockDevice() === true || at?.isCharacterDevice() === true
    ? "no sandbox has devices but its own"
    : undefined
}

const ofHome = /^~(?=\/|$)/
const variable = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g

type Known = Pick<PathEntry.Expansion, "userHome" | "variables">

/**
 * Expands `~` and variables in a path, as in an entry of a list. A file that exists under the unexpanded name takes
 * precedence.
 */
export const expand = (text: string, { userHome, variables }: Known): string => {
  const path = text.replace(ofHome, () => userHome)
  return isThere(path)
    ? path
    : path.replace(variable, (written, plain?: string, braced?: string) => variables[plain ?? braced ?? ""] || written)
}

/** Finds an unset variable in an entry. It stays unexpanded. */
export const unset = (entry: string, { variables }: Pick<Known, "variables">): string | undefined => {
  for (const [written, plain, braced] of entry.replace(/\\./gsu, "").matchAll(variable)) {
    if ((variables[plain ?? braced ?? ""] ?? "") === "") return written
  }
  return undefined
}

/**
 * Makes an entry that means the same in every directory. The name of an existing file becomes a path without wildcards,
 * and a relative path starts at the current directory.
 */
export const toEntry = (text: string): string => {
  const alternatives = PathGlob.expandBraces(text, 2)?.length ?? 2
  // `~` always means the home directory, since any command can create a file of that name.
  const means =
    ofHome.test(text) ||
    (!isThere(text) && (/^[~!]|\$[A-Za-z_{]/.test(text) || PathGlob.hasWildcard(text) || alternatives > 1))
  if (!means) return text.trim() === "" ? text : PathGlob.escape(Path.resolve(text))
  const isRelative = text.includes("/") && !/^(?:[/~$!{]|\*\*\/)/.test(text)
  return isRelative ? `${PathGlob.escape(process.cwd())}/${text}` : text
}

/** Returns the host of an address, with the port if it names one. */
export const hostIn = (text: string): string | undefined =>
  /^[a-z][a-z\d+.-]*:\/\/(?:[^/@]*@)?([^/?#]+)/i.exec(text)?.[1]

/**
 * Returns why a text is not a path that can be allowed. A name that looks like a pattern or a variable is allowed if
 * the file exists.
 *
 * @param text the typed text, with `~` expanded
 */
export const notAPath = (text: string): string | undefined => {
  if (text.trim() === "") return "it is empty: name a directory or a file"
  if (isThere(text)) return indifferent(text)
  const host = hostIn(text)
  if (host !== undefined)
    return `it is an address. To allow its host: synapse sandbox allow ${HostEntry.toArgument(UntrustedText.word(host))}`
  if (/^~/.test(text)) return "`~name` is not expanded: write the path out"
  if (/\$[A-Za-z_{]/.test(text))
    return "the shell has not expanded its variable: use double quotes, or write the path out"
  return PathGlob.hasWildcard(text) ? "the whitelist has no wildcards: name the directory" : undefined
}

/** The files that every command needs: the shell, and its loader. */
export const needed: ReadonlyArray<string> = [
  ...["/bin/bash", "/usr/bin/bash"],
  ...["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
].filter(isThere)

/**
 * Tests whether an entry of the blacklist denies a directory or one around it, in which case no sandbox could start
 * there.
 */
export const covers = (entry: string, directory: string, expansion: PathEntry.Expansion): boolean =>
  Either.match(PathEntry.parse(entry, expansion, "blacklist"), {
    onLeft: () => false,
    onRight: (meanings) =>
      PathRule.make(meanings.map((meaning) => ({ ...meaning, pattern: entry, source: "file" as const }))).find(
        directory
      ) !== undefined
  })
