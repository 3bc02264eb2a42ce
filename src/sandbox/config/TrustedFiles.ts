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

/** The most bytes of that file. */
export const largest = 16 * 1024 ** 2

/** The most names of a path, and of the links in it, that are followed. */
const mostNames = 10_000

const readText = (file: string): string => {
  const refuse = (stats: Fs.Stats) => (stats.isFile() && stats.size <= largest ? undefined : "")
  return Either.match(RegularFile.read(file, { mayBeLink: true, most: largest }, refuse), {
    onLeft: () => "",
    onRight: ({ bytes }) => bytes.toString()
  })
}

/** Reads the paths that are listed; none where the file is missing or broken, for then nothing is trusted. */
export const read = (home: string): ReadonlyArray<string> =>
  Attempt.orElse(() => {
    const content: unknown = JSON.parse(readText(fileIn(home)))
    const trusted =
      typeof content === "object" && content !== null && "trusted" in content ? content.trusted : undefined
    return typeof trusted === "object" && trusted !== null ? Object.keys(trusted).filter(Path.isAbsolute) : []
  }, [])

const isFile = (path: string): boolean => Attempt.orElse(() => Fs.statSync(path).isFile(), false)

/**
 * Returns the paths that have to be read-only for a file to stay as it is: its own, and the directories of the symbolic
 * links on the way to it. None where there is no file.
 */
export const placesOf = (path: string): ReadonlyArray<string> => {
  if (!isFile(path)) return []
  const { links, real } = RealPath.follow(path, mostNames)
  return [real, ...links.map((link) => Path.dirname(link))]
}
