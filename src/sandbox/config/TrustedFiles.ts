/**
 * The files that the user trusts as programs of MCP servers. They run outside of the sandbox, so sandboxed commands may
 * not change them, wherever they lie.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../../domain/Attempt.js"
import * as RegularFile from "../../files/RegularFile.js"
import * as RealPath from "../policy/RealPath.js"

/** Returns the path of the file that lists them. */
export const fileIn = (home: string): string => Path.join(home, "mcp", "trust.json")

/** The largest list that is read, in bytes. */
export const largest = 16 * 1024 ** 2

/** How many names of a path and of its links are followed. */
const mostNames = 10_000

const readText = (file: string): string => {
  const refuse = (stats: Fs.Stats) => (stats.isFile() && stats.size <= largest ? undefined : "")
  return Either.match(RegularFile.read(file, { mayBeLink: true, most: largest }, refuse), {
    onLeft: () => "",
    onRight: ({ bytes }) => bytes.toString()
  })
}

/** Reads the listed paths; none if the list is missing or broken, because then nothing is trusted. */
export const read = (home: string): ReadonlyArray<string> =>
  Attempt.orElse(() => {
    const content: unknown = JSON.parse(readText(fileIn(home)))
    const trusted =
      typeof content === "object" && content !== null && "trusted" in content ? content.trusted : undefined
    return typeof trusted === "object" && trusted !== null ? Object.keys(trusted).filter(Path.isAbsolute) : []
  }, [])

const isFile = (path: string): boolean => Attempt.orElse(() => Fs.statSync(path).isFile(), false)

/**
 * Returns the paths that must be read-only to keep a file unchanged: its own, and the directories of symbolic links on
 * the way. None if the file does not exist.
 */
export const placesOf = (path: string): ReadonlyArray<string> => {
  if (!isFile(path)) return []
  const { links, real } = RealPath.follow(path, mostNames)
  return [real, ...links.map((link) => Path.dirname(link))]
}
